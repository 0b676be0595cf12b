"""``python -m verify.bound`` as a reader runs it: verdicts, reproducers, resuming, bad usage."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from instances import generate, save
from verify import bound as verify_bound
from verify.runner import STARTING

ROOT = Path(__file__).resolve().parents[2]


def words(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "verify.bound", *map(str, arguments)]


def bound(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    return subprocess.run(
        words(*arguments), cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    """A report's data without the keys that hold seconds."""
    return json.loads(
        json.dumps(report),
        object_hook=lambda data: {k: v for k, v in data.items() if not k.endswith("_seconds")},
    )


def test_the_mix_of_all_families_holds(tmp_path: Path) -> None:
    run = bound("--instances", 12, "--users", 7, "--output", tmp_path / "run", cwd=tmp_path)
    assert run.returncode == 0
    assert run.stderr in ("", f"{STARTING}\n"), "only a slow start may say something"
    *_, counts, verdict = run.stdout.splitlines()
    assert counts.startswith("12 checked, 0 skipped, 0 undecided, 0 violated in ")
    assert verdict.startswith("PASS: ")
    half = next(line for line in run.stdout.splitlines() if line.startswith("tight-half"))
    assert half.split()[:4] == ["tight-half", "1", "0.5", "0.5"]
    assert "…" not in run.stdout, "a column does not fit 80 characters"
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["total"]["checked"] == 12
    assert len((tmp_path / "run" / "results.jsonl").read_text().splitlines()) == 13


def test_the_printed_algorithm_fails_and_the_reproducer_works(tmp_path: Path) -> None:
    run = bound(
        *("--algorithm", "printed", "--family", "printed-trap", "--users", 10),
        *("--instances", 2, "--json"),
        cwd=tmp_path,
    )
    report = json.loads(run.stdout)
    assert run.returncode == 1
    assert report["verdict"] == "violation"
    assert report["total"]["ratio_p1"]["min"] < 0.5
    failure = report["violations"][0]
    assert (tmp_path / failure["file"]).is_file()
    again = shlex.split(failure["again"])
    assert again[:3] == ["python", "-m", "verify.bound"]
    rerun = bound(*again[3:], cwd=tmp_path)
    assert rerun.returncode == 1
    assert failure["reasons"][0] in rerun.stdout


@pytest.mark.parametrize(
    ("function", "code", "words_"),
    [
        ("nobody", 1, "serves 0, less than half of P1's"),
        ("everybody", 1, "ad_latency"),
        ("strangers", 1, "somebody"),
        ("raising", 3, "RuntimeError: no idea"),
        ("leaving", 3, "crashed: "),
    ],
)
def test_a_bad_algorithm_of_ones_own_is_caught(
    tmp_path: Path, function: str, code: int, words_: str
) -> None:
    run = bound(
        *("--algorithm", f"tests.verify.runner_jobs:{function}", "--jobs", 1),
        *("--family", "deadline-tight", "--users", 5, "--instances", 1),
        cwd=tmp_path,
    )
    assert run.returncode == code, run.stderr
    assert words_ in run.stdout
    assert "  python -m verify.bound --input balance-failures/deadline-tight-0.json" in run.stdout


