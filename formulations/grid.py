"""Point-wise exact search: any solver of one point (z, λ) becomes a back end for the whole grid."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from instances import CostTables
from instances.assignment import Assignment, fits

from .backend import Answer, Request, check_options
from .covers import Cover, Modes, violated_covers
from .flow import flow_bound
from .points import Point

#: Cover cuts tried at one point before it is left unsolved, with its bound.
MOST_ROUNDS = 500


@dataclass(frozen=True)
class Limits:
    """What one call of a solver may use: wall seconds, nodes (None: no limit), and its seed."""

    time_limit: float | None = None
    node_limit: int | None = None
    seed: int = 0

    def running(self) -> Callable[[int], Limits | None]:
        """Start the clock; return what is left after so many nodes, as a function (None: over)."""
        started = time.perf_counter()

        def left(nodes: int) -> Limits | None:
            seconds, most = self.time_limit, self.node_limit
            if seconds is not None:
                seconds -= time.perf_counter() - started
            if most is not None:
                most -= nodes
            if (seconds is not None and seconds <= 0) or (most is not None and most <= 0):
                return None
            return Limits(seconds, most, self.seed)

        return left


@dataclass(frozen=True)
class PointAnswer:
    """What a solver says about one point.

    Parameters
    ----------
    modes : (K,) int8 or None
        The best choice found that is worth at least what was asked for; binaries rounded.
    bound : int
        Upper bound on the objective here; one less than asked for if that is impossible.
    stopped_by : str or None
        None when the solver ran to its end.
    nodes : int
    """

    modes: Modes | None
    bound: int
    stopped_by: str | None = None
    nodes: int = 0


class PointModel(Protocol):
    """The model of one point, ready to be solved several times."""

    def add(self, cover: Cover) -> None:
        """Add a cover cut."""

    def solve(self, at_least: int, limits: Limits) -> PointAnswer:
        """Maximise the objective, given that it must be at least so much."""


class PointSolver(Protocol):
    """A solver of single points."""

    #: Names that ``Request.options`` may hold.
    options: frozenset[str]
    #: Whether the solver counts nodes, so that a node limit means something.
    counts_nodes: bool

    def version(self) -> str:
        """Return the solver's version."""

    def check(self, request: Request) -> None:
        """Raise ValueError if an option's value is not supported."""

    def build(self, tables: CostTables, point: Point, options: dict[str, Any]) -> PointModel:
        """Return the model of one point."""


class GridBackend:
    """Back end that solves a request point by point, in the order of the points' bounds.

    Every point must beat the incumbent (a cutoff row), points whose bound does not are skipped,
    and the bound of the whole is the largest one left. For P2, the joint memory row of P1 is solved
    first at each z: where it cannot beat the incumbent, no λ can.

    Parameters
    ----------
    name : str
    solver : PointSolver
    """

    def __init__(self, name: str, solver: PointSolver) -> None:
        self.name = name
        self._solver = solver

    def version(self) -> str:
        """Return the solver's version."""
        return self._solver.version()

    def check(self, request: Request) -> None:
        """Refuse unknown options and node limits that nobody counts."""
        counts_nodes = self._solver.counts_nodes
        check_options(self.name, request, self._solver.options, counts_nodes, weighted=True)
        self._solver.check(request)

    def solve(self, tables: CostTables, request: Request) -> Answer:
        """Maximise the objective over the request's points."""
        self.check(request)
        return _Search(tables, request, self._solver).run()


