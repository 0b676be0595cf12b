"""`BoxedModel`: a model of points that counting shrinks and splits before any MILP is built."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from instances import CostTables

from .boxes import BoxSearch
from .covers import Cover
from .grid import Limits, PointAnswer, PointModel
from .highs import new_solver
from .points import Point, Points
from .rows.data import Rows
from .rows.relaxation import Relaxation


class BoxedModel:
    """The question whether `at_least` users can be served, box by box (`formulations.boxes`).

    Parameters
    ----------
    tables : CostTables
    points : tuple of Point
        All in one search; they differ in z alone, ascending.
    model : callable
        Returns a solver's model of rows, for the boxes that counting does not refute.
    cuts : tuple of str
        Names of the cuts that the MILPs get.
    """

    def __init__(
        self,
        tables: CostTables,
        points: Points,
        model: Callable[[Rows], PointModel],
        cuts: tuple[str, ...] = (),
    ) -> None:
        self._tables, self._points, self._model, self._cuts = tables, points, model, cuts
        self._covers: list[tuple[Point, Cover]] = []

    def add(self, point: Point, cover: Cover) -> None:
        """Add a cover cut to the MILPs at one point."""
        self._covers.append((point, cover))

    def solve(self, at_least: int, limits: Limits) -> PointAnswer:
        """Find a choice that serves at least so many, or prove that there is none."""
        most, boxes = self._tables.users, itertools.count()
        relaxation = Relaxation(new_solver(Limits()))
        z_indices = tuple(point.z_index for point in self._points)
        search = BoxSearch(
            self._tables, self._points[0], z_indices, at_least, self._milp, relaxation, self._cuts
        )
        clock = limits.running()
        for step in search.steps(lambda: clock(next(boxes))):
            answer = step.answer
            if answer is not None and not answer.refuted:
                return replace(answer, bound=most, nodes=next(boxes), point=step.point)
        done = next(boxes)
        if search.stack:
            full = limits.node_limit is not None and done > limits.node_limit
            return PointAnswer(None, most, "node_limit" if full else "time_limit", done - 1)
        return PointAnswer(None, at_least - 1, nodes=done)

    def _milp(self, rows: Rows, point: Point, goal: int, limits: Limits) -> PointAnswer:
        model = self._model(rows)
        for cover in (cover for where, cover in self._covers if where == point):
            ad = [k for k in cover.ad.tolist() if k in rows.ad]
            sd = [k for k in cover.sd.tolist() if k in rows.sd]
            rows.forbid(ad, sd, cover.limit)
        return model.solve(goal, limits)
