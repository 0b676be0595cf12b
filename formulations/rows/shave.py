"""Box tightening: restrictions that counting refutes are taken away, until none is left.

Each probe restricts one thing of a box (a threshold to its upper or lower levels, a batch to hold a
user, z to one end) and counts; if no sizes are possible, the box loses what the probe allowed.
A probe never asks for an empty batch, whose thresholds mean nothing.
"""

from __future__ import annotations

from instances.costs import Integers
from instances.kernels import cached_njit

from .count import LEAST, MOST, Box, Packed, Part, Query, copied, fits, shrink
from .weights import refutes


@cached_njit()
def part_of(box: Box, side: int) -> Part:
    """Return a box's part for AD (0) or SD (1)."""
    return box.ad if side == 0 else box.sd


@cached_njit()
def empty(query: Query, box: Box, weights: Integers, rounds: int) -> bool:
    """Shrink a box in place; True if counting or weighted counting refutes it."""
    return not shrink(query, box, rounds) or refutes(query, box, weights)


@cached_njit()
def _refuted(
    query: Query, box: Box, weights: Integers, side: int, t: int, low: int, high: int
) -> bool:
    """Return whether no batch has its threshold within these ends."""
    probe = copied(box)
    part = part_of(probe, side)
    part.low[t], part.high[t] = low, high
    part.size[LEAST] = max(1, part.size[LEAST])
    return empty(query, probe, weights, 1)


@cached_njit()
def _cut_ends(query: Query, box: Box, weights: Integers, side: int) -> bool:
    """Cut refuted levels off both ends of every threshold, by bisection; True if any went."""
    part, changed = part_of(box, side), False
    for t in range(len(part.low)):
        low, high = part.low[t], part.high[t]
        while low < high:  # the highest lower end that is not refuted
            middle = (low + high + 1) // 2
            if _refuted(query, box, weights, side, t, middle, part.high[t]):
                high = middle - 1
            else:
                low = middle
        changed = changed or high < part.high[t]
        part.high[t] = high
        low = part.low[t]
        while low < high:  # the lowest upper end that is not refuted
            middle = (low + high) // 2
            if _refuted(query, box, weights, side, t, part.low[t], middle):
                low = middle + 1
            else:
                high = middle
        changed = changed or low > part.low[t]
        part.low[t] = low
    return changed


@cached_njit()
def _close_users(query: Query, box: Box, weights: Integers, mode: Packed, side: int) -> bool:
    """Close users who cannot be members; True if any was."""
    part, changed = part_of(box, side), False
    for k in range(len(mode.users)):
        if not fits(mode, part, k):
            continue
        probe = copied(box)
        other = part_of(probe, side)
        for t in range(len(part.low)):
            other.low[t] = max(part.low[t], mode.rank[t, k])
        other.size[LEAST] = max(1, part.size[LEAST])
        if empty(query, probe, weights, 1):
            part.open[k] = False
            changed = True
    return changed


@cached_njit()
def _nobody(query: Query, box: Box, weights: Integers, side: int) -> bool:
    """Return whether a batch must be empty."""
    probe = copied(box)
    part = part_of(probe, side)
    part.size[LEAST] = max(1, part.size[LEAST])
    return part.size[MOST] == 0 or empty(query, probe, weights, 1)


@cached_njit()
def shave(query: Query, box: Box, weights: Integers, rounds: int) -> bool:
    """Tighten a box in place; False if counting shows it empty."""
    for _ in range(rounds):
        if empty(query, box, weights, 8):
            return False
        changed = False
        for side in range(2):
            mode = query.ad if side == 0 else query.sd
            if _nobody(query, box, weights, side):
                changed = changed or part_of(box, side).size[MOST] > 0
                part_of(box, side).size[MOST] = 0
                continue
            changed = _cut_ends(query, box, weights, side) or changed
            changed = _close_users(query, box, weights, mode, side) or changed
        if not changed:
            break
    return not empty(query, box, weights, 8)
