"""The question "can `goal` users be served?", answered box by box.

The search is depth first. A box is tightened by counting; what is left is refuted by weighted
counting (an LP of HiGHS finds the weights), or split in two, or, once only sizes are left open at
one z, handed to a MILP. It shares nothing with `formulations.threshold` but the idea.

Why the boxes cover everything: if more than `goal` users can be served, so can exactly `goal`. The
first boxes hold all such schedules. A split puts every schedule into one of the halves (both, where
the cut mode's batch is empty); tightening only takes away what counting refutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from instances import CostTables
from instances.costs import Integers

from .grid import Limits, PointAnswer
from .points import Point
from .rows.box import Box, Setting, setting_at, tighten, whole_box
from .rows.chains import STEPS, build_chains
from .rows.data import Rows
from .rows.relaxation import Relaxation
from .rows.split import Cut, choose, half
from .rows.weights import ROWS, refutes

#: Solves the MILP of one box at one point, given the goal.
Milp = Callable[[Rows, Point, int, Limits], PointAnswer]


class Open(NamedTuple):
    """A box to be searched, and its parent's weights."""

    box: Box
    weights: Integers


class Step(NamedTuple):
    """What became of a box; the upper half of a split one is searched next.

    Attributes
    ----------
    weights : (6,) int or None
        What refutes it, or what its halves are tightened with.
    cut, box : Cut, Box or None
        Where it was split, once it was tightened.
    answer, point : PointAnswer, Point or None
        What the MILP said, and where.
    """

    weights: Integers | None = None
    cut: Cut | None = None
    box: Box | None = None
    answer: PointAnswer | None = None
    point: Point | None = None


@dataclass
class BoxSearch:
    """Search over the points that differ in z alone.

    Parameters
    ----------
    tables : CostTables
    point : Point
        One of the points.
    z_indices : tuple of int
        Their positions in the z grid, ascending.
    goal : int
        Users to serve.
    milp : callable
        Decides boxes that nothing else refutes.
    relaxation : Relaxation
        Finds weights.
    cuts : tuple of str
        Names of cuts that the MILPs get.
    stack : list of Open
        Boxes still to be searched.
    """

    tables: CostTables
    point: Point
    z_indices: tuple[int, ...]
    goal: int
    milp: Milp
    relaxation: Relaxation
    cuts: tuple[str, ...] = ()
    stack: list[Open] = field(init=False)

    def __post_init__(self) -> None:
        self.setting: Setting = setting_at(self.tables, self.point, self.goal, self.z_indices)
        self.stack = [Open(whole_box(self.setting), np.zeros(ROWS, np.int64))]

    def steps(self, limits: Callable[[], Limits | None]) -> Iterator[Step]:
        """Yield what becomes of box after box, until none is open or the limits are met."""
        while self.stack:
            left = limits()
            if left is None:
                return
            yield self._step(self.stack.pop(), left)

    def _step(self, node: Open, limits: Limits) -> Step:
        box = tighten(self.setting, node.box, node.weights, rounds=2)
        if box is None:
            return Step()
        weights = self.relaxation.weights(self.setting, box)
        if refutes(self.setting.query, box, weights):
            return Step(weights)
        cut = choose(self.setting.query, box, weights)
        if cut[0] < 0 or (_levels(box) == 0 and box.z[0] == box.z[1]):
            return self._milp(box, limits)
        self.split(box, cut, weights)
        return Step(weights, cut, box)

    def split(self, box: Box, cut: Cut, weights: Integers) -> None:
        """Put both halves of a box on the stack."""
        for upper in (False, True):
            self.stack.append(Open(half(box, cut, upper), weights))

    def _milp(self, box: Box, limits: Limits) -> Step:
        """Decide a box whose z is a single one."""
        point = replace(self.point, z_index=self.z_indices[int(box.z[0])])
        setting = setting_at(self.tables, point, self.goal)
        rows = build_chains(self.tables.users, setting, box, STEPS, self.cuts)
        answer = self.milp(rows, point, self.goal, limits)
        return Step(answer=answer, point=point)


def _levels(box: Box) -> int:
    """Return how many threshold levels a box leaves open."""
    return int(sum((part.high - part.low).sum() for part in (box.ad, box.sd)))
