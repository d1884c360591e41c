"""What all commands share: how they are started, how they fail, and how they are interrupted."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import likewise
from likewise.cli import main
from likewise.datasets import list_datasets

from .conftest import Run

FIT = ("fit", "rows.csv", "pairs.csv", "--method", "su", "--prior", "0.7", "-o", "model.skops")


def start(*arguments: str, before: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, `before` first."""
    code = f"import sys; sys.argv = {['likewise', *arguments]!r}\n{before}\n"
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", code + "from likewise.cli import main; main()"],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_version_is_that_of_the_library(succeed: Run) -> None:
    assert succeed("--version").stdout == f"likewise {likewise.__version__}\n"


def test_help_lists_the_commands(succeed: Run) -> None:
    output = succeed("--help").stdout
    for command in ("demo", "ask", "fit", "predict", "prior", "report", "datasets", "reproduce"):
        assert f"\n  {command} " in output
    assert "..." not in output.partition("Commands:")[2], "a summary is cut"


def test_help_loads_neither_numpy_nor_scikit_learn() -> None:
    report = "import atexit; atexit.register(lambda: print(sorted({'numpy', 'sklearn', 'pyarrow'}"
    result = start("--help", before=f"{report} & set(sys.modules))))")
    assert result.returncode == 0
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("arguments", [["fit"], ["nonsense"], ["fit", "a", "b", "--prior", "x"]])
def test_wrong_usage_ends_with_2(run: Run, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    assert "Error" in result.stderr


@pytest.mark.parametrize("seed", ["99999999999", "4294967296", "-1"])
@pytest.mark.parametrize(
    "command", ["fit a.csv b.csv -o c.skops", "prior a.csv b.csv", "report a.csv b.csv", "demo"]
)
def test_a_seed_out_of_range_is_refused_in_one_sentence(
    refuse: Run, command: str, seed: str
) -> None:
    sentence = refuse(*command.split(), f"--seed={seed}")
    assert sentence == f"likewise: --seed must be a number from 0 to 4294967295; got {seed}."


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.filterwarnings("always")  # whatever so few pairs are warned of
@pytest.mark.parametrize("seed", ["0", "4294967295"])
def test_the_least_and_the_largest_seed_will_do(succeed: Run, seed: str) -> None:
    succeed("prior", "rows.csv", "pairs.csv", "--seed", seed)
    succeed(*FIT, "--seed", seed)
    succeed("report", "rows.csv", "pairs.csv", "--model", "model.skops", "--seed", seed)


def test_it_runs_as_a_module_and_a_real_process_fails_in_one_line(folder: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "likewise.cli", "predict", "a.skops", "rows.csv"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert result.returncode == 2
    assert result.stderr == "likewise: a.skops: No such file or directory.\n"


def test_a_bug_still_shows_its_traceback(folder: Path) -> None:
    bug = "import likewise.io; likewise.io.load_model = lambda *given: 1 / 0"
    result = start("predict", "model.skops", "rows.csv", before=bug, cwd=folder)
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert "ZeroDivisionError" in result.stderr


def test_an_interrupt_ends_with_130_and_leaves_the_old_file(model: Path) -> None:
    before = sorted(path.name for path in model.parent.iterdir())
    old = model.read_bytes()
    interrupt = (
        "import contextlib, likewise.io.models as models\n"
        "whole = models.replacing\n"
        "@contextlib.contextmanager\n"
        "def replacing(path):\n"
        "    with whole(path) as stream:\n"
        "        stream.write(b'half')\n"
        "        raise KeyboardInterrupt\n"
        "        yield\n"
        "models.replacing = replacing"
    )
    result = start(*FIT, before=interrupt, cwd=model.parent)
    assert result.returncode == 130
    assert "Traceback" not in result.stderr
    assert model.read_bytes() == old
    assert sorted(path.name for path in model.parent.iterdir()) == before


@pytest.mark.slow
def test_warnings_are_one_plain_line_each(folder: Path) -> None:
    lines = (folder / "rows.csv").read_text().splitlines()
    lines[5] = "r004,?,0.5"
    (folder / "rows.csv").write_text("\n".join(lines))
    result = start(
        *("fit", "rows.csv", "pairs.csv", "--method", "su", "--prior", "0.7", "-o", "model.skops"),
        cwd=folder,
    )
    assert result.returncode == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("likewise: warning: rows.csv, column 'first', row with id 'r004'")


def test_a_reader_that_stops_early_gets_no_traceback(model: Path) -> None:
    command = f"{sys.executable} -m likewise.cli predict model.skops rows.csv | head -n 1"
    result = subprocess.run(  # noqa: S602
        command, shell=True, capture_output=True, text=True, check=True, cwd=model.parent
    )
    assert result.stdout == "id,prediction,score\n"
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_one_sentence_names_it(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert capsys.readouterr().err == (
        f"likewise: the command line needs {missing}, which is not installed: "
        "pip install 'likewise[cli]'.\n"
    )


def test_without_pyarrow_one_sentence_names_the_extra(
    folder: Path, refuse: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    sentence = refuse(
        "fit", "rows.csv", "pairs.csv", "--method", "su", "--prior", "0.7", "-o", "model.skops"
    )
    assert "likewise[cli]" in sentence


def test_datasets_lists_the_twelve_and_where_they_are(
    succeed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.delenv("LIKEWISE_DATA", raising=False)
    shown = json.loads(succeed("datasets", "--json").stdout)["datasets"]
    assert [entry["name"] for entry in shown] == [entry.name for entry in list_datasets()]
    assert len(shown) == 12
    output = succeed("datasets").stdout
    for entry in shown:
        assert entry["name"] in output
        assert f"{entry['rows']:,}" in output
        assert entry["source"] in output


@pytest.mark.parametrize("command", ["", "fit", "predict", "prior", "report", "ask", "reproduce"])
def test_help_has_a_short_option(succeed: Run, command: str) -> None:
    assert succeed(*command.split(), "-h").stdout == succeed(*command.split(), "--help").stdout
