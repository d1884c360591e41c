"""What goes wrong with a part of a model, and where it is."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["UnfitError", "within"]


class UnfitError(ValueError):
    """A part that no model file holds; prints as a sentence about the part.

    Parameters
    ----------
    what : str
        What is wrong, to go on with after the name of the part.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.where: list[str] = []
        self.is_final = False
        """Whether there is no other way to write what cannot be written so."""

    def __str__(self) -> str:
        return f"{'.'.join(reversed(self.where)) or 'the model'} {self.what}"


@contextmanager
def within(name: str) -> Iterator[None]:
    """Say of everything that goes wrong inside that it is in a part of that name."""
    try:
        yield
    except UnfitError as error:
        error.where.append(name)
        raise
