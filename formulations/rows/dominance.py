"""Dominance cuts: whoever is as easy to serve as a member, in its mode, may take its place.

User i *dominates* j in a mode if both may be in it and i is at most j in everything the mode grows
with: its level of every threshold (input, urgency, upload, output; accepted drafts and iterations
in SD), its ticks, bytes and factors that no level changes; and if i is worth at least as much.
Within a box, levels below its lower end count as that end. Of equal users, the first dominates. So
dominance is a strict partial order; say that i stands before j in a linear extension of it, one
extension for each mode.

- *Served first*: if j is in a mode in which i dominates it, i is served: ``x_j <= x_i + y_i``
  (``x_j + y_j <= x_i + y_i`` where i dominates j in both).
- *No crossing*: j in AD and i in SD exclude each other if i dominates j in AD and j dominates i
  in SD: ``x_j + y_i <= 1``.

**Some optimum satisfies all of these at once.** Take any feasible schedule that breaks one. If i is
not served, let i replace j; if they cross, let them swap modes. No maximum, sum or charge of either
batch grows by this (of the box's rows, too: their levels count from the lower ends, and only
members who fit the box dominate), so the schedule stays feasible. It serves as many and is worth no
less. The sum of the members' places in their modes' extensions falls each time, so this ends, at a
schedule that breaks none. Hence a bound on what can be served stays valid, on any tables, rounded
down or up: the argument compares the very integers the rows are made of. It needs rows that hold
for *all* feasible schedules beside it (covers, conflicts and counts do); a second argument by
exchange with orders of its own would not be safe to add.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from instances.costs import Flags, Integers

from .box import Box, Part, Setting, eligible
from .conflicts import Choice
from .thresholds import Mode


class Served(NamedTuple):
    """If one of the choices of a user is made, `first` is served too."""

    choices: list[Choice]
    first: int


def orders(setting: Setting, box: Box) -> tuple[Flags, Flags]:
    """Return for AD and SD, (K, K), whether user i dominates j."""
    ad, sd = (
        _order(setting.value, mode, part, np.flatnonzero(eligible(setting, box, side)))
        for side, (mode, part) in enumerate(zip(setting.modes, (box.ad, box.sd), strict=True))
    )
    return ad, sd


def _order(value: Integers, mode: Mode, part: Part, some: Integers) -> Flags:
    demands = [mode.time, mode.memory, -value[mode.users]]
    for t, threshold in enumerate(mode.thresholds):
        level = np.maximum(part.low[t], threshold.rank)
        demands += [level if threshold.summands else threshold.charge[level]]
        demands += [summand.factor for summand in threshold.summands]
    table = np.stack(demands)[:, some]
    least = np.ones((len(some), len(some)), np.bool_)
    for demand in table:
        least &= demand[:, None] <= demand[None, :]
    place = np.arange(len(some))
    found = np.zeros((len(value), len(value)), np.bool_)
    before = least & (~least.T | (place[:, None] < place[None, :]))
    found[np.ix_(mode.users[some], mode.users[some])] = before
    return found


def crossings(ad: Flags, sd: Flags) -> Flags:
    """Return the choices that exclude each other because their users would swap, (2K, 2K)."""
    users = len(ad)
    found = np.zeros((2 * users, 2 * users), np.bool_)
    crossing = ad.T & sd  # j in AD (row), i in SD (column): i before j in AD, j before i in SD
    found[:users, users:] = crossing
    found[users:, :users] = crossing.T
    return found


def served_first(setting: Setting, box: Box, ad: Flags, sd: Flags) -> list[Served]:
    """Return who must be served if somebody else is; what follows from two others is left out."""
    users, may = setting.users, np.zeros((2, setting.users), np.bool_)
    for side in range(2):
        may[side, setting.modes[side].users[eligible(setting, box, side)]] = True
    whole = (ad | ~may[0][None, :]) & (sd | ~may[1][None, :]) & (ad | sd)
    found = []
    for j in range(users):
        for i in np.flatnonzero(ad[:, j] | sd[:, j]):
            between = whole[i] & (ad[:, j] >= ad[i, j]) & (sd[:, j] >= sd[i, j])
            between &= ad[:, j] | sd[:, j]
            if not between.any():
                choices = [j] * bool(ad[i, j]) + [j + users] * bool(sd[i, j])
                found.append(Served(choices, int(i)))
    return found
