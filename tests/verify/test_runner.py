"""The runner: crashes, time-outs, resuming, memory, executors of any kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import pytest

from instances import InputError
from tests.verify import runner_jobs
from verify.results import ResultsFile
from verify.runner import Task, WorkersLost, run
from verify.workers import Workers, processes


def tasks(*numbers: int) -> list[Task]:
    return [Task(f"n:{number}", number) for number in numbers]


def threads(width: int = 2) -> Workers:
    return Workers(width, lambda: ThreadPoolExecutor(width))


def by_key(rows) -> dict[str, dict]:
    rows = list(rows)
    found = {row["key"]: row for row in rows}
    assert len(found) == len(rows), "a task gave two rows"
    return found


def test_one_row_a_task_on_processes() -> None:
    rows = by_key(run(runner_jobs.square, tasks(*range(50)), processes(2)))
    assert {key: row["square"] for key, row in rows.items()} == {f"n:{n}": n * n for n in range(50)}


def test_no_failure_of_one_task_ends_the_run() -> None:
    rows = by_key(run(runner_jobs.moody, tasks(*range(20)), processes(2)))
    errors = {key: row["error"] for key, row in rows.items() if "error" in row}
    assert set(errors) == {"n:3", "n:5", "n:7", "n:13"}
    assert errors["n:13"].startswith("crashed: ")
    assert "KeyError: 'seven' (runner_jobs.py:" in errors["n:7"]
    assert errors["n:5"].startswith("SystemExit: five")
    assert "JSON" in errors["n:3"]
    assert all(rows[f"n:{n}"]["square"] == n * n for n in range(20) if f"n:{n}" not in errors)


def test_a_task_that_takes_too_long_is_one_row() -> None:
    rows = by_key(run(runner_jobs.slow, tasks(1, 13, 2), processes(2), time_limit=0.5))
    assert rows["n:13"]["error"].startswith("TimeoutError: no answer within 0.5 s")
    assert rows["n:1"]["square"] == 1
    assert rows["n:2"]["square"] == 4


def test_resuming_runs_only_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with ResultsFile(path, {"a": 1}) as results:
        list(run(runner_jobs.square, tasks(0, 1, 2), threads(), results))
    with ResultsFile(path, {"a": 1}, resume=True) as results:
        rows = by_key(run(runner_jobs.moody, tasks(0, 1, 2, 3, 4), threads(), results))
    assert set(rows) == {f"n:{n}" for n in range(5)}
    with ResultsFile(path, {"a": 1}, resume=True) as results:
        assert by_key(run(runner_jobs.moody, tasks(*range(5)), threads(), results)) == rows


@pytest.mark.parametrize("tail", ['{"key": "n:1", "squ', '{"key": "n:1", "square": 1}', "\x00\x00"])
def test_a_torn_last_line_is_cut_off(tmp_path: Path, tail: str) -> None:
    path = tmp_path / "results.jsonl"
    with ResultsFile(path, {}) as results:
        list(run(runner_jobs.square, tasks(0), threads(), results))
    whole = path.read_bytes()
    path.write_bytes(whole + tail.encode())
    with ResultsFile(path, {}, resume=True) as results:
        assert [row["key"] for row in results.rows()] == ["n:0"]
        assert path.read_bytes() == whole
        list(run(runner_jobs.square, tasks(0, 1), threads(), results))
    lines = path.read_text().splitlines()
    assert [json.loads(line).get("key") for line in lines] == [None, "n:0", "n:1"]


def test_a_torn_first_line_starts_afresh(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"schema": "balance-res')
    with ResultsFile(path, {"a": 1}, resume=True) as results:
        assert list(results.rows()) == []
    assert json.loads(path.read_text())["configuration"] == {"a": 1}


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with ResultsFile(path, {}) as results:
        results.append(["{broken", '{"key": "n:1"}'])
    with ResultsFile(path, {}, resume=True) as results, pytest.raises(InputError, match="line 2"):
        list(results.rows())


def test_other_options_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    ResultsFile(path, {"algorithm": "balance", "seed": 0}).__exit__(None, None, None)
    with pytest.raises(InputError, match='algorithm = "balance", not "printed"'):
        ResultsFile(path, {"algorithm": "printed", "seed": 0}, resume=True)
    with pytest.raises(InputError, match="exists; add --resume"):
        ResultsFile(path, {"algorithm": "balance", "seed": 0})
    path.write_text("something else\n")
    with pytest.raises(InputError, match="is not a results file"):
        ResultsFile(path, {}, resume=True)


def test_tasks_are_drawn_as_workers_become_free() -> None:
    """A hundred thousand tasks are never in memory at once."""
    drawn = 0

    def endless() -> Iterator[Task]:
        nonlocal drawn
        while True:
            drawn += 1
            yield Task(f"n:{drawn}", drawn)

    rows = run(runner_jobs.square, endless(), threads(2))
    for count in range(1, 2001):
        next(rows)
        assert drawn <= count + 2 * 2 * 64
    rows.close()  # type: ignore[attr-defined]


def test_any_executor_will_do() -> None:
    with ThreadPoolExecutor(2) as executor:
        rows = by_key(run(runner_jobs.square, tasks(*range(9)), executor))
        assert rows["n:8"]["square"] == 64
        assert executor.submit(pow, 2, 3).result() == 8, "the caller's executor was shut down"


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full on this system")
    with pytest.raises(InputError, match="cannot be written"):
        ResultsFile(full, {})


def test_workers_that_do_not_start_end_the_run() -> None:
    def start() -> Executor:
        executor = ThreadPoolExecutor(1)
        executor.shutdown()
        return executor

    with pytest.raises(WorkersLost, match="do not answer"):
        list(run(runner_jobs.square, tasks(1), Workers(1, start)))


@pytest.mark.slow
def test_a_process_deaf_to_the_alarm_is_ended_from_outside() -> None:
    rows = by_key(run(runner_jobs.deaf, tasks(1, 13, 2), processes(2), time_limit=0.2))
    assert rows["n:13"]["error"] == "timed out: no answer within 0.2 s"
    assert rows["n:1"]["square"] == 1
    assert rows["n:2"]["square"] == 4
