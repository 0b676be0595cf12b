"""Exact search over the grid by any solver of one point (z, λ), or of many z at one λ."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from instances import CostTables, stopwatch
from instances.assignment import Assignment, fits

from .backend import Answer, Request, check_options
from .covers import Cover, Modes, violated_covers
from .flow import flow_bound
from .points import Point, Points, groups

#: Cover cuts tried at one point before it is left unsolved, with its bound.
MOST_ROUNDS = 500
#: Option: each z by itself, no bound or incumbent passed between them.
APART = "apart"


@dataclass(frozen=True)
class Limits:
    """What one call of a solver may use: wall seconds, nodes (None: no limit), and its seed."""

    time_limit: float | None = None
    node_limit: int | None = None
    seed: int = 0

    def running(self) -> Callable[[int], Limits | None]:
        """Start the clock; return what is left after so many nodes, as a function (None: over)."""
        started = stopwatch.seconds()

        def left(nodes: int) -> Limits | None:
            seconds, most = self.time_limit, self.node_limit
            if seconds is not None:
                seconds -= stopwatch.seconds() - started
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
    point : Point or None
        Where the modes are feasible, from a model of several points.
    """

    modes: Modes | None
    bound: int
    stopped_by: str | None = None
    nodes: int = 0
    point: Point | None = None

    @property
    def refuted(self) -> bool:
        """Whether it proves that nothing reaches what was asked for."""
        return self.modes is None and self.stopped_by is None


class PointModel(Protocol):
    """The model of one or more points, ready to be solved several times."""

    def add(self, point: Point, cover: Cover) -> None:
        """Add a cover cut that holds at one point."""

    def solve(self, at_least: int, limits: Limits) -> PointAnswer:
        """Maximise the objective, given that it must be at least so much."""


class PointSolver(Protocol):
    """A solver of single points, or of several that differ in z alone."""

    #: Names that ``Request.options`` may hold.
    options: frozenset[str]
    #: Whether the solver counts nodes, so that a node limit means something.
    counts_nodes: bool

    def version(self) -> str:
        """Return the solver's version."""

    def check(self, request: Request) -> None:
        """Raise ValueError if an option's value is not supported."""

    def together(self, tables: CostTables, options: dict[str, Any]) -> bool:
        """Return whether one model may cover points that differ in z alone."""

    def build(self, tables: CostTables, points: Points, options: dict[str, Any]) -> PointModel:
        """Return the model of one point, or of several where `together` allows it."""


class GridBackend:
    """Back end that solves a request model by model, in the order of the points' bounds.

    Every point must beat the incumbent (a cutoff row), points whose bound does not are skipped,
    and the bound of the whole is the largest one left. For P2, the joint memory row of P1 is solved
    first at each z: where it cannot beat the incumbent, no λ can. The option ``apart=True`` leaves
    all of that out, as a reference to measure by: each z is solved to its own optimum.

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
        known = self._solver.options | {APART}
        check_options(self.name, request, known, counts_nodes, weighted=True)
        if request.options.get(APART) not in (None, True, False):
            raise ValueError(f"{APART} must be true or false, not {request.options[APART]!r}")
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
        self.apart = bool(request.options.get(APART))
        limits = Limits(request.time_limit, request.node_limit, request.seed)
        self.left = limits.running()
        self.stopped_by: str | None = None
        self.nodes = self.solves = self.cuts = 0
        self.build_s = 0.0
        self.open: list[tuple[int, int, Points]] = []
        self.pushed = 0

    def run(self) -> Answer:
        """Solve points until none can beat the incumbent or a limit is met."""
        for points in self._first():
            self._push(points)
        while self.open and self.stopped_by is None and (self.apart or self.bound > self.value):
            bound, _, points = heapq.heappop(self.open)
            try:
                self._visit(points, -bound)
            except KeyboardInterrupt:
                self._push(points, -bound)
                self.stopped_by = "interrupt"
        if self.assignment is None and self.bound == 0:
            self.assignment = self._nobody()
        return Answer(self.assignment, self.bound, self.stopped_by, self._statistics())

    @property
    def bound(self) -> int:
        """Upper bound over the incumbent and all open points."""
        return max(self.value, -self.open[0][0] if self.open else 0)

    def _first(self) -> list[Points]:
        """Return the points without a λ, as the solver takes them."""
        z_indices = self.request.z_indices
        split: list[tuple[int, ...]] = [(z,) for z in z_indices]
        if self.solver.together(self.tables, self.request.options):
            split = groups(self.tables, z_indices)
        modes = self.request.allow_ad, self.request.allow_sd
        return [tuple(Point(z, None, *modes) for z in some) for some in split]

    def _push(self, points: Points, bound: int | None = None) -> None:
        if self.apart:
            most = self.tables.worth(np.ones(self.tables.users, np.int8))
        else:
            most = max(flow_bound(self.tables, point) for point in points)
        bound = most if bound is None else min(most, bound)
        heapq.heappush(self.open, (-bound, self.pushed, points))
        self.pushed += 1

    def _visit(self, points: Points, bound: int) -> None:
        """Solve one model; its points go back among the open ones if that did not settle them."""
        answer = self._solve(points, bound)
        bound, before = min(bound, answer.bound), self.value
        if answer.modes is not None:
            self._accept(answer.point or points[0], answer.modes)
        if bound <= self.value:
            return
        children = self._children(points) if answer.stopped_by is None else []
        for child in children:
            self._push(child, bound)
        if not children:
            self._push(points, bound)
            if answer.stopped_by is not None or self.value == before:
                self.stopped_by = answer.stopped_by or "numerical_trouble"

    def _children(self, points: Points) -> list[Points]:
        """Return the points of P2 that a joint memory row stands for."""
        if self.request.lam_indices is None or points[0].lam_index is not None:
            return []
        return [
            tuple(replace(point, lam_index=lam) for point in points)
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

    def _solve(self, points: Points, bound: int) -> PointAnswer:
        """Solve one model until its answer satisfies the integer rows too."""
        started = stopwatch.seconds()
        model = self.solver.build(self.tables, points, self.request.options)
        self.build_s += stopwatch.seconds() - started
        for _ in range(MOST_ROUNDS):
            limits = self.left(self.nodes)
            if limits is None:
                return PointAnswer(None, bound, self._exhausted())
            answer = model.solve(1 if self.apart else self.value + 1, limits)
            self.solves += 1
            self.nodes += answer.nodes
            bound = min(bound, answer.bound)
            if answer.modes is None:
                return PointAnswer(None, bound, answer.stopped_by)
            point = answer.point or points[0]
            covers = violated_covers(self.tables, point, answer.modes)
            if not covers:
                return replace(answer, bound=bound)
            for cover in covers:
                model.add(point, cover)
            self.cuts += len(covers)
        return PointAnswer(None, bound, "numerical_trouble")

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
