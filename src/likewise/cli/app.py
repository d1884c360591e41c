"""The commands under one name, and how any of them ends: well, or with one plain sentence."""

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
from likewise.cli.terminal import complain, plain_warnings

__all__ = ["app"]


class _PlainGroup(TyperGroup):
    """Says in one sentence what bad input was; a bug still shows its traceback."""

    def invoke(self, ctx: Any) -> Any:
        with plain_warnings():
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # whoever read our output has seen enough
                raise
            except (ValueError, OSError, ImportError) as error:
                complain(error)
                raise typer.Exit(2) from None
            except KeyboardInterrupt:
                raise typer.Exit(130) from None


app = typer.Typer(
    cls=_PlainGroup,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _command in (demo, ask, fit, predict, prior, report, datasets):
    app.command()(_command)
app.add_typer(reproduce, name="reproduce")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"likewise {__version__}")
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
