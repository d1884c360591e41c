"""Asking people: which pair of rows to ask about next, and the page that asks."""

from likewise.asking.asker import Asker
from likewise.asking.progress import Progress
from likewise.asking.questions import Answer, Question

__all__ = ["Answer", "Asker", "Progress", "Question"]
