"""Third-party solvers for tests of the benchmark: honest, lying, hanging, crashing.

On up to `SMALL` users all of them behave, so that they get through the warm-up.
"""

from __future__ import annotations

import os
import time

from instances import Instance, Result, Schedule

SMALL = 9


def nobody(instance: Instance, time_limit: float) -> Schedule:
    """Serve nobody: feasible, claims nothing."""
    return Schedule(z=0.0)


def impatient(instance: Instance) -> Schedule:
    """Take no time limit."""
    return Schedule(z=0.0)


def modest(instance: Instance, time_limit: float) -> Result:
    """Call the empty schedule optimal; wrong wherever somebody can be served."""
    return _claim(Schedule(z=0.0))


def greedy(instance: Instance, time_limit: float) -> Result:
    """Call it optimal to serve everybody in AD, feasible or not."""
    return _claim(Schedule(z=1.0, ad=tuple(user.id for user in instance.users)))


def counting(instance: Instance, time_limit: float) -> Result:
    """Report one more user than the schedule serves."""
    return _claim(Schedule(z=0.0)).model_copy(update={"objective": 1, "bound": 1})


def hanging(instance: Instance, time_limit: float) -> Schedule:
    """Ignore the time limit."""
    while len(instance.users) > SMALL:
        time.sleep(1)
    return Schedule(z=0.0)


def crashing(instance: Instance, time_limit: float) -> Schedule:
    """Raise an exception."""
    if len(instance.users) > SMALL:
        raise RuntimeError("out of ideas # at node 7")
    return Schedule(z=0.0)


def dying(instance: Instance, time_limit: float) -> Schedule:
    """Take the process with it."""
    if len(instance.users) > SMALL:
        os.abort()
    return Schedule(z=0.0)


def chatty(instance: Instance, time_limit: float) -> Schedule:
    """Print on stdout, as HiGHS does with its banner."""
    os.write(1, b"{not json}\n")
    print("Running HiGHS")
    return Schedule(z=0.0)


def confused(instance: Instance, time_limit: float) -> int:
    """Return something else."""
    return 7


def _claim(schedule: Schedule) -> Result:
    return Result(
        status="optimal",
        problem="P1",
        solver="test",
        solver_version="1",
        objective=schedule.served,
        bound=schedule.served,
        runtime_s=0.0,
        schedule=schedule,
    )
