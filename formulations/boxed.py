"""`BoxedModel`: a point's model that counting shrinks and splits before any MILP is built."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from instances import CostTables

from .boxes import BoxSearch
from .covers import Cover
from .grid import Limits, PointAnswer, PointModel
from .highs import new_solver
from .points import Point
from .rows.data import Rows
from .rows.relaxation import Relaxation


class BoxedModel:
    """The question whether a point serves `at_least` users, box by box (`formulations.boxes`).

    Parameters
    ----------
    tables : CostTables
    point : Point
    model : callable
        Returns a solver's model of rows, for the boxes that counting does not refute.
    """

    def __init__(
        self, tables: CostTables, point: Point, model: Callable[[Rows], PointModel]
    ) -> None:
        self._tables, self._point, self._model = tables, point, model
        self._covers: list[Cover] = []

    def add(self, cover: Cover) -> None:
        """Add a cover cut."""
        self._covers.append(cover)

    def solve(self, at_least: int, limits: Limits) -> PointAnswer:
        """Find a choice that serves at least so many, or prove that there is none."""
        most, boxes = self._tables.users, itertools.count()
        relaxation = Relaxation(new_solver(Limits()))
        point, z_indices = self._point, (self._point.z_index,)
        search = BoxSearch(self._tables, point, z_indices, at_least, self._milp, relaxation)
        clock = limits.running()
        for step in search.steps(lambda: clock(next(boxes))):
            answer = step.answer
            if answer is not None and (answer.modes is not None or answer.stopped_by is not None):
                return PointAnswer(answer.modes, most, answer.stopped_by, next(boxes))
        done = next(boxes)
        if search.stack:
            full = limits.node_limit is not None and done > limits.node_limit
            return PointAnswer(None, most, "node_limit" if full else "time_limit", done - 1)
        return PointAnswer(None, at_least - 1, nodes=done)

    def _milp(self, rows: Rows, point: Point, goal: int, limits: Limits) -> PointAnswer:
        model = self._model(rows)
        for cover in self._covers:
            ad = [k for k in cover.ad.tolist() if k in rows.ad]
            sd = [k for k in cover.sd.tolist() if k in rows.sd]
            rows.forbid(ad, sd, cover.limit)
        return model.solve(goal, limits)
