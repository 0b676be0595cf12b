"""MILPs of a box, tighter than the compact one: disaggregated levels, and steps for thresholds.

Each mode has a binary *used*, and its users imply it: ``x_k <= used``. A threshold with levels
``v_0 < v_1 < ...`` is a chain ``used = d_0 >= d_1 >= d_2 ...``: d_i says "at least v_i", and a
member implies its own, ``x_k <= d_rank(k)``. The threshold is at v_i iff ``a_i = d_i - d_(i+1)`` is
1. All charges, the fixed one too, are multiplied by chain variables, so that the time row,

    ``whole Σ work
    + share (fixed used + Σ_t (charge_0 used + Σ_i (charge_i - charge_(i-1)) d_i)) <= 0``

is homogeneous: an unused mode pays and earns nothing.

- *Steps* (``steps=True``): every threshold has a chain. A maximum by steps, ``Σ increment d_i``,
  is at least the compact model's ``v_k x_k`` for every k, by ``x_k <= d_i`` up to k's own level.
  Without, deadline, upload and L2 (N1) are continuous maxima as in the compact model; L1, L3, L4
  are chains anyway.
- *Levels* (``levels=True``): a product of level and member has a column of its own, w_ki in [0, 1]
  with ``w_ki <= a_i`` and ``Σ_i w_ki = x_k`` over the levels that admit k. Summed over k with its
  factors c_k, w gives the compact model's sums, ``s_i = Σ_k c_k w_ki <= Σ_k c_k a_i``.

So with the same box, LP bounds satisfy levels <= compact, steps <= compact, and both together
<= either. Sizes with everyone allowed, K users, n1, n3, n4 levels of L1, L3, L4, and m levels of
the six other thresholds: compact 2K + n binaries; steps 2K + n1 + n3 + n4 + m - 7 and as many rows
on chains; levels up to K (n1 + n3 + n4) / 2 more columns and twice as many rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from formulations.points import Point, Users
from instances import CostTables

from .box import Box, Part, Setting, eligible, setting_at, whole_box
from .cuts import add_cuts, find_cuts
from .data import Rows, Term, merged
from .thresholds import Mode, Threshold


class Style(NamedTuple):
    """How the thresholds are written."""

    levels: bool
    steps: bool


LEVELS, STEPS, BOTH = Style(True, False), Style(False, True), Style(True, True)


class _Chain(NamedTuple):
    """A threshold's levels in the box, by rank, and the columns "at least this level"."""

    ranks: list[int]
    columns: list[int]

    def at(self, i: int) -> list[Term]:
        """Return "exactly level i" as terms."""
        above = [(self.columns[i + 1], -1)] if i + 1 < len(self.columns) else []
        return [(self.columns[i], 1), *above]


def build_chains(
    users: int, setting: Setting, box: Box, style: Style, cuts: Iterable[str] = ()
) -> Rows:
    """Return the MILP of a box.

    Parameters
    ----------
    users : int
        Number of users K.
    setting : Setting
    box : Box
    style : Style
    cuts : iterable of str
        Names of cuts to add (`cuts`).
    """
    rows = Rows(users)
    sides = [
        _Side(rows, side, mode, part, np.flatnonzero(eligible(setting, box, side)), style)
        for side, (mode, part) in enumerate(zip(setting.modes, (box.ad, box.sd), strict=True))
    ]
    rows.ad, rows.sd = sides[0].by_user, sides[1].by_user
    for k in rows.ad.keys() & rows.sd.keys():
        rows.at_most([(rows.ad[k], 1), (rows.sd[k], 1)], 1)
    caches = [side.build() if side.columns else [] for side in sides]
    if setting.joint_room is not None:
        limits = [([*caches[0], *caches[1]], setting.joint_room)]
    else:
        limits = [(c, mode.room) for c, mode in zip(caches, setting.modes, strict=True)]
    for terms, room in limits:
        if terms:
            rows.at_most(terms, room)
    if names := tuple(cuts):
        add_cuts(rows, find_cuts(setting, box, names))
    return rows


def build_point(tables: CostTables, point: Point, style: Style) -> Rows:
    """Return the MILP of all schedules at a point; nothing is counted out."""
    setting = setting_at(tables, point, tables.users)
    return build_chains(tables.users, setting, whole_box(setting), style)


