"""Cuts from the structure, by name: ``formulations.solve(..., cuts=["pairs", "dominance"])``.

============== =====================================================================
``pairs``      users that exclude each other (`conflicts`)
``dominance``  easier users are served first and do not cross (`dominance`)
``count``      the most members by the level of a threshold (`caps`)
============== =====================================================================

None of them is needed: an oracle without our bounds is ``formulation="compact"`` without cuts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from formulations.points import Point
from instances import CostTables
from instances.costs import Integers

from .box import Box, Setting, whole_box
from .conflicts import Choice, cliques, conflicts, without_own
from .data import Rows, Term, merged
from .dominance import Served, crossings, orders, served_first
from .thresholds import modes_at


class Cuts(NamedTuple):
    """Cuts of one box, before they are rows of a solver.

    Attributes
    ----------
    cliques : list of list of int
        Choices of which at most one is made (user k in AD is k, in SD k + K).
    served : list of Served
    caps : list of list of (n,) int
        Per mode and threshold, the most members at each level; empty without.
    """

    cliques: list[list[Choice]]
    served: list[Served]
    caps: list[list[Integers]]


def find_cuts(setting: Setting, box: Box, names: Iterable[str]) -> Cuts:
    """Return the cuts of these names that hold in a box."""
    wanted, choices = set(names), 2 * setting.users
    excluded = np.zeros((choices, choices), np.bool_)
    served: list[Served] = []
    if "pairs" in wanted:
        excluded |= conflicts(setting, box)
    if "dominance" in wanted:
        ad, sd = orders(setting, box)
        excluded |= without_own(crossings(ad, sd))
        served = served_first(setting, box, ad, sd)
    if "count" not in wanted:
        return Cuts(cliques(excluded), served, [])
    from .caps import caps

    return Cuts(cliques(excluded), served, caps(setting, box))


def find_everywhere(tables: CostTables, points: Iterable[Point], names: Iterable[str]) -> Cuts:
    """Return cuts that hold at all of these points, which differ in z alone.

    Each mode is looked at where it has the greatest share, with the most room that there is; who
    may be in it, and what a user costs, is the same wherever it has a share at all.
    """
    by_share = sorted(points, key=lambda point: tables.z_numerator[point.z_index])
    first, last = by_share[0], by_share[-1]
    shares = [point.z_index for point in points]
    modes = modes_at(tables, last, capped=False)[0], modes_at(tables, first, capped=False)[1]
    room = int(tables.room[shares].max())
    numerators = np.sort(tables.z_numerator[shares])
    setting = Setting(tables.users, modes, numerators, room, tables.users, tables.value)
    return find_cuts(setting, whole_box(setting), names)


def add_cuts(rows: Rows, cuts: Cuts) -> None:
    """Add cuts to the MILP of their box."""
    users = rows.users
    column = {**rows.ad, **{k + users: y for k, y in rows.sd.items()}}
    for clique in cuts.cliques:
        rows.at_most([(column[choice], 1) for choice in clique if choice in column], 1)
    for choices, first in cuts.served:
        serving = [column[choice] for choice in (first, first + users) if choice in column]
        rows.at_most([*((column[c], 1) for c in choices), *((c, -1) for c in serving)], 0)
    for side, members in enumerate((rows.ad, rows.sd) if cuts.caps else ()):
        for t, by_level in enumerate(cuts.caps[side]):
            _cap(rows, list(members.values()), rows.levels.get((side, t), []), by_level)


def _cap(
    rows: Rows, members: list[int], levels: list[tuple[int, list[Term]]], by_level: Integers
) -> None:
    """Add ``Σ members <= Σ cap * level chosen``, where that says something."""
    most = {rank: min(len(members), int(by_level[rank])) for rank, _ in levels}
    if not most or min(most.values()) == len(members):
        return
    terms = [(column, 1) for column in members]
    terms += [(c, -sign * most[rank]) for rank, exactly in levels for c, sign in exactly]
    rows.at_most(merged(terms), 0)
