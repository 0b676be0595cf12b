"""Theorem 1 on one instance: does an algorithm serve at least half of the certified optimum?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import formulations
from formulations.api import DEFAULT_SOLVER
from instances import InputError, Instance, Problem, Result, Schedule, values

from . import algorithms
from .grid_loss import bounds, grid_loss
from .judge import check
from .sources import Sources

#: The faults that can be found, and how a report calls them.
FAULTS = {
    "infeasible": "infeasible schedules",
    "malformed": "malformed schedules",
    "half_p1": "below half of P1's optimum",
    "half_p2": "below half of P2's optimum",
    "above": "above the certified optimum",
    "p2_above_p1": "P2's optimum above P1's",
    "solver": "solver's schedule refused",
}


@dataclass(frozen=True)
class Guarantee:
    """What is checked on every instance of a run, and by whom.

    Parameters
    ----------
    sources : Sources
        Where the instances come from.
    algorithm : str
        As `algorithms.find` takes it.
    solver : str
        The exact solver.
    time_limit : float, optional
        Wall seconds for each exact solution.
    fine_grid : int, optional
        Points of a finer grid of z on which P1 is solved too, to see what the instance's loses.
    """

    sources: Sources
    algorithm: str = "balance"
    solver: str = DEFAULT_SOLVER
    time_limit: float | None = None
    fine_grid: int | None = None

    def __call__(self, key: str) -> dict[str, Any]:
        """Return the row of the instance with that key."""
        try:
            instance = self.sources.load(key)
        except InputError as error:
            return {"skipped": str(error)}
        return self.examine(instance)

    def examine(self, instance: Instance) -> dict[str, Any]:
        """Compare the algorithm with both certified optima on one instance.

        Returns
        -------
        dict
            ``users``; ``served`` (None if the schedule is refused); ``p1`` and ``p2``: proven
            [lower, upper], and ``fine``, P1's on the finer grid if there is one; ``faults``: kind
            to sentence; ``solver``; ``seconds``. Or ``skipped``:
            why the bound means nothing here or the solver refuses the instance.
        """
        if values.differ(instance):
            return {"skipped": f"{self.algorithm}: the paper's bound {values.COUNTS_USERS}"}
        begin = time.perf_counter()
        served, split, faults = self._judged(instance)
        try:
            p1, p2 = self._optimum(instance, "P1"), self._optimum(instance, "P2")
        except ValueError as refusal:
            return {"skipped": str(refusal)}
        finer = {} if self.fine_grid is None else {"fine": self._fine(instance, p1)}
        intervals = bounds(instance, p1), bounds(instance, p2)
        faults |= dict(_refused(instance, p1)) | dict(_refused(instance, p2))
        faults |= dict(_comparisons(served, split, *intervals))
        return {
            "users": len(instance.users),
            "served": served,
            "p1": intervals[0],
            "p2": intervals[1],
            **finer,
            "faults": faults,
            "solver": f"{p1.solver} ({p1.solver_version})",
            "seconds": round(time.perf_counter() - begin, 6),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return what decides the rows, as JSON data."""
        return {
            "algorithm": self.algorithm,
            "solver": self.solver,
            "time_limit": self.time_limit,
            **({} if self.fine_grid is None else {"fine_grid": self.fine_grid}),
            **asdict(self.sources),
        }

    def _judged(self, instance: Instance) -> tuple[int | None, bool, dict[str, str]]:
        """Return the users served (None: refused), whether memory was split, and the faults."""
        try:
            schedule = algorithms.run(self.algorithm, instance)
            split = schedule.lam is not None
            report = check(instance, schedule, "P2" if split else "P1")
        except ValueError as error:
            return None, False, {"malformed": str(error)}
        if report.feasible:
            return report.value, split, {}
        kinds = ", ".join(f"{kind} × {count}" for kind, count in report.violations.items())
        return None, split, {"infeasible": f"{self.algorithm}: {kinds}"}

    def _fine(self, instance: Instance, coarse: Result) -> tuple[int, int]:
        """Return the proven bounds on P1's optimum on the finer grid."""
        found = grid_loss(instance, self.fine_grid or 0, coarse, self.solver, self.time_limit)
        return found.fine

    def _optimum(self, instance: Instance, problem: Problem) -> Result:
        return formulations.solve(instance, problem, self.solver, time_limit=self.time_limit)


def find_solver(name: str) -> None:
    """See that an exact solver exists and is installed.

    Raises
    ------
    InputError
        If it does not; the message lists those that do, or says what to install.
    """
    from formulations.backend import create

    try:
        create(name).version()
    except (ValueError, ImportError) as error:
        raise InputError(str(error)) from None


def _refused(instance: Instance, result: Result) -> Iterator[tuple[str, str]]:
    """Yield what the judge or a recount says against an exact solver's answer."""
    schedule: Schedule | None = result.schedule
    if schedule is None:
        return
    report = check(instance, schedule, result.problem)
    if not report.feasible:
        yield (
            "solver",
            f"{result.problem}: {result.solver}: violates {', '.join(report.violations)}",
        )
    elif result.objective != report.value:
        yield (
            "solver",
            f"{result.problem}: {result.solver}: says {result.objective}, serves {report.value}",
        )


def _comparisons(
    served: int | None, split: bool, p1: tuple[int, int], p2: tuple[int, int]
) -> Iterator[tuple[str, str]]:
    """Yield the comparisons that fail whatever the optima are within their bounds."""
    if p2[0] > p1[1]:
        yield "p2_above_p1", f"P2 serves {p2[0]}, P1 at most {p1[1]}"
    if served is None:
        return
    if 2 * served < p1[0]:
        yield "half_p1", f"serves {served}, less than half of P1's {p1[0]}"
    if 2 * served < p2[0]:
        yield "half_p2", f"serves {served}, less than half of P2's {p2[0]}"
    if served > p1[1] or (split and served > p2[1]):
        yield "above", f"serves {served}, above the certified optimum (P1 {p1[1]}, P2 {p2[1]})"
