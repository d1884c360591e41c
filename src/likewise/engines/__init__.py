"""Where rows live: an engine holds rows and sums functions of them block by block."""

from likewise.engines.base import Block, Engine, Part
from likewise.engines.memory import MemoryEngine

__all__ = ["Block", "Engine", "MemoryEngine", "Part"]
