"""Benchmark runs in processes of their own: liars, hangs, crashes, and the whole command."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from instances import InputError, generate
from verify.bench import COMMAND
from verify.bench_cases import Case, generated
from verify.bench_check import cross_check
from verify.bench_files import prepare
from verify.bench_lines import Line, cross, parse, solve
from verify.bench_protocol import Protocol
from verify.bench_records import Outcome, read_csv
from verify.bench_report import busy_lines
from verify.bench_runs import Probe, failed_run, probe, run, run_all, settle
from verify.bench_stats import Time
from verify.workers import Workers

ROOT = Path(__file__).resolve().parents[2]
SOLVERS = "tests.verify.bench_solvers:"


# Runs in processes of their own


@pytest.fixture(scope="module")
def twelve() -> Case:
    return generated(["paper-4a"], [12], [1])[0]


PROTOCOL = Protocol(time_limit_s=1.0, grace_s=0.5, repeats=3)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("modest", None),
        ("greedy", "schedule is rejected"),
        ("counting", "but its schedule serves"),
    ],
)
def test_liars_are_caught(twelve: Case, name: str, fault: str | None) -> None:
    found = run(Line(SOLVERS + name), twelve, PROTOCOL).record
    if fault is None:  # nothing speaks against it before somebody serves more
        served = replace(found, line="other", objective=1, bound=None, outcome=Outcome.ANSWERED)
        found = cross_check([found, served])[0]
        fault = "bound 0, but other serves 1"
    assert found.outcome is Outcome.WRONG
    assert fault in found.message


def test_a_hanging_solver_is_killed_and_censored(twelve: Case) -> None:
    found = run(Line(SOLVERS + "hanging"), twelve, PROTOCOL).record
    assert found.outcome is Outcome.KILLED
    assert found.time == Time(1.0, censored=True)


@pytest.mark.parametrize(
    ("name", "message"),
    [("crashing", "RuntimeError: out of ideas"), ("dying", "the process died (SIGABRT)")],
)
def test_a_crash_is_one_row(twelve: Case, name: str, message: str) -> None:
    found = run(Line(SOLVERS + name), twelve, PROTOCOL).record
    assert found.outcome is Outcome.CRASHED
    assert message in found.message


def test_what_a_solver_prints_is_no_answer(twelve: Case) -> None:
    found = run(Line(SOLVERS + "chatty"), twelve, PROTOCOL).record
    assert (found.outcome, found.objective, found.repeats) == (Outcome.ANSWERED, 0, 3)
    assert found.peak_mb is not None
    assert 10 < found.peak_mb < 1000


def test_unusable_lines_are_refused_before_anything_is_measured() -> None:
    for name, message in [
        ("nosolver", "unknown solver 'nosolver'"),
        ("no_such_module:f", "no_such_module"),
        (SOLVERS + "missing", "has no missing"),
        (SOLVERS + "confused", "returned int"),
    ]:
        with pytest.raises(InputError, match=message):
            settle({Line(name): []}, PROTOCOL)


def test_a_line_that_fails_the_warm_up_leaves_the_others_in_peace(
    twelve: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung = Probe("killed", "no answer within 300 s")
    monkeypatch.setattr(
        "verify.bench_runs.probe",
        lambda line, protocol: hung if line.solver == "own:slow" else Probe("warm-up"),
    )
    lines = settle({Line("threshold"): [], Line("own:slow"): []}, PROTOCOL)
    assert lines == {Line("threshold"): Probe("warm-up"), Line("own:slow"): hung}
    record = failed_run(Line("own:slow"), twelve, PROTOCOL, hung).record
    assert (record.outcome, record.time) == (Outcome.KILLED, Time(1.0, censored=True))
    assert "failed the warm-up: no answer within 300 s" in record.message
    with pytest.raises(InputError, match="own:slow: no answer"):
        settle({Line("own:slow"): []}, PROTOCOL)


def test_a_solver_without_formulations_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(line: Line, protocol: Protocol) -> Probe:
        known = str(line) in ("highs@compact", "exhaustive")
        return Probe("warm-up") if known else Probe("refused", "no such option")

    monkeypatch.setattr("verify.bench_runs.probe", answer)
    lines = settle(cross(["highs", "exhaustive"], ["compact", "levels"]), PROTOCOL)
    assert list(map(str, lines)) == ["highs@compact", "exhaustive"]


def test_lines_name_cuts_and_what_to_leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr("formulations.solve", lambda *_, **options: asked.append(options))
    for text in ("highs@compact+pairs+count", "highs@compact+no-start+apart", "highs"):
        solve(parse(text), generate("ties", 2, seed=1), "P1", 1.0)
    rest = {"time_limit": 1.0}
    assert asked == [
        {"formulation": "compact", "cuts": "pairs,count", **rest},
        {"formulation": "compact", "apart": True, "start": False, **rest},
        rest,
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (Line("highs", "nonsense"), "nonsense"),
        (Line(SOLVERS + "impatient"), f"for a heuristic use heuristics:{SOLVERS}impatient"),
    ],
)
def test_probe_tells_why_a_line_is_refused(line: Line, message: str) -> None:
    answer = probe(line, PROTOCOL)
    assert answer.ended == "refused"
    assert message in answer.message
    assert "warm-up instance" not in answer.message


def test_a_slow_warm_up_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("verify.bench_runs.SLOW_S", 0.01)
    probe(Line(SOLVERS + "nobody"), PROTOCOL)
    told = "warming up tests.verify.bench_solvers:nobody, for 300 s at most (--warm-up-limit)\n"
    assert capsys.readouterr().err == told


def test_a_run_whose_worker_died_is_one_row(twelve: Case) -> None:
    class Dying(ThreadPoolExecutor):
        def submit(self, function: Any, line: Line, *rest: Any) -> Future[Any]:  # type: ignore[override]
            if line.solver != "own:lost":
                return super().submit(function, line, *rest)
            lost: Future[Any] = Future()
            lost.set_exception(ConnectionError("worker gone"))
            return lost

    lines = {Line(SOLVERS + "nobody"): Probe("warm-up"), Line("own:lost"): Probe("warm-up")}
    runs = run_all(lines, [twelve], PROTOCOL, Workers(1, lambda: Dying(1)))
    found = {run.record.line: run.record for run in runs}
    assert found["own:lost"].outcome is Outcome.CRASHED
    assert found["own:lost"].message == "lost: ConnectionError: worker gone"
    assert found[SOLVERS + "nobody"].outcome is Outcome.ANSWERED


def test_unlike_machines_are_named(twelve: Case) -> None:
    record = failed_run(Line("own:slow"), twelve, PROTOCOL, Probe("killed")).record
    records = [replace(record, machine=name) for name in ("one", "one", "other")]
    (line,) = busy_lines(records, replace(PROTOCOL, load_at_start=None))
    assert line.endswith("one; other")
    assert not list(busy_lines(records[:2], replace(PROTOCOL, load_at_start=None)))


# The command


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "verify.bench", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_command_end_to_end(tmp_path: Path) -> None:
    first = tmp_path / "first"
    cases = ["--users", "3", "--seeds", "1"]
    lines = ["--solvers", "highs", "heuristics:balance", "--formulations", "compact"]
    done = bench(*lines, *cases, "--output", str(first), "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert [r["outcome"] for r in data["runs"] if r["line"] == "highs@compact"] == ["solved"]
    assert data["protocol"]["seeds"] == [1]
    assert data["protocol"]["machine"]["cores"] >= 1
    assert len(read_csv(first / "runs.csv")) == 2
    with (first / "profile.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert {row["line"] for row in rows} == {"highs@compact", "heuristics:balance"}
    with pytest.raises(InputError, match="exists; name another --output"):
        prepare(first)
    told = "note: highs does not take --formulations nonsense; run as it is\n"
    again = bench(
        *lines[:2], "--formulations", "nonsense", *cases, "--compare", str(first / "runs.csv")
    )
    assert again.returncode == 0, again.stderr
    assert "since runs.csv" in again.stdout
    assert told in again.stderr
    assert "PASS" in again.stdout.splitlines()[-1]


def test_command_lists_wrong_answers_first_and_fails() -> None:
    done = bench(
        "--solvers", SOLVERS + "greedy", SOLVERS + "nobody", "--users", "30", "--seeds", "1"
    )
    assert done.returncode == 1
    first, second = done.stdout.splitlines()[:2]
    assert first.startswith(f"WRONG {SOLVERS}greedy on paper-4a-30-1 (P1): schedule is rejected")
    assert "--family paper-4a --users 30 --seeds 1" in second
    assert done.stdout.splitlines()[-1].startswith("FAIL: 1 wrong")


def test_command_goes_on_after_a_failed_warm_up(tmp_path: Path) -> None:
    confused, nobody = SOLVERS + "confused", SOLVERS + "nobody"
    options = ["--users", "3", "--seeds", "1", "--output", str(tmp_path)]
    done = bench("--solvers", confused, nobody, *options)
    assert done.returncode == 0, done.stderr
    assert f"warning: solver line {confused} failed its warm-up: TypeError" in done.stderr
    assert f"crashed {confused}, K = 3, 1 of the runs: not run" in done.stdout
    outcomes = {record.line: record.outcome for record in read_csv(tmp_path / "runs.csv")}
    assert outcomes == {confused: Outcome.CRASHED, nobody: Outcome.ANSWERED}


def test_command_says_when_nothing_was_solved() -> None:
    line = SOLVERS + "crashing"
    done = bench("--solvers", line, "--users", "10", "--seeds", "1")
    assert done.returncode == 3
    assert "UNDECIDED" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        "--solvers nosolver --users 3 --seeds 1",
        "--family nofamily",
        "--users ten",
        "--seeds -1",
        "--input .",
        "--input nofile.json",
        "--compare pyproject.toml",
        "--time-limit 0",
        "--time-limit nan",
        "--shift inf",
        "--jobs 0",
        "--json --csv",
        "--problem P3",
        "--solvers heuristics:balance --users 3 --reference highs",
        "--solvers heuristics:balance --users 3 --seeds 1 --output pyproject.toml",
    ],
)
def test_bad_usage_is_one_line(
    arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["verify.bench", *arguments.split()])
    with pytest.raises(SystemExit) as ended:
        COMMAND.run()
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert line.startswith("error: ")
