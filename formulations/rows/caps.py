"""Counting cuts: the most members that a batch can have, by the level of each threshold.

With a threshold at level i, all members are at most there and everyone is charged for it; so
counting (`count.batches`) bounds the members by some cap_i, whatever the other thresholds are.
``Σ_k x_k <= Σ_i cap_i a_i``, where a_i chooses level i, holds for every schedule that chooses its
true maximum, or the box's lower end if that is higher; each schedule may.
"""

from __future__ import annotations

import numpy as np

from instances.costs import Integers
from instances.kernels import cached_njit

from .box import Setting
from .count import Box, Packed, Part, batches, shares_of


def caps(setting: Setting, box: Box) -> list[list[Integers]]:
    """Return for AD and SD, and each threshold, the most members at each level.

    Levels outside the box have caps, too, which mean nothing.
    """
    query = setting.query
    found = []
    for side, (mode, part) in enumerate(((query.ad, box.ad), (query.sd, box.sd))):
        shares = shares_of(query, box.z, side == 0)
        levels = [threshold.levels for threshold in setting.modes[side].thresholds]
        found.append([_by_level(mode, part, shares, t, n) for t, n in enumerate(levels)])
    return found


@cached_njit()
def _by_level(mode: Packed, part: Part, shares: Integers, t: int, levels: int) -> Integers:
    found = np.zeros(levels, np.int64)
    low, high = part.low.copy(), part.high.copy()
    probe = Part(low, high, part.open, part.size)
    for level in range(levels):
        low[t] = high[t] = level
        least, _ = batches(mode, probe, shares)
        found[level] = len(least) - 1
    return found
