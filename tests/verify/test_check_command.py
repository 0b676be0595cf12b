"""``python -m verify.check`` as a reader runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from instances import InputError, Schedule, generate, load, save

ROOT = Path(__file__).resolve().parents[2]


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "verify.check", *map(str, arguments)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("check")
    instance = generate("paper-4a", users=12, seed=0)
    save(instance, folder / "instance.json")
    ids = tuple(user.id for user in instance.users)
    save(Schedule(z=1.0), folder / "nobody.json")
    (folder / "result.json").write_text('{"objective": 0, "schedule": {"ad": []}}')
    save(Schedule(z=0.3, ad=ids[:1], sd=ids[1:]), folder / "everybody.json")
    save(Schedule(z=1.0, ad=("somebody",)), folder / "stranger.json")
    return folder


def test_a_feasible_schedule_passes(folder: Path) -> None:
    run = command(folder / "instance.json", folder / "nobody.json")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[-1].startswith("PASS: serves 0 users")


def test_files_in_the_wrong_order_are_named(folder: Path) -> None:
    for name, what in (("nobody.json", "schedule"), ("result.json", "result")):
        with pytest.raises(InputError, match=f"{name}: this looks like a {what}, not an instance"):
            load(folder / name)


def test_an_infeasible_schedule_is_measured(folder: Path) -> None:
    run = command(folder / "instance.json", folder / "everybody.json")
    assert run.returncode == 1
    assert "SD user late, the worst (u" in run.stdout.splitlines()[-1]
    assert "SD latency" in run.stdout


def test_json_is_the_report_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    run = command(
        folder / "instance.json",
        folder / "everybody.json",
        "--json",
        "--output",
        tmp_path / "new" / "report.json",
    )
    report = json.loads(run.stdout)
    assert run.returncode == 1
    assert report["feasible"] is False
    assert report["violations"]["sd_latency"] > 0
    assert len(report["inequalities"]) == 2 + 2 + 12
    assert json.loads((tmp_path / "new" / "report.json").read_text()) == report


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["instance.json", "stranger.json"], "no such user in the instance: 'somebody'"),
        (["instance.json", "nobody.json", "--problem", "P2"], "P2 needs a lambda"),
        (["instance.json", "nobody.json", "--problem", "P9"], "--problem"),
        (["instance.json", "instance.json"], "must be 'balance-schedule/1'"),
        (["instance.json", "missing.json"], "No such file"),
        (["instance.json", "."], "is a directory"),
        (["instance.json"], "Missing argument"),
        (["instance.json", "nobody.json", "--output", "."], "cannot be written"),
    ],
)
def test_bad_input_is_one_line(folder: Path, arguments: list[str], words: str) -> None:
    paths = [folder / a if a.endswith(".json") or a == "." else a for a in arguments]
    run = command(*paths)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("error: ")
    assert len(run.stderr.splitlines()) == 1
    assert words in run.stderr


def test_the_command_does_not_shadow_the_function() -> None:
    code = "import verify, runpy, sys; sys.argv = ['check', '--help']\n"
    code += "try: runpy.run_module('verify.check', run_name='__main__')\n"
    code += "except SystemExit: print('callable', callable(verify.check))"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert run.stdout.splitlines()[-1] == "callable True", run.stderr
    assert "Example: python -m verify.check" in run.stdout
