"""How rows are called in questions and answers: by number, or by the label of a frame's index.

Knows nothing of what was said about the rows.
"""

from typing import Any

from likewise.io.answers import pair_of

__all__ = ["Pair", "RowNames"]

Pair = tuple[int, int]
"""Two row numbers, the smaller one first."""


class RowNames:
    """The names of a table's rows, and the numbers behind them.

    Parameters
    ----------
    table : table of shape (n_rows, n_features)
        The rows of a pandas frame are called by the labels of its index, others by their number.
    """

    def __init__(self, table: Any) -> None:
        self.n_rows = int(table.shape[0])
        self._labels = getattr(table, "index", None) if hasattr(table, "iloc") else None
        if self._labels is not None and not self._labels.is_unique:
            twice = self._labels[self._labels.duplicated()].tolist()[0]
            raise ValueError(
                f"The index of the table holds {twice!r} more than once, so an answer does not say "
                "which row is meant; pass a table with unique labels, or reset its index."
            )

    def name(self, row: int) -> Any:
        """Return what a row is called.

        Parameters
        ----------
        row : int
        """
        return row if self._labels is None else self._labels[row]

    def row(self, name: Any) -> int:
        """Return the number of a named row.

        Parameters
        ----------
        name : int, or label of the index
        """
        if self._labels is not None:
            found = self._labels.get_indexer([name])
            if found.size != 1 or found[0] < 0:
                raise KeyError(f"The table has no row {name!r}.")
            return int(found[0])
        row = int(name)
        if not 0 <= row < self.n_rows:
            raise KeyError(f"The table has no row {name!r}; its rows are 0 to {self.n_rows - 1}.")
        return row

    def ends(self, question: Any) -> tuple[int, int]:
        """Return the two rows of a question or an answer, left and right.

        Parameters
        ----------
        question : Question, Answer, or tuple (left, right)
        """
        names = (question[0], question[1]) if isinstance(question, tuple) else None
        left, right = names or (question.left, question.right)
        return self.row(left), self.row(right)

    def pair(self, question: Any) -> Pair:
        """Return the two rows of a question or an answer, whichever of them is left.

        Parameters
        ----------
        question : Question, Answer, or tuple (left, right)
        """
        left, right = self.ends(question)
        if left == right:
            raise ValueError(f"A row cannot be compared with itself (row {left}).")
        return pair_of(left, right)
