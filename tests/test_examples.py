"""The examples run as they stand and say what is right."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from instances import load, load_schedule
from verify import check

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture
def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """Run an example in an empty folder; return the lines that it prints."""
    monkeypatch.chdir(tmp_path)

    def run(name: str, *arguments: str) -> list[str]:
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out.splitlines()

    return run


def test_no_example_is_forgotten() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert names == {"memory", "other_solver", "own_heuristic", "trace_to_schedule"}


def test_own_heuristic(said: Callable[..., list[str]]) -> None:
    *rows, last = said("own_heuristic")
    own, best = zip(*((int(row.split()[1]), int(row.split()[3])) for row in rows), strict=True)
    assert all(mine <= optimum for mine, optimum in zip(own, best, strict=True))
    assert f"{100 * sum(own) / sum(best):.1f} %" in last


def test_trace_to_schedule(said: Callable[..., list[str]], tmp_path: Path) -> None:
    first = said("trace_to_schedule")[0]
    report = check(load(tmp_path / "instance.json"), load_schedule(tmp_path / "schedule.json"))
    assert report.feasible
    assert first.startswith(f"{report.served} of 20")


def test_a_trace_that_is_not_there_is_one_line(
    said: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        said("trace_to_schedule", "nofile.csv")
    assert end.value.code == 2
    assert capsys.readouterr().err == "error: nofile.csv: No such file or directory\n"


def test_memory(said: Callable[..., list[str]], tmp_path: Path) -> None:
    """More memory never serves fewer, and both modes never fewer than one."""
    _, *rows = said("memory", "memory.png")
    columns = list(zip(*([int(cell) for cell in row.split()] for row in rows), strict=True))
    assert all(list(column) == sorted(column) for column in columns)
    assert all(both >= max(ad, sd) for _, both, ad, sd in zip(*columns, strict=True))
    assert (tmp_path / "memory.png").stat().st_size > 1000


def test_other_solver(said: Callable[..., list[str]], tmp_path: Path) -> None:
    best, certified = said("other_solver")[-1].split("; ")
    assert best.split(": ")[1] == certified.split(": ")[1]
    assert "\nmax \nserved:\n" in (tmp_path / "p1.lp").read_text()