class _Search:
    """State of one search: the incumbent, the open points and the limits left."""

    def __init__(self, tables: CostTables, request: Request, solver: PointSolver) -> None:
        self.tables, self.request, self.solver = tables, request, solver
        self.assignment = request.start
        self.value = tables.worth(request.start.modes) if request.start else 0
        self.started = time.perf_counter()
        self.stopped_by: str | None = None
        self.nodes = self.solves = self.cuts = 0
        self.build_s = 0.0
        self.open: list[tuple[int, int, Point]] = []
        self.pushed = 0

    def run(self) -> Answer:
        """Solve points until none can beat the incumbent or a limit is met."""
        for z_index in self.request.z_indices:
            self._push(Point(z_index, None, self.request.allow_ad, self.request.allow_sd))
        while self.open and self.bound > self.value and self.stopped_by is None:
            bound, _, point = heapq.heappop(self.open)
            try:
                self._visit(point, -bound)
            except KeyboardInterrupt:
                self._push(point, -bound)
                self.stopped_by = "interrupt"
        if self.assignment is None and self.bound == 0:
            self.assignment = self._nobody()
        return Answer(self.assignment, self.bound, self.stopped_by, self._statistics())

    @property
    def bound(self) -> int:
        """Upper bound over the incumbent and all open points."""
        return max(self.value, -self.open[0][0] if self.open else 0)

    def _push(self, point: Point, bound: int | None = None) -> None:
        limit = flow_bound(self.tables, point)
        bound = limit if bound is None else min(limit, bound)
        heapq.heappush(self.open, (-bound, self.pushed, point))
        self.pushed += 1

    def _visit(self, point: Point, bound: int) -> None:
        """Solve one point; it goes back among the open ones if that did not settle it."""
        answer = self._solve_point(point, bound)
        bound, before = min(bound, answer.bound), self.value
        if answer.modes is not None:
            self._accept(point, answer.modes)
        if bound <= self.value:
            return
        children = self._children(point) if answer.stopped_by is None else []
        for child in children:
            self._push(child, bound)
        if not children:
            self._push(point, bound)
            if answer.stopped_by is not None or self.value == before:
                self.stopped_by = answer.stopped_by or "numerical_trouble"

    def _children(self, point: Point) -> list[Point]:
        """Return the points of P2 that a joint memory row stands for."""
        if self.request.lam_indices is None or point.lam_index is not None:
            return []
        return [
            Point(point.z_index, lam, point.allow_ad, point.allow_sd)
            for lam in self.request.lam_indices
        ]

    def _accept(self, point: Point, modes: Modes) -> None:
        """Make the modes the incumbent if the tables accept them at one of the request's λ."""
        lams: tuple[int | None, ...] = (point.lam_index,)
        if point.lam_index is None and self.request.lam_indices is not None:
            lams = self.request.lam_indices
        for lam in lams:
            found = Assignment(modes, point.z_index, lam)
            value = self.tables.worth(modes)
            if value > self.value and fits(self.tables, found):
                self.assignment, self.value = found, value

    def _solve_point(self, point: Point, bound: int) -> PointAnswer:
        """Solve one point until its answer satisfies the integer rows too."""
        started = time.perf_counter()
        model = self.solver.build(self.tables, point, self.request.options)
        self.build_s += time.perf_counter() - started
        for _ in range(MOST_ROUNDS):
            limits = self._limits()
            if limits is None:
                return PointAnswer(None, bound, self._exhausted())
            answer = model.solve(self.value + 1, limits)
            self.solves += 1
            self.nodes += answer.nodes
            bound = min(bound, answer.bound)
            if answer.modes is None:
                return PointAnswer(None, bound, answer.stopped_by)
            covers = violated_covers(self.tables, point, answer.modes)
            if not covers:
                return PointAnswer(answer.modes, bound, answer.stopped_by)
            for cover in covers:
                model.add(cover)
            self.cuts += len(covers)
        return PointAnswer(None, bound, "numerical_trouble")

    def _limits(self) -> Limits | None:
        """Return what is left of the limits; None if nothing is."""
        seconds, nodes = self.request.time_limit, self.request.node_limit
        if seconds is not None:
            seconds -= time.perf_counter() - self.started
        if nodes is not None:
            nodes -= self.nodes
        if (seconds is not None and seconds <= 0) or (nodes is not None and nodes <= 0):
            return None
        return Limits(seconds, nodes, self.request.seed)

    def _exhausted(self) -> str:
        nodes = self.request.node_limit
        return "node_limit" if nodes is not None and self.nodes >= nodes else "time_limit"

    def _nobody(self) -> Assignment:
        """The empty assignment, which is always feasible."""
        lams = self.request.lam_indices
        modes = np.zeros(self.tables.users, np.int8)
        return Assignment(modes, self.request.z_indices[0], lams[0] if lams else None)

    def _statistics(self) -> dict[str, Any]:
        return {
            "nodes": self.nodes,
            "solves": self.solves,
            "cover_cuts": self.cuts,
            "build_s": self.build_s,
        }


def integer_bound(dual_bound: float, at_most: int) -> int:
    """Return the integer bound that a solver's float bound proves.

    The margin is far above any solver's objective tolerance, so that 17.9999 still means 18; with
    values it grows with what they sum to, as the tolerances of single columns do.
    """
    if not np.isfinite(dual_bound):
        return at_most
    return min(at_most, int(np.floor(dual_bound + max(1e-3, 1e-6 * at_most))))


def absolute_gap(weighted: bool) -> float:
    """Return a gap below 1, the least difference of two objectives.

    With values a solver's incumbent may be off by its integrality tolerance times what all values
    sum to, at most 0.1.
    """
    return 0.5 if weighted else 0.99
