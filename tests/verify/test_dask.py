"""The runner on a real Dask scheduler with two workers on this machine."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from instances import InputError
from instances.commandline import Exit
from tests.verify import runner_jobs
from verify import bench, bound, sweep
from verify.bench_records import Outcome, read_csv
from verify.results import ResultsFile
from verify.runner import Task, run
from verify.workers import dask

distributed = pytest.importorskip("distributed")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    previous = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address
    if previous is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = previous


def test_rows_and_errors_come_back(address: str) -> None:
    workers = dask(address)
    assert workers.width == 2
    tasks = [Task(f"n:{number}", number) for number in range(12)]
    rows = {row["key"]: row for row in run(runner_jobs.moody, tasks, workers)}
    assert {key for key, row in rows.items() if "error" in row} == {"n:3", "n:5", "n:7"}
    assert rows["n:11"]["square"] == 121


def test_a_lost_worker_loses_nothing_and_repeats_no_row(address: str, tmp_path: Path) -> None:
    folder = tmp_path / "marks"
    folder.mkdir()
    tasks = [Task(f"n:{number}", (str(folder), number)) for number in range(60)]
    rows, victim = [], None
    with ResultsFile(tmp_path / "results.jsonl", {}) as results:
        for row in run(runner_jobs.counted, tasks, dask(address), results):
            rows.append(row)
            if victim is None and len(rows) == 10:
                victim = row["worker"]
                os.kill(victim, signal.SIGKILL)
    assert Counter(row["key"] for row in rows) == {f"n:{number}": 1 for number in range(60)}
    assert not [row for row in rows if "error" in row]
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 61


def kill_a_worker(address: str, results: Path, rows: int, over: threading.Event) -> bool:
    """Wait until a run has that many rows, then end one of its workers; return whether it did."""
    with distributed.Client(address, set_as_default=False) as client:
        victim = next(iter(client.run(os.getpid).values()))
    while not over.wait(0.01):  # kernels may have to be compiled first
        if results.exists() and results.read_bytes().count(b"\n") > rows:
            os.kill(victim, signal.SIGKILL)
            return True
    return False


@pytest.mark.parametrize("command", [pytest.param("bound", marks=pytest.mark.slow), "sweep"])
def test_a_cluster_is_the_same_command(address: str, tmp_path: Path, command: str) -> None:
    """A worker of the two dies half-way: every instance has one row, and the command holds."""
    results = tmp_path / "results.jsonl"
    slow = "tests.verify.runner_jobs:unhurried"
    study = tmp_path / "study.toml"
    study.write_text(
        f"""title = "A cluster"\nalgorithms = ["{slow}"]\nseeds = "1-40"\n"""
        """instances = { family = "tiny" }\ngrid = { users = [2, 3] }\n"""
    )
    begin = {
        "bound": partial(bound.main, instances=80, family=["tiny"], algorithm=slow),
        "sweep": partial(sweep.main, str(study)),
    }
    with ThreadPoolExecutor(1) as aside:
        over = threading.Event()
        killed = aside.submit(kill_a_worker, address, results, 15, over)
        try:
            held = begin[command](dask=address, output=tmp_path)
        finally:
            over.set()
        assert killed.result(), "no worker was killed"
    rows = [json.loads(line) for line in results.read_text().splitlines()[1:]]
    assert len({row["key"] for row in rows}) == len(rows) == 80
    assert not [row for row in rows if "error" in row]
    assert held == Exit.HELD


@pytest.mark.slow
def test_a_benchmark_on_a_cluster_loses_no_run(address: str, tmp_path: Path) -> None:
    asked = {"solvers": ["threshold", "heuristics:balance"], "users": ["8"], "seeds": ["1-10"]}
    with ThreadPoolExecutor(1) as aside:
        over = threading.Event()
        killed = aside.submit(kill_a_worker, address, tmp_path / "runs.csv", 40, over)
        try:
            held = bench.main(**asked, dask=address, output=tmp_path)
        finally:
            over.set()
        assert killed.result(), "no worker was killed"
    records = read_csv(tmp_path / "runs.csv")
    assert len({(record.instance, record.line) for record in records}) == len(records) == 20
    assert {record.outcome for record in records} == {Outcome.SOLVED, Outcome.ANSWERED}
    assert all(record.machine for record in records)
    assert held == Exit.HELD


@pytest.mark.slow
def test_a_task_that_kills_every_worker_is_one_row(address: str) -> None:
    tasks = [Task(f"n:{number}", number) for number in (12, 13, 14)]
    rows = {row["key"]: row for row in run(runner_jobs.moody, tasks, dask(address))}
    assert "KilledWorker" in rows["n:13"]["error"]
    assert rows["n:12"]["square"] == 144
    assert rows["n:14"]["square"] == 196


def test_nobody_at_the_address_is_one_line() -> None:
    with pytest.raises(InputError, match="no Dask scheduler"):
        dask("tcp://127.0.0.1:9")
