"""What must hold of every case: only errors that say in plain words what to do, and no NaN."""

import linecache
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from typer.testing import CliRunner

from likewise.cli.app import app

__all__ = ["Outcome", "check_plain", "check_refusal", "command", "finite", "refusals"]

_LONGEST = 5000
"""Characters of a message: one that shows more shows a file."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


def check_plain(text: str) -> None:
    """Refuse a text that would command a terminal."""
    odd = [line for line in text.split("\n") if not line.isprintable()]
    assert not odd, f"not plain: {odd[0][:200]!r}"


def check_refusal(error: Exception) -> None:
    """Accept an error that was raised on purpose, in plain words; anything else is a finding."""
    message = str(error)
    check_plain(message)
    assert message, f"an error without words: {error!r}"
    assert len(message) < _LONGEST, f"a message of {len(message)} characters"
    if isinstance(error, OSError):
        return
    assert isinstance(error, ValueError), f"undocumented: {_where(error)}"
    assert _is_on_purpose(error), f"not raised on purpose: {_where(error)}"


def _is_on_purpose(error: Exception) -> bool:
    """Tell whether the last line that ran was a ``raise``, or one of scikit-learn's own checks."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if "sklearn" in last.filename:
        return True
    line = linecache.getline(last.filename, last.lineno or 0).strip()
    is_ours = "likewise" in last.filename
    return is_ours and line.startswith("raise") and not isinstance(error, np.linalg.LinAlgError)


def _where(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:300]} ({last.filename}:{last.lineno})"


@contextmanager
def refusals() -> Iterator[list[str]]:
    """Let refusals pass, which are listed; warnings that are no advice are findings."""
    refused: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            yield refused
        except (pa.ArrowException, np.linalg.LinAlgError) as error:
            raise AssertionError(f"undocumented: {_where(error)}") from error
        except (ValueError, OSError) as error:
            check_refusal(error)
            refused.append(str(error))


def finite(*values: Any) -> None:
    """Refuse NaN and infinities."""
    for value in values:
        array = np.asarray(value, dtype=np.float64)
        assert np.isfinite(array).all(), f"not finite: {array.ravel()[:10]}"


def command(*arguments: str) -> Outcome:
    """Run a command in this process, and check how it ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(app, list(arguments))
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        raise AssertionError(f"likewise {arguments} ended in {error!r}") from error
    assert result.exit_code in {0, 2}, f"likewise {arguments} ended with {result.exit_code}"
    check_plain(result.stderr)
    if result.exit_code == 2:
        assert result.stderr.strip(), f"likewise {arguments} was refused without a word"
        assert len(result.stderr) < 2 * _LONGEST
    return Outcome(result.exit_code, result.stdout, result.stderr)
