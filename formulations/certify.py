"""A solver's answer made a proof: relax, recheck, restrict.

The relaxation (tables built down) can only serve more users than the instance, so its bound is an
upper bound; its schedule, rechecked in rationals, is a lower bound if it holds. If it does not, the
restriction (tables built up) is solved: whatever it accepts holds. Only equal ends are an optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from instances import CostTables, Instance, Problem, Schedule, build_tables, stopwatch
from instances.assignment import Assignment, fits
from instances.feasible import is_feasible
from instances.schedule import ROUNDING
from instances.values import total, unit, worth

from .backend import Answer, Backend, Request
from .starts import cautious_start


@dataclass(frozen=True)
class Certificate:
    """What is proven about one request.

    Parameters
    ----------
    schedule : Schedule or None
        The best schedule found; it satisfies the instance's inequalities exactly.
    upper : int
        Proven upper bound on the objective.
    lower : int or None
        The schedule's objective; None without one.
    stopped_by : str or None
        Why the search ended early, or ``"rounding"`` (`ROUNDING`); None when it has proven an
        optimum.
    statistics : dict
        The back end's counters, and ``build_s``, ``solve_s``, ``certify_s``.
    """

    schedule: Schedule | None
    upper: int
    lower: int | None = None
    stopped_by: str | None = None
    statistics: dict[str, Any] = field(default_factory=dict)

    @property
    def proven(self) -> bool:
        """Whether the schedule is an optimum."""
        return self.lower == self.upper


def certify(
    instance: Instance,
    backend: Backend,
    request: Request,
    problem: Problem = "P1",
    tables: CostTables | None = None,
) -> Certificate:
    """Return a back end's answer with both ends proven.

    Parameters
    ----------
    instance : Instance
    backend : Backend
    request : Request
        Its start must fit the tables built down; like an answer, it counts once it holds exactly.
    problem : {"P1", "P2", "P3"}
        Which memory rows count.
    tables : CostTables, optional
        The instance's tables built down, if they are at hand.

    Returns
    -------
    Certificate
    """
    return _Certifier(instance, backend, request, problem).run(tables)


class _Certifier:
    def __init__(
        self, instance: Instance, backend: Backend, request: Request, problem: Problem
    ) -> None:
        self.instance, self.backend = instance, backend
        self.request, self.problem = request, problem
        self.deadline = (
            None if request.time_limit is None else stopwatch.seconds() + request.time_limit
        )
        self.seconds = {"build_s": 0.0, "solve_s": 0.0, "certify_s": 0.0}
        self.statistics: dict[str, Any] = {}

    def run(self, tables: CostTables | None) -> Certificate:
        if tables is None:
            tables = self._tables(rounded_up=False)
        answer = self._solve(tables, self.request)
        upper = min(answer.bound * unit(self.instance), total(self.instance))
        best, stopped_by = self._checked(answer.assignment), answer.stopped_by
        close = False
        if answer.assignment is not None and best is None:
            best, stopped_by = self._instead(stopped_by)
            close = stopped_by is None and fits(tables, answer.assignment)
        lower = None if best is None else worth(self.instance, best)
        if close and (lower or 0) < upper:
            stopped_by = ROUNDING
        statistics = self.statistics | self.seconds
        return Certificate(best, max(upper, lower or 0), lower, stopped_by, statistics)

    def _instead(self, stopped_by: str | None) -> tuple[Schedule | None, str | None]:
        """Return the best schedule that holds where the relaxation's answer does not."""
        candidates = [self.request.start]
        if stopped_by is None:
            restricted, stopped_by = self._restrict()
            candidates.append(restricted)
        held = [found for found in map(self._checked, candidates) if found is not None]
        if not held and self.request.start is not None:
            cautious = self._checked(cautious_start(self.instance, self.request))
            held = [] if cautious is None else [cautious]
        return max(held, key=lambda found: worth(self.instance, found), default=None), stopped_by

    def _restrict(self) -> tuple[Assignment | None, str | None]:
        """Solve the restriction with the time that is left."""
        tables, start = self._tables(rounded_up=True), self.request.start
        left = None if self.deadline is None else self.deadline - stopwatch.seconds()
        if left is not None and left <= 0:
            return None, "time_limit"
        if start is not None and not fits(tables, start):
            start = None
        answer = self._solve(tables, replace(self.request, start=start, time_limit=left))
        self.statistics["restricted"] = True
        return answer.assignment, answer.stopped_by

    def _tables(self, rounded_up: bool) -> CostTables:
        with self._clock("build_s"):
            return build_tables(self.instance, rounded_up)

    def _solve(self, tables: CostTables, request: Request) -> Answer:
        with self._clock("solve_s"):
            answer = self.backend.solve(tables, request)
        built = answer.statistics.get("build_s", 0.0)
        self.seconds["build_s"] += built
        self.seconds["solve_s"] -= built
        for name, value in answer.statistics.items():
            known = self.statistics.get(name)
            both_count = isinstance(known, int | float) and isinstance(value, int | float)
            self.statistics[name] = known + value if both_count else value
        return answer

    def _checked(self, assignment: Assignment | None) -> Schedule | None:
        """Return the schedule if it satisfies the instance exactly, else None."""
        if assignment is None:
            return None
        with self._clock("certify_s"):
            schedule = assignment.to_schedule(self.instance)
            return schedule if is_feasible(self.instance, schedule, self.problem) else None

    @contextmanager
    def _clock(self, name: str) -> Iterator[None]:
        started = stopwatch.seconds()
        try:
            yield
        finally:
            self.seconds[name] += stopwatch.seconds() - started
