"""Getting the compiled kernels ready: the first run on a machine compiles them, half a minute.

Compiling happens inside whatever first calls a kernel; left to chance, it would count against the
time limit of that instance.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable

#: Instances of the warm-up: (family, users, seed). Two, so that a start that is optimal at once
#: on one does not leave the search cold.
WARM_UP = (("paper-4a", 8, 1), ("paper-5a", 9, 4))
#: Seconds that a warm-up solve may take, as far as the solver keeps to limits.
WARM_UP_LIMIT_S = 20.0
#: Seconds after which people are told that preparing takes a while, and how.
NOTICE_SECONDS = 4.0
NOTICE = "compiling the kernels; only the first run does that (about half a minute)"


def ready_algorithms() -> None:
    """Run Algorithm 3 on two users, so that its kernels are compiled and in the cache."""
    import heuristics
    import instances

    heuristics.solve(instances.generate("paper-4a", users=2, seed=0))


def ready_solver() -> None:
    """Run the threshold search on two users, so that its kernel is compiled and in the cache."""
    import formulations
    import instances

    instance = instances.generate("paper-4a", users=2, seed=0)
    formulations.solve(instance, solver="threshold", start=False)


def ready_enumeration() -> None:
    """Find all optima of two users, so that the kernels of `grid_optima` are in the cache."""
    from instances import build_tables, generate

    from .grid_optima import optima

    optima(build_tables(generate("paper-4a", users=2, seed=0)))


def prepare(functions: Iterable[Callable[[], object]]) -> None:
    """Run some of these functions here; say on stderr why nothing happens if it takes long."""
    notice = threading.Timer(NOTICE_SECONDS, print, [NOTICE], {"file": sys.stderr, "flush": True})
    notice.daemon = True
    notice.start()
    try:
        for function in functions:
            function()
    finally:
        notice.cancel()


#: One for each large kernel, so that two cores compile side by side.
READY: tuple[Callable[[], None], ...] = (ready_solver, ready_algorithms)
