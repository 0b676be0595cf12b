"""Getting the compiled kernels ready: the first run on a machine compiles them (10 to 30 s).

Compiling happens inside whatever first calls a kernel; left to chance, it would count against the
time limit of that instance.
"""

from __future__ import annotations

from collections.abc import Callable

from formulations.ready import ready_solver

#: Instances of the warm-up: (family, users, seed). The first two may be optimal from the start, the
#: third also makes the boxes of HiGHS and SCIP split.
WARM_UP = (("paper-4a", 8, 1), ("paper-5a", 9, 4), ("paper-4a", 8, 6))
#: Seconds that a warm-up solve may take, as far as the solver keeps to limits.
WARM_UP_LIMIT_S = 20.0


def ready_algorithms() -> None:
    """Run Algorithm 3 on two users, so that its kernels are compiled and in the cache."""
    import heuristics
    import instances

    heuristics.solve(instances.generate("paper-4a", users=2, seed=0))


def ready_enumeration() -> None:
    """Find all optima of two users, so that the kernels of `grid_optima` are in the cache."""
    from instances import build_tables, generate

    from .grid_optima import optima

    optima(build_tables(generate("paper-4a", users=2, seed=0)))


#: One for each large kernel, so that two cores compile side by side.
READY: tuple[Callable[[], None], ...] = (ready_solver, ready_algorithms)
