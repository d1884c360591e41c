"""The command line ``likewise``: the library's main jobs on files.

This package reads arguments, calls the library and words the outcome; it computes nothing itself.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; the entry point of the command ``likewise``."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        sys.exit(_without_extra(error))
    from likewise.cli.app import app
    from likewise.cli.streams import checked_streams

    with checked_streams():
        app()


def _without_extra(error: ImportError) -> int:
    sys.stderr.write(
        f"likewise: the command line needs {error.name}, which is not installed: "
        "pip install 'likewise[cli]'.\n"
    )
    return 2
