"""Writing files: whole or not at all, where they were asked for."""

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