class _Side:
    """One mode's columns and rows."""

    def __init__(
        self, rows: Rows, side: int, mode: Mode, part: Part, members: Users, style: Style
    ) -> None:
        self.rows, self.side, self.mode, self.part, self.style = rows, side, mode, part, style
        #: Position of a user in the mode -> its binary.
        self.columns = {int(k): rows.binary(1) for k in members}
        self.by_user = {int(mode.users[k]): column for k, column in self.columns.items()}
        self.work: list[Term] = []
        self.cache: list[Term] = []
        self.charges: list[Term] = []

    def build(self) -> list[Term]:
        """Add everything and return the terms of the mode's bytes."""
        rows, mode = self.rows, self.mode
        self.used = rows.binary()
        self._sizes()
        self.charges.append((self.used, mode.fixed))
        for k, column in self.columns.items():
            self.work.append((column, int(mode.time[k])))
            self.cache.append((column, int(mode.memory[k])))
        for t, threshold in enumerate(mode.thresholds):
            if threshold.summands:
                chain = self._chain(t, threshold)
                (self._levels if self.style.levels else self._sums)(t, threshold, chain)
            elif self.style.steps:
                self._charge_steps(threshold, self._chain(t, threshold))
            else:
                self._charge_maximum(threshold, int(self.part.low[t]))
        time = [(column, mode.whole * ticks) for column, ticks in self.work]
        time += [(column, mode.share * ticks) for column, ticks in self.charges]
        rows.at_most(merged(time), 0)
        return merged(self.cache)

    def _sizes(self) -> None:
        """Add the batch's size as counting bounds it, and whether the mode is used."""
        members = list(self.columns.values())
        least, most = self.part.size.tolist()
        if least > 0:
            self.rows.exactly([(self.used, 1)], 1)
            if least > 1:
                self.rows.at_most([(column, -1) for column in members], -least)
        if most < len(members):
            self.rows.at_most([*((column, 1) for column in members), (self.used, -most)], 0)

    def _chain(self, t: int, threshold: Threshold) -> _Chain:
        """Add a threshold's chain over the levels that members of this box have."""
        low = int(self.part.low[t])
        own = {k: max(low, int(threshold.rank[k])) for k in self.columns}
        ranks = sorted({low, *own.values()})
        columns = [self.used, *(self.rows.binary() for _ in ranks[1:])]
        for lower, higher in pairwise(columns):
            self.rows.at_most([(higher, 1), (lower, -1)], 0)
        literal = dict(zip(ranks, columns, strict=True))
        for k, column in self.columns.items():
            self.rows.at_most([(column, 1), (literal[own[k]], -1)], 0)
        chain = _Chain(ranks, columns)
        self.rows.levels[self.side, t] = [(rank, chain.at(i)) for i, rank in enumerate(ranks)]
        return chain

    def _charge_steps(self, threshold: Threshold, chain: _Chain) -> None:
        charge = [int(threshold.charge[rank]) for rank in chain.ranks]
        increments = [charge[0], *(b - a for a, b in pairwise(charge))]
        self.charges += zip(chain.columns, increments, strict=True)

    def _charge_maximum(self, threshold: Threshold, low: int) -> None:
        """Add a continuous column for what the maximum exceeds the lower end by."""
        least = int(threshold.charge[low])
        above = {k: max(0, int(threshold.charge[threshold.rank[k]]) - least) for k in self.columns}
        excess = self.rows.continuous(max(above.values()))
        for k, column in self.columns.items():
            self.rows.at_most([(column, above[k]), (excess, -1)], 0)
            self.rows.at_most([(column, 1), (self.used, -1)], 0)
        self.charges += [(self.used, least), (excess, 1)]

    def _levels(self, t: int, threshold: Threshold, chain: _Chain) -> None:
        """Add a column per member and admitting level."""
        time, memory = self.mode.times[t].tolist(), self.mode.memories[t].tolist()
        exact = [chain.at(i) for i in range(len(chain.ranks))]
        for k, column in self.columns.items():
            admitting = [i for i, rank in enumerate(chain.ranks) if rank >= threshold.rank[k]]
            if len(admitting) == 1:
                choices = [(admitting[0], column)]
            else:
                choices = [(i, self.rows.continuous(1)) for i in admitting]
                self.rows.exactly([(column, -1), *((w, 1) for _, w in choices)], 0)
            for i, w in choices:
                rank = chain.ranks[i]
                if w != column:
                    self.rows.at_most([(w, 1), *((c, -sign) for c, sign in exact[i])], 0)
                self.work.append((w, time[k][rank]))
                self.cache.append((w, memory[k][rank]))

    def _sums(self, t: int, threshold: Threshold, chain: _Chain) -> None:
        """Add, per level and summand, a column for the sum over the members."""
        own = {k: max(int(threshold.rank[k]), chain.ranks[0]) for k in self.columns}
        for part in threshold.summands:
            sums: list[int] = []
            for i, rank in enumerate(chain.ranks):
                most = sum(int(part.factor[k]) for k in self.columns if own[k] <= rank)
                sums.append(self.rows.continuous(most))
                exact = [(column, -sign * most) for column, sign in chain.at(i)]
                self.rows.at_most([(sums[-1], 1), *exact], 0)
                self.work.append((sums[-1], int(part.time[rank])))
                self.cache.append((sums[-1], int(part.memory[rank])))
            total = [(column, int(part.factor[k])) for k, column in self.columns.items()]
            self.rows.at_most([*total, *((column, -1) for column in sums)], 0)
