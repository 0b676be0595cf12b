"""What HiGHS and SCIP share: from a point's rows to a model that can be asked several times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from instances import CostTables

from .backend import Request
from .covers import Cover
from .grid import Limits, PointAnswer, PointModel, absolute_gap
from .points import Point, Points
from .rows import BOXED, Rows, build_rows, chosen_formulation, cuts_of
from .rows.scaled import ScaledRows, scale


class RowModel(ABC):
    """One point's rows; each solve passes them to a fresh solver.

    Parameters
    ----------
    rows : Rows
    relaxed : bool
        Whether the rows may be loosened by the solver's tolerance, to stay a relaxation.
    """

    def __init__(self, rows: Rows, relaxed: bool) -> None:
        self._rows = rows
        self._relaxed = relaxed

    def add(self, point: Point, cover: Cover) -> None:
        """Add a cover cut; these rows know no other point."""
        self._rows.forbid(cover.ad, cover.sd, cover.limit)

    def solve(self, at_least: int, limits: Limits) -> PointAnswer:
        """Maximise the objective, which must be at least `at_least`."""
        if self._rows.most < at_least:
            return PointAnswer(None, at_least - 1)
        return self._ask(scale(self._rows.with_cutoff(at_least), self._relaxed), at_least, limits)

    @property
    def _gap(self) -> float:
        """The absolute gap to stop at."""
        return absolute_gap(max(self._rows.objective, default=0) > 1)

    @abstractmethod
    def _ask(self, rows: ScaledRows, at_least: int, limits: Limits) -> PointAnswer:
        """Have the solver maximise the rows."""

    def _found(
        self, values: Any, bound: int, at_least: int, stopped_by: str | None, nodes: int
    ) -> PointAnswer:
        """Return the answer that a solver's column values stand for, if it is worth enough."""
        modes = self._rows.modes(np.array(values))
        found = modes if self._rows.worth(modes) >= at_least else None
        return PointAnswer(found, bound, stopped_by, nodes)


class RowSolver(ABC):
    """Solver through a `RowModel` per point, or per box of points; one thread."""

    options = frozenset({"formulation", "cuts"})
    counts_nodes = True
    model: ClassVar[type[RowModel]]

    @abstractmethod
    def version(self) -> str:
        """Return the solver's version."""

    def check(self, request: Request) -> None:
        """Refuse an unknown formulation or cut, or one that counts users of differing values."""
        chosen_formulation(request.options, request.weighted)
        cuts_of(request.options)

    def together(self, tables: CostTables, options: dict[str, Any]) -> bool:
        """Boxes may hold a range of z."""
        return chosen_formulation(options, tables.weighted) == BOXED

    def build(self, tables: CostTables, points: Points, options: dict[str, Any]) -> PointModel:
        """Return the model of the points; relaxed where the tables are a relaxation."""
        relaxed, name = not tables.rounded_up, chosen_formulation(options, tables.weighted)
        cuts = cuts_of(options)
        if name == BOXED:
            from .boxed import BoxedModel

            return BoxedModel(tables, points, lambda rows: self.model(rows, relaxed), cuts)
        return self.model(build_rows(tables, points[0], name, cuts), relaxed)
