"""``likewise ask``: a page where people say of two rows at a time whether they are the same."""

import threading
import webbrowser
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.inputs import DroppedNames, FeatureNames, IdColumn, TablePath, chosen_columns
from likewise.cli.options import ClassesOption
from likewise.cli.terminal import Seed, note, waiting

if TYPE_CHECKING:
    from likewise.asking.questions import Answer
    from likewise.asking.records import Records
    from likewise.asking.session import Session
    from likewise.io import Features, Table

__all__ = ["ask"]

_USUAL_PORT = 8377
"""Where the page is unless said otherwise: the same each time, so that the browser knows it."""


def ask(
    table: TablePath,
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.sqlite",
            help="Where answers are saved; if not given, TABLE's name with .answers.sqlite.",
        ),
    ] = None,
    show: Annotated[
        str | None, typer.Option(help="Show these columns, as a,b,c; if not given, all.")
    ] = None,
    image: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="File names of images, in TABLE's folder.")
    ] = None,
    text: Annotated[str | None, typer.Option(metavar="COLUMN", help="Long texts.")] = None,
    title: Annotated[str | None, typer.Option(help="What the page is called.")] = None,
    classes: ClassesOption = None,
    overlap: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Share of pairs that a second person answers too."),
    ] = 0.0,
    host: Annotated[
        str, typer.Option(help="Address to serve on; others than this machine's are not safe.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to serve on; 0 for a free one.")
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    export: Annotated[
        Path | None,
        typer.Option(help="Save the answers as left, right, relation (.csv, .parquet), and end."),
    ] = None,
    id_column: IdColumn = None,
    features: FeatureNames = None,
    drop: DroppedNames = None,
    seed: Seed = 0,
) -> None:
    """Ask people which rows of TABLE are the same, on a page in the browser.

    Each question is the one worth asking. Answers are saved one by one; the page shows how
    accurate a classifier already is, and says when more answers stop helping. The file of answers
    goes into `likewise fit` as it is. Columns of --image and --text are shown, not learned from.
    """
    _check_extra()
    if not 0 <= overlap <= 1:
        raise ValueError(f"--overlap must lie between 0 and 1, as 0.1; got {overlap:g}.")
    columns = chosen_columns(id_column, features, drop)
    rows, records, chosen = _read(table, columns, _split(show), image, text)
    saved_in = answers or table.with_name(f"{table.stem}.answers.sqlite")
    settings = {"n_classes": classes or 2, "random_state": seed}
    if export is not None:
        _export(saved_in, export, rows, chosen, settings)
        return
    with closing(_listen(host, port)) as listening:
        session = _open(saved_in, rows, records, chosen, settings, overlap)
        try:
            name = title or f"{table.name}: same or different?"
            _serve(session, name, host, listening, browser)
        finally:
            n_answers = len(session)
            session.close()
    typer.echo(f"{_counted(n_answers)} saved in {saved_in}.")
    if n_answers:
        typer.echo(f"Next: {_next_command(table, saved_in, rows, chosen, classes, id_column)}")


