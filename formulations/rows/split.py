"""Where to split a box: the cut whose halves the weights of the box come closest to refuting."""

from __future__ import annotations

import numpy as np

from instances.costs import Integers
from instances.kernels import cached_njit

from .count import LEAST, MOST, Box, Packed, Part, Query, copied, fits, shrink
from .shave import part_of
from .weights import margin

#: `Cut[0]`: a threshold of AD or SD, the size of the AD batch, z.
SIZE, SHARE = 2, 3
#: A cut: what is cut, the threshold, the first value of the upper half; -1: nothing is left to cut.
Cut = tuple[int, int, int]
#: Weight of the half that gains more.
BETTER_HALF = 0.2
#: Cuts tried of each threshold, at quantiles of its users.
QUANTILES = 4


@cached_njit()
def half(box: Box, cut: Cut, upper: bool) -> Box:
    """Return one half of a box."""
    kind, t, value = cut
    part = copied(box)
    if kind == SIZE:
        part.ad.size[LEAST if upper else MOST] = value if upper else value - 1
    elif kind == SHARE:
        part.z[0 if upper else 1] = value if upper else value - 1
    elif upper:
        part_of(part, kind).low[t] = value
    else:
        part_of(part, kind).high[t] = value - 1
    return part


def cut_inside(box: Box, cut: Cut) -> bool:
    """Return whether a cut leaves something of the box on both sides."""
    kind, t, value = cut
    if kind in (SIZE, SHARE):
        low, high = box.ad.size if kind == SIZE else box.z
        return bool(t == 0 and low < value <= high)
    if kind not in (0, 1):
        return False
    part = (box.ad, box.sd)[kind]
    return bool(0 <= t < len(part.low) and part.low[t] < value <= part.high[t])


@cached_njit()
def _gain(query: Query, box: Box, weights: Integers, base: float, cut: Cut) -> float:
    """Return how much closer to refutation the halves are than the box."""
    gains = np.zeros(2)
    for upper in range(2):
        part = half(box, cut, upper == 1)
        found = margin(query, part, weights) if shrink(query, part, 1) else 1.0
        gains[upper] = min(0.0, found) - base
    return float(gains.min() + BETTER_HALF * gains.max())


@cached_njit()
def _own_levels(mode: Packed, part: Part, t: int) -> Integers:
    """Return the ascending levels, within the ends, of the users who fit."""
    own = [
        min(part.high[t], max(part.low[t], mode.rank[t, k]))
        for k in range(len(mode.users))
        if fits(mode, part, k)
    ]
    return np.sort(np.array(own, np.int64))


@cached_njit()
def choose(query: Query, box: Box, weights: Integers) -> Cut:
    """Return the most promising cut."""
    base, best = margin(query, box, weights), -np.inf
    choice = (-1, -1, -1)
    for side in range(2):
        mode, part = (query.ad, box.ad) if side == 0 else (query.sd, box.sd)
        if part.size[MOST] == 0:
            continue
        for t in range(len(part.low)):
            if part.low[t] >= part.high[t]:
                continue
            own, last = _own_levels(mode, part, t), -1
            for q in range(1, QUANTILES):
                middle = own[q * len(own) // QUANTILES] if len(own) else part.high[t]
                value = max(part.low[t] + 1, middle)
                if value == last:
                    continue
                last = value
                gain = _gain(query, box, weights, base, (side, t, value))
                if gain > best:
                    best, choice = gain, (side, t, value)
    for kind in (SIZE, SHARE):
        low, high = (box.ad.size[0], box.ad.size[1]) if kind == SIZE else (box.z[0], box.z[1])
        if low < high:
            cut = (kind, 0, (low + high) // 2 + 1)
            gain = _gain(query, box, weights, base, cut)
            if gain > best:
                best, choice = gain, cut
    return choice