def test_files_and_csv(tmp_path: Path) -> None:
    for seed in range(2):
        save(generate("ties", users=4, seed=seed), tmp_path / f"{seed}.json")
    run = bound("--input", "0.json", "1.json", "--csv", cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    header, family, total = run.stdout.splitlines()
    assert header.startswith("family,checked,")
    assert family.startswith("file,2,0,0,0,0,")
    assert total.startswith("all,2,0,0,0,0,")


def test_a_trace_is_read(tmp_path: Path, shared_data: Path) -> None:
    trace = shared_data / "traces" / "azure2023_conv_sample2000_seed0.csv"
    run = bound("--trace", trace, "--instances", 2, "--users", 5, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1].endswith("on all 2 instances")


def test_a_solver_that_refuses_everything_has_checked_nothing(tmp_path: Path) -> None:
    run = bound(
        *("--solver", "exhaustive", "--family", "paper-4a", "--users", 17, "--instances", 1),
        cwd=tmp_path,
    )
    assert run.returncode == 3
    assert "skipped: paper-4a:0: " in run.stdout
    assert run.stdout.splitlines()[-1] == "UNDECIDED: nothing was checked"


def test_a_time_limit_leaves_instances_undecided(tmp_path: Path) -> None:
    run = bound(
        *("--time-limit", 0.001, "--family", "paper-5a", "--users", 40, "--instances", 1),
        *("--solver", "highs"),
        cwd=tmp_path,
    )
    assert run.returncode == 3
    assert "open: paper-5a:0: P1 lies in" in run.stdout
    assert "0 checked, 0 skipped, 1 undecided" in run.stdout
    assert run.stdout.splitlines()[-1] == "UNDECIDED: nothing was checked"


def test_a_killed_run_resumes_to_the_same_report(tmp_path: Path) -> None:
    options = ["--family", "tiny", "--family", "no-sd", "--instances", "80", "--seed", "5"]
    options += ["--algorithm", "tests.verify.runner_jobs:unhurried", "--jobs", "2"]
    whole = bound(*options, "--json", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    output = ["--output", "run", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    results = tmp_path / "run" / "results.jsonl"
    with subprocess.Popen(
        words(*options, *output), cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL
    ) as process:
        wait_for(lambda: results.exists() and results.read_bytes().count(b"\n") > 3)
        children = descendants(process.pid)
        process.send_signal(signal.SIGKILL)
    assert results.read_bytes().count(b"\n") < 81, "the run ended before it was killed"
    assert children
    wait_for(lambda: not any(running(child) for child in children))
    other = bound(*options[:-4], *output, "--resume", "--algorithm", "ad-only", cwd=tmp_path)
    assert (other.returncode, other.stdout) == (2, "")
    assert 'was begun with algorithm = "tests.verify.runner_jobs:unhurried"' in other.stderr
    rest = bound(*options, *output, "--resume", cwd=tmp_path)
    assert rest.returncode == 0, rest.stderr
    assert without_times(json.loads(rest.stdout)) == without_times(json.loads(whole.stdout))
    assert results.read_bytes().count(b"\n") == 81


def test_an_interrupt_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(verify_bound, "check_all", interrupted)
    monkeypatch.setattr(sys, "argv", ["bound", "--output", str(tmp_path / "run")])
    with pytest.raises(SystemExit) as end:
        verify_bound.COMMAND.run()
    assert end.value.code == 130
    assert capsys.readouterr().err == "interrupted; --resume goes on\n"


def wait_for(condition, seconds: float = 200) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def descendants(process: int) -> list[int]:
    """Ids of a process's children (Linux)."""
    path = Path(f"/proc/{process}/task/{process}/children")
    return [int(child) for child in path.read_text().split()]


def running(process: int) -> bool:
    """Whether a process exists and is not merely waiting to be reaped."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("arguments", "words_"),
    [
        (["--family", "paper-9z"], "unknown family 'paper-9z'"),
        (["--algorithm", "magic"], "unknown algorithm 'magic'"),
        (["--algorithm", "no_such_module:solve"], "No module named 'no_such_module'"),
        (["--algorithm", "json:no_such_function"], "no_such_function"),
        (["--algorithm", "json:__doc__"], "__doc__ is not a function"),
        (["--family", "paper-4a", "paper-5a"], "repeat --family for paper-5a"),
        (["--solver", "magic"], "unknown solver 'magic'"),
        (["--instances", "0"], "--instances"),
        (["--instances", "-3"], "--instances"),
        (["--seed", "-1"], "--seed"),
        (["--jobs", "0"], "--jobs"),
        (["--time-limit", "0"], "--time-limit"),
        (["--family", "printed-trap", "--users", "1"], "printed-trap: "),
        (["--input", "missing.json"], "missing.json"),
        (["--input", "."], "is a directory"),
        (["--trace", "missing.csv"], "missing.csv"),
        (["--resume"], "--output"),
        (["--json", "--csv"], "exclude each other"),
        (["--dask", "tcp://127.0.0.1:1", "--jobs", "2"], "--jobs"),
        (["--output", "file/folder"], "cannot be written"),
        (["--bogus"], "--bogus"),
    ],
)
def test_bad_usage_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words_: str,
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["bound", *arguments])
    with pytest.raises(SystemExit) as end:
        verify_bound.COMMAND.run()
    printed = capsys.readouterr()
    assert (end.value.code, printed.out) == (2, "")
    assert printed.err.startswith("error: ")
    assert len(printed.err.splitlines()) == 1
    assert words_ in printed.err
