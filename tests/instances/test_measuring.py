"""The sizes that are timed, and the file that keeps them through an interruption."""

from __future__ import annotations

from pathlib import Path

import pytest

from instances import InputError
from instances.measuring import PassesFile, sweep
from instances.passes import Size, read_passes

HEADER = {"layers_timed": "2", "dtype": "float32", "date": "today"}


def test_the_sweep_starts_small_and_has_every_size_once() -> None:
    sizes = sweep(lengths=[16, 1], batches=[2, 1], contexts=[5], steps=[1, 8])
    assert len(sizes) == len(set(sizes)) == 8
    assert sizes[0] == Size(1, 1, 0)
    assert sizes[-1] == Size(2, 16, 0)
    assert Size(2, 8, 5) in sizes


def test_a_half_written_row_is_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "passes.csv"
    file = PassesFile(path, HEADER)
    file.add(Size(2, 3, 4), 0.5, 0.01, 7)
    assert read_passes(path).passes[0].tokens == 6
    whole = path.read_text()
    path.write_text(whole + "1,1,9,0.2")
    again = PassesFile(path, {**HEADER, "date": "tomorrow"}, resume=True)
    assert again.done == {Size(2, 3, 4)}
    assert path.read_text() == whole


@pytest.mark.parametrize(
    ("changes", "resume", "words"),
    [
        ({}, False, "is there already; --resume continues it"),
        ({"dtype": "float16"}, True, "is not of dtype float16; name another --output"),
    ],
)
def test_another_measurement_is_not_mixed_in(
    changes: dict[str, str], resume: bool, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "passes.csv"
    PassesFile(path, HEADER)
    with pytest.raises(InputError, match=words):
        PassesFile(path, {**HEADER, **changes}, resume)


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        PassesFile(tmp_path / "file" / "passes.csv", HEADER)
