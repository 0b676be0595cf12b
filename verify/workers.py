"""Where work runs: processes of this machine, a Dask cluster, or any executor of the caller's."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from instances import InputError
from instances.extras import needs

#: Read by the numerical libraries when a worker loads them.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def _shut_down(executor: Executor) -> None:
    executor.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class Workers:
    """An executor that the runner opens, and opens again when a worker's death has broken it.

    Parameters
    ----------
    width : int
        Tasks it runs at a time.
    start : callable
        Returns a working `concurrent.futures.Executor`.
    stop : callable
        Ends one promptly, without waiting for its tasks.
    """

    width: int
    start: Callable[[], Executor]
    stop: Callable[[Executor], None] = _shut_down


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processes(jobs: int | None = None) -> Workers:
    """Return workers of this machine: spawned processes with one solver thread each.

    Parameters
    ----------
    jobs : int, optional
        How many; as many as `cores` if left out.
    """
    width = jobs or cores()
    context = multiprocessing.get_context("spawn")  # forked solvers with threads hang

    def start() -> Executor:
        for name in _THREADS:
            os.environ.setdefault(name, "1")
        return ProcessPoolExecutor(width, context, initializer=_settle_in)

    return Workers(width, start, _terminate)


def borrow(executor: Executor, width: int | None = None) -> Workers:
    """Return a caller's own executor as workers; the caller shuts it down.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        Threads, processes, MPI, ...; if its workers die it is not replaced.
    width : int, optional
        Tasks it runs at a time; as many as `cores` if left out.
    """
    return Workers(width or cores(), lambda: executor, lambda _: None)


@contextmanager
def kept(workers: Workers) -> Iterator[Workers]:
    """Provide workers that stay for several runs: nothing is loaded again for each.

    An executor that a dead worker has broken is replaced when the next one is asked for.

    Parameters
    ----------
    workers : Workers
        Ended when the block ends.
    """
    alive: list[Executor] = []

    def start() -> Executor:
        if alive and not _answers(alive[0]):
            workers.stop(alive.pop())
        if not alive:
            alive.append(workers.start())
        return alive[0]

    try:
        yield Workers(workers.width, start, lambda _: None)
    finally:
        for executor in alive:
            workers.stop(executor)


def _answers(executor: Executor) -> bool:
    """Return whether an executor still takes work."""
    try:
        executor.submit(int).cancel()
    except RuntimeError:  # BrokenExecutor, or shut down
        return False
    return True


def dask(address: str) -> Workers:
    """Return the workers of a running Dask cluster, e.g. ``tcp://10.0.0.1:8786``.

    The toolkit must be installed there. A task's time limit is not enforced from outside.

    Raises
    ------
    InputError
        If `distributed` is not installed, or no scheduler with a worker answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise InputError(needs("--dask needs Dask", "dask")) from None
    try:
        client = Client(address, timeout=5, set_as_default=False)
        client.wait_for_workers(1, timeout=30)
    except (OSError, ValueError, TimeoutError):
        raise InputError(f"no Dask scheduler with a worker answers at {address!r}") from None
    width = sum(client.ncores().values())
    executor = client.get_executor
    return Workers(width, lambda: executor(pure=False), lambda used: used.shutdown(wait=False))


def chosen(jobs: int | None, address: str | None) -> Workers:
    """Return the workers that a command's ``--jobs`` and ``--dask`` ask for.

    Raises
    ------
    InputError
        If both are given, or the cluster does not answer.
    """
    if address is None:
        return processes(jobs)
    if jobs is not None:
        raise InputError("--jobs is for this machine; a Dask cluster has its own workers")
    return dask(address)


def _settle_in() -> None:
    """Prepare a worker process: quiet, deaf to Ctrl-C, gone when its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout.flush()
    os.dup2(2, 1)  # some solvers print banners; stdout belongs to the report
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _terminate(executor: Executor) -> None:
    """Shut a process pool down at once, running tasks and all."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
