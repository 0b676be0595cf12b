"""Both file formats of the literature, the real files, and one clear line for bad ones."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from instances import InputError
from instances.mmkp_files import load_mmkp

KHAN = """\

 2 3 2
 5 6
 1
 4.20 1 2
 7.00 3 4
 2
 1.5 0 0
 2.5 1 1
 3.5 2 2
 Solutions by  HEU
 0 1 2.50
"""
SHOJAEI = "2 2\n5 6\n2\n4.20 1 2\n7 3 4\n3\n1.5 0 0\n2.5 1 1\n3.5 2 2\n"


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "problem.txt"
    path.write_text(text)
    return path


def test_both_formats_read_the_same_problem(tmp_path: Path) -> None:
    khan = load_mmkp(write(tmp_path, KHAN))
    assert khan == load_mmkp(write(tmp_path, SHOJAEI))
    assert [len(group.items) for group in khan.classes] == [2, 3]
    assert khan.classes[0].items[0].profit == Fraction(21, 5)
    assert khan.classes[1].items[2].weights == (2, 2)
    assert khan.capacities == (5, 6)
    assert not any(group.optional for group in khan.classes)


@pytest.mark.parametrize("number", range(1, 14))
def test_published_solutions_evaluate_to_their_published_values(
    shared_data: Path, number: int
) -> None:
    """A misread profit, weight or capacity would show: the files carry solutions and values."""
    path = shared_data / "mmkp" / "khan" / f"I{number:02}"
    problem = load_mmkp(path)
    text = path.read_text()
    lines = re.findall(r"Solutions by  (?:HEU|Exact Solution)\s*\n(.*)", text)
    assert len(lines) == (2 if number <= 6 else 1)
    for line in lines:
        *positions, value = line.split()
        selection = tuple(map(int, positions))
        assert problem.profit(selection) == Fraction(value)
        assert problem.feasible(selection)


BAD = {
    "": "problem.txt: the data end where 'classes items",
    "2": "line 1: expected 'classes items constraints' or",
    "2 3 0\n": "line 1: the number of constraints must be a whole number from 1 up, found 0",
    "2 2.5 1\n": "line 1: the number of items must be a whole number",
    "1 1 2\n5\n": "line 2: found 1 numbers where the 2 capacities should be",
    "1 1 1\n-5\n": "line 2: a capacity is negative",
    "1 1 1\n5\n2\n1 1\n": "line 3: expected the index of class 1",
    "1 1 2\n5 5\n1\n1 1\n": "line 4: an item has a profit and 2 weights, found 2 numbers",
    "1 1 1\n5\n1\n1 x\n": "line 4: 'x' is not a number",
    "1 1 1\n5\n1\n1 nan\n": "line 4: 'nan' is not a number",
    "1 1 1\n5\n1\n1 1e999999999\n": "line 4: '1e999999999' is not a number",
    "1 1 1\n5\n1\n1 -1\n": "line 4: a weight is negative",
    "1 1 1\n5\n1\n1 1\n2 1\n": "line 5: class 1 has 2 items, not 1 to 1",
    "2 1 1\n5\n1\n1 1\n": "line 4: the data end where class 2 of 2 should follow",
    "1 1 1\n5\n1\n1 1\n2\n1 1\n": "line 5: more follows after class 1, the last",
    "1 1 1\n5\n1\nSolutions\n": "line 3: class 1 has 0 items",
    "1 1\n5\n2\n1 1\n": "line 4: the data end where item 2 of class 1 should follow",
    "1 1\n5\n0\n": "line 3: the number of items of class 1 must be a whole number",
    "1 2\n5 5\n1\n1 1\n9 9 9\n": "line 4: an item has a profit and 2 weights",
    "1 1\n5\n1\n1 1\n1\n": "line 5: more follows after class 1",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_file_is_told_in_one_line_with_its_place(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        load_mmkp(write(tmp_path, text))
    assert BAD[text] in str(caught.value)
    assert "problem.txt" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unreadable_paths(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        load_mmkp(tmp_path)
    with pytest.raises(InputError, match="No such file"):
        load_mmkp(tmp_path / "none")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        load_mmkp(tmp_path / "bytes")
