"""Writing files: whole or not at all, where they were asked for."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from likewise.io import (
    Features,
    check_output,
    feature_matrix,
    read_table,
    replacing,
    write_table,
)

has_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
has_modes = pytest.mark.skipif(not hasattr(os, "fchown"), reason="files have no modes here")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError, ZeroDivisionError])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, stop: type[BaseException]
) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(b"old")

    def write_half() -> None:
        with replacing(path) as stream:
            stream.write(b"half")
            raise stop

    with pytest.raises(stop):
        write_half()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_table(tmp_path / "link.csv", {"id": np.array([1])})
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "id\n1\n"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@has_modes
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o400])
@pytest.mark.parametrize("name", ["real.csv", "link.csv"])
def test_a_file_that_is_replaced_keeps_its_permissions_all_the_while(
    tmp_path: Path, mode: int, name: str
) -> None:
    real = tmp_path / "real.csv"
    real.write_text("old")
    real.chmod(mode)
    (tmp_path / "link.csv").symlink_to("real.csv")
    with replacing(tmp_path / name) as stream:
        (unfinished,) = tmp_path.glob(".*.part")
        assert mode_of(unfinished) == mode
        stream.write(b"new")
    assert mode_of(real) == mode
    assert real.read_bytes() == b"new"


@has_modes
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    with replacing(tmp_path / "new"):
        pass
    assert mode_of(tmp_path / "new") == mode_of(tmp_path / "other")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_root_leaves_a_file_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "private.bin"
    path.touch(mode=0o600)
    os.chown(path, 12345, 54321)
    with replacing(path) as stream:
        stream.write(b"new")
    assert (path.stat().st_uid, path.stat().st_gid, mode_of(path)) == (12345, 54321, 0o600)


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[int]:
    """Make the named pipe ``pipe.csv`` and return its end to read from."""
    os.mkfifo(tmp_path / "pipe.csv")
    end = os.open(tmp_path / "pipe.csv", os.O_RDONLY | os.O_NONBLOCK)
    yield end
    os.close(end)


@has_pipes
@pytest.mark.parametrize("name", ["pipe.csv", "link.csv"])
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path, pipe: int, name: str) -> None:
    (tmp_path / "link.csv").symlink_to("pipe.csv")
    before = sorted(tmp_path.iterdir())
    write_table(tmp_path / name, {"id": np.array([1])})
    assert os.read(pipe, 100) == b"id\n1\n"
    assert (tmp_path / "pipe.csv").is_fifo()
    assert (tmp_path / "link.csv").is_symlink()
    assert sorted(tmp_path.iterdir()) == before


@has_pipes
def test_a_pipe_is_sent_nothing_by_a_write_that_fails(tmp_path: Path, pipe: int) -> None:
    def write_half() -> None:
        with replacing(tmp_path / "pipe.csv") as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert os.read(pipe, 100) == b""
    assert (tmp_path / "pipe.csv").is_fifo()


@has_pipes
def test_a_pipe_is_a_fine_output(tmp_path: Path, pipe: int) -> None:
    path = tmp_path / "pipe.csv"
    assert check_output(path, table=True, inputs=[tmp_path / "rows.csv"]) == path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_written_table_reads_back_exactly(tmp_path: Path, suffix: str) -> None:
    scores = np.random.default_rng(0).normal(size=50) * 1e-7
    ids = pa.array([f'{i:03d},"é"\n' for i in range(50)])
    path = tmp_path / f"out.{suffix}"
    write_table(path, {"id": ids, "score": scores})
    table = read_table(path)
    assert table.keys.to_pylist() == ids.to_pylist()
    np.testing.assert_array_equal(feature_matrix(table, Features(("score",)))[:, 0], scores)


def test_check_output_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a folder"):
        check_output(tmp_path)
    with pytest.raises(ValueError, match=r"The folder .*nowhere.* does not exist"):
        check_output(tmp_path / "nowhere" / "model.skops")
    with pytest.raises(ValueError, match=r"out\.txt is neither"):
        check_output(tmp_path / "out.txt", table=True)
    assert check_output(tmp_path / "out.txt") == tmp_path / "out.txt"


@pytest.mark.parametrize("name", ["rows.csv", "folder/../rows.csv", "link.csv", "hard.csv"])
def test_an_input_is_no_output_by_whatever_name(tmp_path: Path, name: str) -> None:
    rows = tmp_path / "rows.csv"
    rows.touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.csv").symlink_to("rows.csv")
    (tmp_path / "hard.csv").hardlink_to(rows)
    other = tmp_path / "other.csv"
    for inputs in ([rows, other], [other, rows]):
        with pytest.raises(ValueError, match=r"overwrite the input .*rows\.csv; name another file"):
            check_output(tmp_path / name, inputs=inputs)
    assert check_output(tmp_path / "new.csv", inputs=[rows]) == tmp_path / "new.csv"
    # What is not there yet is the business of whoever reads it.
    assert check_output(other, inputs=[other]) == other


@pytest.mark.parametrize("name", ["rows/part.parquet", "rows/new.skops", "link/part.parquet"])
def test_a_file_in_an_input_folder_is_no_output(tmp_path: Path, name: str) -> None:
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "part.parquet").touch()
    (tmp_path / "link").symlink_to("rows", target_is_directory=True)
    with pytest.raises(ValueError, match=r"is in the input folder .*rows; name a file elsewhere"):
        check_output(tmp_path / name, inputs=[tmp_path / "rows"])
    assert check_output(tmp_path / "m.skops", inputs=[tmp_path / "rows"]) == tmp_path / "m.skops"


@contextmanager
def largest_file(n_bytes: int) -> Iterator[None]:
    """Let no file grow beyond a size, as on a disk that is nearly full."""
    resource = pytest.importorskip("resource", reason="no limits of files here")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_links_that_lead_to_each_other_are_no_output(tmp_path: Path) -> None:
    path = tmp_path / "loop.csv"
    path.symlink_to("pool.csv")
    (tmp_path / "pool.csv").symlink_to("loop.csv")
    with pytest.raises(ValueError, match=r"loop\.csv is a link that leads back to itself"):
        check_output(path)
    with pytest.raises(OSError, match=r"symbolic links.*loop\.csv"), replacing(path):
        pass


def test_a_link_to_nowhere_names_the_folder_that_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "link.csv"
    path.symlink_to(tmp_path / "gone" / "real.csv")
    with pytest.raises(ValueError, match=r"The folder .*gone for link\.csv does not exist"):
        check_output(path)


def test_a_name_may_be_as_long_as_a_name_may_be(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 251 + ".csv")
    check_output(path)
    write_table(path, {"id": np.array([1])})
    assert path.read_text() == "id\n1\n"
    with pytest.raises(ValueError, match=r"The name .*nnn.* is too long"):
        check_output(tmp_path / ("n" * 252 + ".csv"))


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"file.model\.skops cannot be made"):
        check_output(tmp_path / "file" / "model.skops")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder that takes no files here")
def test_a_folder_that_takes_no_file_is_told_before_the_work() -> None:
    with pytest.raises(ValueError, match=r"/proc/model\.skops cannot be written"):
        check_output("/proc/model.skops")


def test_a_full_disk_is_told_before_the_work(tmp_path: Path) -> None:
    with largest_file(100), pytest.raises(ValueError, match=r"model\.skops cannot be written"):
        check_output(tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_leaves_the_old_file_and_the_error_names_it(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_text("old")
    ids = np.arange(100_000)
    with largest_file(1 << 17), pytest.raises(OSError, match=r"old\.csv") as caught:
        write_table(path, {"id": ids})
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_device_is_named() -> None:
    with (
        pytest.raises(OSError, match="/dev/full"),
        replacing("/dev/full") as stream,
    ):
        stream.write(b"one")


def test_errors_of_other_files_keep_their_names(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "new"):
        (tmp_path / "other").read_bytes()
    assert caught.value.filename == str(tmp_path / "other")


def test_an_outputs_name_is_shown_escaped(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not exist") as caught:
        check_output(tmp_path / "\x1b[31m" / "\udcff")
    assert str(caught.value).isprintable()
