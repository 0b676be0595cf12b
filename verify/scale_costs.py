"""What a run costs, measured: an instance, a row, a parcel, a scheduler's task. CPU seconds."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from instances import InputError
from instances.extras import needs
from instances.files import describe, read_json

from .guarantee import Guarantee
from .outcome import Outcome
from .parcels import SECONDS
from .results import ResultsFile
from .runner import Task, run
from .sources import Sources
from .workers import borrow

Seconds = Annotated[float, Field(ge=0)]

#: Rows that the runner is timed with; parcels, and a cluster's tasks.
ROWS = 20_000
PARCEL = 50
CLUSTER_TASKS = 400


class Costs(BaseModel):
    """Measured costs in CPU seconds, which other work on the machine disturbs less than wall time.

    Parameters
    ----------
    instance_s : list of float
        Of some instances: drawing, the algorithm, both certified optima and the judge.
    row_s : float
        Runner, for each row: parsing, counting, appending.
    parcel_s : float
        Runner, for each parcel: submitting and collecting.
    scheduler_s : float
        Dask, for each parcel: scheduler and client together.
    row_bytes : float
        Mean length of a line of ``results.jsonl``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    instance_s: Annotated[list[Seconds], Field(min_length=1)]
    row_s: Seconds
    parcel_s: Seconds
    scheduler_s: Seconds
    row_bytes: Seconds

    @property
    def mean_s(self) -> float:
        """Of an instance."""
        return sum(self.instance_s) / len(self.instance_s)


def load_costs(path: Path) -> Costs:
    """Return costs that were saved as JSON.

    Raises
    ------
    InputError
        In one line: the file, the field, what is wrong.
    """
    document = read_json(path)
    try:
        return Costs.model_validate(document)
    except ValidationError as error:
        raise InputError(f"{path}: {describe(error, document)}") from None


def measure(sources: Sources) -> Costs:
    """Return the costs of ``verify.bound`` on this machine.

    Parameters
    ----------
    sources : Sources
        The sample of instances that is solved, after some that warm up.

    Raises
    ------
    InputError
        If `distributed` is missing.
    """
    guarantee, keys = Guarantee(sources), list(sources)
    for key in keys[: len(sources.families) * 2]:
        guarantee(key)
    seconds, lines = [], []
    for key in keys:
        begin = time.process_time()
        row = guarantee(key)
        seconds.append(round(time.process_time() - begin, 6))
        lines.append(json.dumps({"key": key, **row}))
    row_s, parcel_s = runner_seconds(lines)
    return Costs(
        instance_s=seconds,
        row_s=row_s,
        parcel_s=parcel_s,
        scheduler_s=scheduler_seconds(),
        row_bytes=sum(len(line.encode()) + 1 for line in lines) / len(lines),
    )


class _Canned(Executor):
    """Answers every parcel at once with lines that are ready, so that only the runner works."""

    def __init__(self, lines: Sequence[str], tasks_in_parcel: int) -> None:
        self.lines = lines
        self.seconds_each = 0.99 * SECONDS / tasks_in_parcel

    def submit(self, fn: Callable[..., Any], /, *arguments: Any, **_: Any) -> Future[Any]:
        """Return a finished future with a line and a pretended time for each task."""
        parcel = arguments[1]
        lines = [self.lines[task.payload % len(self.lines)] for task in parcel]
        future: Future[Any] = Future()
        future.set_result((lines, self.seconds_each * len(parcel)))
        return future


def runner_seconds(lines: Sequence[str], rows: int = ROWS) -> tuple[float, float]:
    """Return the CPU seconds that the runner spends on a row, and on a parcel beside its rows."""
    single, many = _dispatched(lines, rows, 1), _dispatched(lines, rows, PARCEL)
    parcel_s = max(0.0, (single - many) / (1 - 1 / PARCEL))
    return max(0.0, single - parcel_s), parcel_s


def _dispatched(lines: Sequence[str], rows: int, tasks_in_parcel: int) -> float:
    """Return the CPU seconds a row for rows that are written and counted, in parcels of that size.

    A canned parcel pretends to take the `parcels.SECONDS` that make the runner choose that size.
    """
    outcome = Outcome()
    canned = _Canned(lines, tasks_in_parcel)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        with ResultsFile(Path(folder) / "results.jsonl", {}) as results:
            tasks: Iterator[Task] = (Task(f"all:{n}", n) for n in range(rows))
            for row in run(_nothing, tasks, borrow(canned, width=2), results):
                outcome.add(row)
        return (time.process_time() - begin) / rows


def _nothing(*_: object) -> dict[str, Any]:
    return {}


def scheduler_seconds(tasks: int = CLUSTER_TASKS) -> float:
    """Return the CPU seconds that Dask's scheduler and client spend on a parcel.

    Both live in this process, beside two workers in processes of their own.

    Raises
    ------
    InputError
        If `distributed` is missing.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise InputError(needs("measuring a cluster needs Dask", "dask")) from None
    payload = [Task(f"all:{n}", f"all:{n}") for n in range(PARCEL)]
    answer = ["x" * 250] * PARCEL
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster, set_as_default=False) as client:
        executor = client.get_executor(pure=False)
        list(executor.map(_echo, [answer] * 20))
        begin = time.process_time()
        flying: set[Future[Any]] = set()
        for _ in range(tasks):
            flying.add(executor.submit(_echo, answer, payload))
            if len(flying) >= 4:
                flying = set(wait(flying, return_when=FIRST_COMPLETED).not_done)
        wait(flying)
        return (time.process_time() - begin) / tasks


def _echo(answer: list[str], _: object = None) -> list[str]:
    return [*answer, str(os.getpid())]
