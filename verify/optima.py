"""Certified optima for the checks: no algorithm's start, and the judge has the last word."""

from __future__ import annotations

from typing import Any

import formulations
from instances import Instance, Problem, Status

from .judge import check


class NotProven(RuntimeError):
    """A solver stopped before it had an optimum, so the check that asked is undecided."""


class WrongAnswer(RuntimeError):
    """A solver's optimum that the judge refuses."""


def optimum(instance: Instance, problem: Problem = "P1", **request: Any) -> int:
    """Return the most users that can be served, or the most that they are worth.

    Parameters
    ----------
    instance : Instance
    problem : {"P1", "P2", "P3"}
    **request
        As `formulations.solve` takes it: ``z``, ``lam``, ``modes``, ``solver``, ``time_limit``.

    Raises
    ------
    NotProven
        If the solver stopped early.
    WrongAnswer
        If the judge refuses its schedule, or counts other users than it says.
    """
    result = formulations.solve(instance, problem, start=False, **request)
    if result.status is not Status.OPTIMAL or result.schedule is None:
        raise NotProven(f"{result.solver}: {problem} {result.status}, {result.stopped_by}")
    report = check(instance, result.schedule, problem)
    if not report.feasible or report.value != result.objective:
        raise WrongAnswer(
            f"{result.solver}: {problem}: says {result.objective}, judged {report.to_dict()}"
        )
    return report.value