def _check_extra() -> None:
    """Say how to install what the page is served with."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"likewise ask needs {error.name}, which is not installed: pip install 'likewise[ask]'."
        ) from error


def _counted(number: int, noun: str = "answer") -> str:
    from likewise.io.wording import counted

    return counted(number, noun)


def _split(names: str | None) -> list[str] | None:
    return chosen_columns(None, names, None)["keep"]  # type: ignore[no-any-return]


def _read(
    path: Path,
    columns: dict[str, Any],
    show: Sequence[str] | None,
    image: str | None,
    text: str | None,
) -> "tuple[Table, Records, Features]":
    """Read the table, and choose what to show of it and what to learn from."""
    from likewise.asking.records import Records
    from likewise.io import choose_features, read_table

    with waiting("Reading"):
        rows = read_table(path, id_column=columns["id_column"])
        records = Records.of(rows, show=show, image=image, text=text)
        only_shown = [name for name in (image, text) if name is not None]
        if columns["keep"] is None:
            columns["drop"] = [*columns["drop"], *only_shown]
        chosen = choose_features(rows, keep=columns["keep"], drop=columns["drop"], gaps=True)
    return rows, records, chosen


def _mark(rows: "Table") -> Any:
    from likewise.asking.store import TableMark

    return TableMark.of(rows.keys.to_pylist(), [rows.id_column, *rows.columns])


def _open(
    saved_in: Path,
    rows: "Table",
    records: "Records",
    chosen: "Features",
    settings: dict[str, Any],
    overlap: float,
) -> "Session":
    """Open the file of answers, and begin to learn from what is there."""
    from likewise.asking import Asker
    from likewise.asking.session import Session
    from likewise.asking.store import AnswerStore
    from likewise.io import feature_matrix

    matrix = feature_matrix(rows, chosen)

    def make_asker(said: "list[Answer]") -> Asker:
        return Asker(matrix, answers=said, **settings)

    store = AnswerStore(saved_in, _mark(rows))
    try:
        return Session(records, store, make_asker, overlap=overlap)
    except BaseException:
        store.close()
        raise


def _serve(session: "Session", title: str, host: str, listening: Any, browser: bool) -> None:
    """Serve the page until interrupted."""
    from likewise.asking.guard import Door
    from likewise.asking.server import make_app, make_server

    door = Door(host, listening.getsockname()[1])
    if not door.is_loopback:
        note(
            f"warning: {host} can be reached from other machines, and what is sent is not "
            "encrypted: whoever sees the address below sees the table and can answer. There, name "
            "this machine by its number, as 192.168.1.7, not by a name."
        )
    app = make_app(session, door, title=title)
    typer.echo(f"Asking at {door.address}")
    typer.echo(f"{_counted(len(session))} so far. Ctrl-C ends; every answer is saved.")
    if browser:
        threading.Thread(target=webbrowser.open, args=(door.address,), daemon=True).start()
    try:
        make_server(app).run(sockets=[listening])
    except KeyboardInterrupt:
        typer.echo()  # after the terminal's ^C


def _listen(host: str, port: int | None) -> Any:
    """Listen on a port; where none was named and the usual one is taken, on any that is free."""
    from likewise.asking.server import bound_socket

    if port is not None:
        return bound_socket(host, port)
    try:
        return bound_socket(host, _USUAL_PORT)
    except ValueError:
        return bound_socket(host, 0)


def _next_command(
    table: Path,
    saved_in: Path,
    rows: "Table",
    chosen: "Features",
    classes: int | None,
    id_column: str | None,
) -> str:
    """Say how to fit what was learned from here."""
    import shlex

    parts = ["likewise", "fit", str(table), str(saved_in), "-o", "model.skops", "--errors", "auto"]
    if classes is not None and classes != 2:
        parts += ["--classes", str(classes)]
    if id_column is not None:
        parts += ["--id", id_column]
    if len(chosen.names) < len(rows.columns):
        parts += ["--features", _joined(chosen.names)]
    if any(rows.columns[name].null_count for name in chosen.names):
        parts += ["--model", "trees"]
    return shlex.join(parts)


def _joined(names: Sequence[str]) -> str:
    """Join names as options take them: quoted as in CSV."""
    import csv
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


def _export(
    saved_in: Path,
    export: Path,
    rows: "Table",
    chosen: "Features",
    settings: dict[str, Any],
) -> None:
    """Write the answers as a file of pairs, and how people answered beside it."""
    from likewise.asking.store import AnswerStore
    from likewise.io import check_output

    check_output(export, table=True, inputs=[rows.path, saved_in])
    if not saved_in.is_file():
        raise ValueError(f"There is no file of answers {saved_in} to export; ask first.")
    with AnswerStore(saved_in, _mark(rows)) as store:
        n_pairs = store.export_csv(export)
        n_people = len({line.person for line in store.current()})
    typer.echo(f"{_counted(n_pairs, 'pair')} in {export}.")
    if n_people > 1:
        people = export.with_name(f"{export.stem}.people{export.suffix}")
        with waiting("Judging"):
            _export_people(saved_in, people, rows, chosen, settings)
        typer.echo(f"{n_people} people in {people}.")


def _export_people(
    saved_in: Path, people: Path, rows: "Table", chosen: "Features", settings: dict[str, Any]
) -> None:
    import numpy as np

    from likewise.asking.records import Records
    from likewise.io import write_table

    session = _open(saved_in, rows, Records.of(rows), chosen, settings, overlap=0.0)
    try:
        session.asker.wait()
        found = [vars(record) for record in session.people()]
    finally:
        session.close()
    columns = {name: np.array([one[name] for one in found], object) for name in found[0]}
    write_table(people, columns)
