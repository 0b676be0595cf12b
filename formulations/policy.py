"""The exact optimum as a scheduling policy: ``--policy formulations.policy:optimal``.

Functions of one instance that return a `Schedule`, the form in which ``heuristics.replay``,
``heuristics.solve`` and ``verify.bound`` take an algorithm as ``module:function``.
"""

from __future__ import annotations

from instances import Instance, Schedule

from .api import solve

#: Seconds for one instance; what is best by then is returned.
TIME_LIMIT_S = 10.0


def optimal(instance: Instance) -> Schedule:
    """Return a schedule of P1 that serves the most users (the best found within 10 s)."""
    result = solve(instance, time_limit=TIME_LIMIT_S)
    if result.schedule is None:
        raise RuntimeError(f"no schedule in {TIME_LIMIT_S:g} s")
    return result.schedule
