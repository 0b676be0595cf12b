"""Algorithm 3 with the paper's own loops, under a name that studies and benchmarks take."""

from __future__ import annotations

import heuristics
from instances import Instance, Schedule


def tuple_by_tuple(instance: Instance) -> Schedule:
    """Return Algorithm 3's schedule as the paper finds it: every tuple of thresholds, O(K⁶ log K).

    Memory is charged by eqs. (15) and (16), so that the schedule is that of ``"balance"``.
    """
    schedule = heuristics.solve(instance, "printed").schedule
    assert schedule is not None, "every algorithm returns a schedule"
    return schedule
