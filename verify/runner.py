"""Many tasks on any executor: bounded memory, resumable, and no crash or time-out ends the run."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from .keys import Keys, digest
from .parcels import bounds
from .results import ResultsFile, Row
from .workers import Workers, borrow

#: Seconds after a task's time limit when its process is ended from outside Python.
GRACE = 5.0
#: Seconds of getting the workers ready after which a word is said about it, and which.
PATIENCE_SECONDS = 4.0
STARTING = "starting the workers; a first run also compiles the kernels (10 to 30 s)"
#: Seconds that fresh workers may take to answer.
START_SECONDS = 120.0


class WorkersLost(RuntimeError):
    """The workers do not answer any more; what is finished is on disk."""


@dataclass(frozen=True)
class Task:
    """One piece of work.

    Parameters
    ----------
    key : str
        Unique in a run; `--resume` recognises finished work by it.
    payload : picklable
        The function's argument; small, so that workers build the data themselves.
    """

    key: str
    payload: Any


Function = Callable[[Any], Row]
Parcel = list[Task]
Answer = tuple[list[str], float]


def run(
    function: Function,
    tasks: Iterable[Task],
    workers: Workers | Executor,
    results: ResultsFile | None = None,
    time_limit: float | None = None,
    prepare: Sequence[Callable[[], object]] = (),
) -> Iterator[Row]:
    """Yield one row for each task: those on disk first, then the others as they finish.

    A task that raises, runs out of time or kills its worker gives the row
    ``{"key": ..., "error": text}``. When a worker dies, the tasks in flight are tried again one
    by one, so that only the culprit gets such a row.

    Parameters
    ----------
    function : callable
        Importable by the workers; takes a task's payload, returns JSON data.
    tasks : iterable of Task
        Consumed as workers become free.
    workers : Workers or concurrent.futures.Executor
    results : ResultsFile, optional
        Every row is appended before it is yielded; tasks whose key is there are not run again.
    time_limit : float, optional
        Seconds for one task. On Dask it is up to the function to keep it.
    prepare : sequence of callable
        Run by the workers first, outside every limit: what compiles kernels into the cache.

    Raises
    ------
    WorkersLost
        If new workers cannot be had.
    """
    done = Keys(row["key"] for row in results.rows()) if results else Keys(())
    yield from _first_rows(results, done)
    left = (task for task in tasks if task.key not in done)
    first = next(left, None)
    if first is None:
        return  # without starting workers
    crew = workers if isinstance(workers, Workers) else borrow(workers)
    dispatcher = _Dispatcher(function, chain([first], left), crew, time_limit)
    dispatcher.prepare(prepare)
    for lines in dispatcher.answers():
        if results:
            results.append(lines)
        yield from map(json.loads, lines)


def _first_rows(results: ResultsFile | None, done: Keys) -> Iterator[Row]:
    """Yield the rows on disk; of those with the same key, the first."""
    seen: set[bytes] = set()
    for row in results.rows() if results else ():
        mark = digest(row["key"]) if done.repeated else b""
        if mark in done.repeated:
            if mark in seen:
                continue
            seen.add(mark)
        yield row


class _Dispatcher:
    """Keeps two parcels per worker in flight and replaces broken executors."""

    def __init__(
        self, function: Function, tasks: Iterator[Task], workers: Workers, limit: float | None
    ) -> None:
        self.function, self.tasks, self.workers, self.limit = function, tasks, workers, limit
        self.in_flight: dict[Future[Answer], Parcel] = {}
        self.executor: Executor | None = None
        self.parcel_size, self.bounds = 1, bounds(workers.width)
        self.seconds, self.finished = 1e-9, 0

    def prepare(self, functions: Sequence[Callable[[], object]]) -> None:
        """Have the workers run some functions side by side; what fails there will fail later."""
        if not functions:
            return
        self.executor = self.workers.start()
        try:
            started = [self.executor.submit(function) for function in functions]
            late = wait(started, PATIENCE_SECONDS).not_done
            if late:
                print(STARTING, file=sys.stderr, flush=True)
            wait(late)
        except BaseException:
            self._close()
            raise

    def answers(self) -> Iterator[list[str]]:
        """Yield encoded rows, a parcel at a time."""
        try:
            while True:
                suspects = self._fill()
                if not self.in_flight and not suspects:
                    return
                finished, _ = wait(self.in_flight, return_when=FIRST_COMPLETED)
                for future in finished:
                    lines, failed = self._collect(future)
                    suspects += failed
                    if lines:
                        yield lines
                if suspects:
                    yield from self._drain(suspects)
                    yield from self._one_by_one(suspects)
        finally:
            self._close()

    def _fill(self) -> Parcel:
        """Submit parcels; return the tasks that a broken executor refused."""
        while len(self.in_flight) < 2 * self.workers.width:
            parcel = list(islice(self.tasks, self.parcel_size))
            if not parcel:
                break
            try:
                self._submit(parcel)
            except RuntimeError:  # BrokenExecutor, or shut down by its owner
                return parcel
        return []

    def _submit(self, parcel: Parcel) -> Future[Answer]:
        if self.executor is None:
            self.executor = self.workers.start()
        future = self.executor.submit(_work, self.function, parcel, self.limit)
        self.in_flight[future] = parcel
        return future

    def _collect(self, future: Future[Answer]) -> tuple[list[str], Parcel]:
        """Return a finished parcel's rows, or the tasks that have none."""
        parcel = self.in_flight.pop(future)
        if future.cancelled() or future.exception() is not None:
            return [], parcel
        lines, seconds = future.result()
        self.seconds += seconds
        self.finished += len(parcel)
        self.parcel_size = self.bounds.size(self.parcel_size, self.seconds / self.finished)
        return lines, []

    def _drain(self, suspects: Parcel) -> Iterator[list[str]]:
        """Wait for everything in flight, adding what fails to the suspects."""
        while self.in_flight:
            finished, _ = wait(self.in_flight, return_when=FIRST_COMPLETED)
            for future in finished:
                lines, failed = self._collect(future)
                suspects += failed
                if lines:
                    yield lines

    def _one_by_one(self, suspects: Parcel) -> Iterator[list[str]]:
        """Run suspects alone, so that a dying worker names its task."""
        fresh = False
        for task in suspects:
            if not fresh:
                self._restart()
            begin = time.monotonic()
            future = self._submit([task])
            wait([future])
            lines, failed = self._collect(future)
            fresh = not failed
            if failed:
                lines = [_lost(task, future, time.monotonic() - begin, self.limit)]
            yield lines
        if not fresh:
            self._restart()

    def _restart(self) -> None:
        """Replace the executor and see that its workers answer."""
        self._close()
        try:
            self.executor = self.workers.start()
            self.executor.submit(_present, self.function).result(START_SECONDS)
        except Exception as error:
            raise WorkersLost(f"the workers do not answer ({_text(error)})") from error

    def _close(self) -> None:
        if self.executor is not None:
            self.workers.stop(self.executor)
        self.executor = None


