"""Getting the compiled kernels ready: the first run on a machine compiles them, half a minute.

Compiling happens inside whatever first calls a kernel; left to chance, it would count against the
time limit of that instance.
"""

from __future__ import annotations

from collections.abc import Callable


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


#: One for each large kernel, so that two cores compile side by side.
READY: tuple[Callable[[], None], ...] = (ready_solver, ready_algorithms)
