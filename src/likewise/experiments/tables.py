"""How means of trials are written into the cells of a table.

Words and rounding only: what is averaged and compared is decided elsewhere.
"""

from likewise.experiments.statistics import Mean
from likewise.pages.document import Cell

__all__ = ["mean_cell"]


def mean_cell(
    mean: Mean | None,
    *,
    scale: float = 100.0,
    digits: int = 1,
    bold: bool = False,
    notes: tuple[str, ...] = (),
    paper: str | None = None,
) -> Cell:
    """Write a mean as the paper does, ``67.5 (1.2)``, with a note where trials failed.

    Parameters
    ----------
    mean : Mean or None
        None leaves the cell empty.
    scale : float, default 100
        What values are multiplied by: percent by default.
    digits : int, default 1
    bold : bool, default False
    notes : tuple of str
        What else is to be said of the cell.
    paper : str, optional
        What the paper prints.

    Returns
    -------
    Cell

    Examples
    --------
    >>> from likewise.experiments.statistics import Mean
    >>> from likewise.experiments.tables import mean_cell
    >>> mean_cell(Mean(0.675, 0.012, 20, 0, None)).text
    '67.5 (1.2)'
    """
    if mean is None:
        return Cell("", paper=paper)
    failed = [f"{mean.failed} of {mean.trials + mean.failed} trials failed: {mean.reason}"]
    note = ". ".join([*(failed if mean.failed else []), *notes]) or None
    if mean.value is None:
        return Cell("failed", note=note, paper=paper)
    error = mean.standard_error
    spread = "" if error is None else f" ({scale * error:.{digits}f})"
    text = f"{scale * mean.value:.{digits}f}{spread}"
    return Cell(text, scale * mean.value, bold=bold, note=note, paper=paper)