def _present(function: Function) -> bool:
    """Show that a worker lives and can import the function."""
    return callable(function)


def _lost(task: Task, future: Future[Answer], seconds: float, limit: float | None) -> str:
    """Return the row of a task that took its worker down when it ran alone."""
    if limit is not None and seconds >= limit:
        error = f"timed out: no answer within {limit:g} s"
    elif future.cancelled():
        error = "crashed: its worker was lost"
    else:
        error = f"crashed: {_text(future.exception())}"
    return json.dumps({"key": task.key, "error": error})


def _work(function: Function, parcel: Parcel, limit: float | None) -> Answer:
    """Run a parcel in a worker; return its rows encoded, and the seconds they took."""
    begin = time.perf_counter()
    lines = [_row(function, task, limit) for task in parcel]
    return lines, time.perf_counter() - begin


def _row(function: Function, task: Task, limit: float | None) -> str:
    try:
        with _limited(limit):
            return json.dumps({"key": task.key, **function(task.payload)}, allow_nan=False)
    except (Exception, SystemExit) as error:
        return json.dumps({"key": task.key, "error": _text(error)})


@contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    """Raise TimeoutError after some seconds; end the process if that does not help.

    Only a process's main thread can be interrupted; elsewhere (Dask) nothing happens.
    """
    here = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if seconds is None or not here:
        yield
        return

    def ring(*_: object) -> None:
        raise TimeoutError(f"no answer within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _text(error: BaseException | None) -> str:
    """Return an exception in one line, with the place that raised it."""
    if error is None:
        return "no answer"
    line = " ".join(f"{type(error).__name__}: {error}".split())
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return line[:500] + place
