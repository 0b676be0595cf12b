"""Getting the threshold search compiled, on a first run beside Algorithm 3's kernels.

A first run needs two large kernels: Algorithm 3's, for the start, and the search's. While this
process compiles the first, a child compiles the second into numba's cache on disk, from which this
process then loads it. Whatever goes wrong with the child, this process compiles the search itself.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from instances import stopwatch

#: Set for the child, so that it has none itself; set by a user, it keeps children away.
ALONE = "BALANCE_COMPILE_ALONE"
#: Seconds that the child may take after this process has compiled its part.
PATIENCE_S = 120.0
_CHILD = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
_CHILD += "from formulations.ready import ready_solver; ready_solver()"


def ready_solver() -> None:
    """Run the threshold search on two users, so that its kernel is compiled and in the cache."""
    from instances import generate

    from .api import solve

    solve(generate("paper-4a", users=2, seed=0), solver="threshold", start=False)


@contextmanager
def search_beside() -> Iterator[None]:
    """Have a child compile the search if this process has to compile something in the context.

    Leaving the context waits for the child; an exception (Ctrl-C) ends it.
    """
    if not _worthwhile():
        yield
        return
    from numba.core.event import install_listener

    from instances.kernels import AtCompiling

    children: list[subprocess.Popen[bytes]] = []
    try:
        with install_listener("numba:compile", AtCompiling(lambda: children.extend(_start()))):
            yield
        _wait(children)
    finally:
        for child in children:
            child.kill()
            child.wait()


def _wait(children: list[subprocess.Popen[bytes]]) -> None:
    """Wait for the child's end, off the clock; after `PATIENCE_S` the search is compiled here."""
    began = time.perf_counter()
    for child in children:
        with suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE_S)
    stopwatch.leave_out(time.perf_counter() - began)


def _worthwhile() -> bool:
    """Return whether a child would help, and is safe: not from a child or an embedded Python."""
    named_python = Path(sys.executable or "").stem.lower().startswith("python")
    several_cores = not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) > 1
    alone = ALONE in os.environ or multiprocessing.parent_process() is not None
    if alone or not named_python or not several_cores or getattr(sys, "frozen", False):
        return False
    from heuristics.threshold_search import search
    from instances.kernels import is_cached

    return is_cached(search)


def _start() -> list[subprocess.Popen[bytes]]:
    """Return the child that compiles the search; none if it cannot be started."""
    quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    quiet["creationflags"] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    command = [sys.executable, "-P", "-c", _CHILD, json.dumps(sys.path)]
    try:
        return [subprocess.Popen(command, env=os.environ | {ALONE: "1"}, **quiet)]
    except OSError:
        return []
