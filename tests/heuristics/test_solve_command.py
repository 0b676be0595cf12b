"""``python -m heuristics.solve``: what it prints and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from instances import save
from instances.kernels import NOTICE
from tests.heuristics.samples import trap

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "heuristics.solve", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def trap_file(tmp_path: Path) -> Path:
    path = tmp_path / "trap.json"
    save(trap(), path)
    return path


def test_json_is_all_that_stdout_holds(trap_file: Path, tmp_path: Path) -> None:
    done = run(trap_file, "--json", "--memory", "padded", "--output", tmp_path / "result.json")
    assert done.returncode == 0
    assert done.stderr in ("", f"{NOTICE}\n"), "only a first run has something to say"
    assert json.loads(done.stdout)["objective"] == 4
    assert json.loads((tmp_path / "result.json").read_text()) == json.loads(done.stdout)


def test_the_table_names_who_is_served(trap_file: Path) -> None:
    done = run(trap_file)
    assert done.returncode == 0
    assert "short0" in done.stdout
    assert "serves 10 of 10 (optimal)" in done.stdout


@pytest.mark.parametrize(
    "options", [["--algorithm", "simplex"], ["--z", "0.3"], ["--memory", "none"], ["--lambda", "x"]]
)
def test_bad_options_are_one_line_and_exit_2(trap_file: Path, options: list[str]) -> None:
    done = run(trap_file, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_bad_files_are_one_line_and_exit_2(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.json"):
        done = run(path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1
