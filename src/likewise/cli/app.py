"""The commands under one name, and how any of them ends: well, or with one plain sentence."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from likewise._version import __version__
from likewise.cli.ask import ask
from likewise.cli.datasets import datasets
from likewise.cli.demo import demo
from likewise.cli.fit import fit
from likewise.cli.predict import predict
from likewise.cli.prior import prior
from likewise.cli.report import report
from likewise.cli.reproduce import reproduce
from likewise.cli.streams import drop_stdout
from likewise.cli.terminal import STDOUT, complain, plain_warnings, say

__all__ = ["app"]


_USAGE_ERRORS: tuple[type[BaseException], ...] = tuple(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
"""Typer has taken click in: by its name, the class is found in every release."""


class _PlainGroup(TyperGroup):
    """Says in one sentence what bad input was; a bug still shows its traceback."""

    def make_context(self, *given: Any, **options: Any) -> Any:
        with _plain_ends():
            return super().make_context(*given, **options)

    def invoke(self, ctx: Any) -> Any:
        with plain_warnings(), _plain_ends():
            return super().invoke(ctx)


@contextmanager
def _plain_ends() -> Iterator[None]:
    """Turn what bad input and interrupts raise into a sentence and an exit code."""
    try:
        yield
    except _USAGE_ERRORS as error:
        _escape_message(error)
        raise
    except (ValueError, OSError, ImportError) as error:
        if isinstance(error, BrokenPipeError) and error.filename in {None, STDOUT}:
            drop_stdout()  # whoever read it has seen enough
            raise typer.Exit(0) from None
        complain(error)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _escape_message(error: Any) -> None:
    """Escape what an error repeats of the command line."""
    from likewise.io.wording import shown

    error.message = shown(error.message)


app = typer.Typer(
    cls=_PlainGroup,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_SHORT: dict[Callable[..., None], str] = {
    demo: "Learn from pairs on generated data, with a picture.",
    ask: "Ask people which rows are the same, on a page.",
    fit: "Learn a classifier from pairs of rows.",
    predict: "Classify rows with a saved model.",
    prior: "Estimate the class prior from pairs of rows.",
    report: "Estimate the accuracy of a classifier, without labels.",
    datasets: "List the paper's twelve datasets and where they are.",
}
"""What `likewise -h` says of each command, in one line."""
for _command, _short in _SHORT.items():
    app.command(short_help=_short)(_command)
app.add_typer(reproduce, name="reproduce", short_help="Run the paper's experiments again.")


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"likewise {__version__}")
        raise typer.Exit


@app.callback()
def _likewise(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Learn a classifier from pairs that are alike and unlabeled rows, without class labels."""
