"""Where to split a box: strong branching on the thresholds that have paid off.

A *cut* of a dimension after level v makes two halves. A trial tightens and bounds both cheaply; a
half that proves empty shrinks the box for good. The merit of a cut is how much of the slack its
halves lose; dimensions are tried in the order of their mean merits so far, at levels that divide
the users who may enter evenly. Trials steer the search; only emptied halves cut anything off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from instances.kernels import passed

from . import threshold_bound as bd
from . import threshold_box as bx
from . import threshold_levels as ix
from .threshold_box import OPEN, Costs
from .threshold_count import tighten
from .threshold_levels import Floats, Integers, Levels, Shares, inlined, kernel

#: Dimensions tried at a node, cuts of each; rounds of tightening and price steps for each half.
TRIED, CUTS = 4, 2
TRIAL_ROUNDS, TRIAL_STEPS = passed(1), passed(3)
#: Weight of the half that loses more.
BETTER_HALF = 0.2
#: A dimension's claim to be tried grows by this much at every node that passes it over.
AGEING = 0.02
UNKNOWN = 1e9
#: Entries of `Branch.cut`.
DIMENSION, AFTER, UPPER_FIRST = range(3)


class Branch(NamedTuple):
    """Scratch space of strong branching.

    Attributes
    ----------
    claim : (13,) float
        Each dimension's claim to be tried.
    box : (2, 13)
        A half.
    price : (1, 7) float
        Its prices.
    crowd : (width,)
        Users by level.
    cut : (3,)
        The choice: dimension (-1: none), level, and whether the lower half lost less.
    """

    claim: Floats
    box: Integers
    price: Floats
    crowd: Integers
    cut: Integers


def new_branch(width: int) -> Branch:
    """Return scratch space."""
    return Branch(
        np.zeros(ix.DIMENSIONS),
        np.zeros((2, ix.DIMENSIONS), np.int64),
        np.zeros((1, bd.PRICES)),
        np.zeros(width, np.int64),
        np.zeros(3, np.int64),
    )


@inlined()
def _crowd(lv: Levels, c: Costs, d: int, low: int, high: int, crowd: Integers) -> int:
    """Set `crowd[v]` to the users that v + 1, but not v, lets in; return their number."""
    for v in range(low, high):
        crowd[v] = 0 if d < ix.THRESHOLDS else 1
    if d >= ix.THRESHOLDS:
        return high - low
    total, may = 0, bx.USE + d // ix.SIDE
    for k in range(lv.members[ix.USERS]):
        if c.user[may, k] > OPEN and lv.rank[d, k] > low:
            crowd[min(lv.rank[d, k], high) - 1] += 1
            total += 1
    return total


@kernel()
def _half(
    lv: Levels, sh: Shares, c: Costs, b: Branch, low: Integers, high: Integers, price: Floats,
    goal: int, bound: float, cut: int, upper: int, d: int, scratch: Floats,
) -> float:  # fmt: skip
    """Return the slack that one half can have at most; -1: it is empty."""
    for i in range(ix.DIMENSIONS):
        b.box[0, i], b.box[1, i] = low[i], high[i]
    b.box[1 - upper, d] = cut + upper
    for i in range(bd.PRICES):
        b.price[0, i] = price[i]
    if not tighten(lv, sh, c, b.box[0], b.box[1], goal, TRIAL_ROUNDS):
        return -1.0
    users = lv.members[ix.USERS]
    slack = bd.improve(c, users, b.price[0], goal, sh.joint, TRIAL_STEPS, scratch)
    if slack < -bd.margin(b.price[0], users):
        return -1.0
    return max(0.0, min(bound, slack))


@kernel()
def choose(
    lv: Levels, sh: Shares, c: Costs, spare: Costs, b: Branch, low: Integers, high: Integers,
    price: Floats, goal: int, bound: float, memory: Floats, node: int, scratch: Floats,
) -> bool:  # fmt: skip
    """Choose a cut (`b.cut`), shrinking the box on the way; False: it has become empty.

    `memory` (2, 13) holds each dimension's mean merit (`UNKNOWN` before its first trial), and the
    node at which it was tried last.
    """
    merit, tried_at, whole, claim = memory[0], memory[1], bound + 0.01, b.claim
    for d in range(ix.DIMENSIONS):
        claim[d] = merit[d] * (1 + AGEING * (node - tried_at[d])) if low[d] < high[d] else -1.0
    best = -1.0
    b.cut[DIMENSION] = -1
    for _ in range(TRIED):
        d = int(np.argmax(claim))
        if claim[d] < 0:
            break
        claim[d] = -1.0
        total = _crowd(lv, c, d, low[d], high[d], b.crowd)
        v, before, found, last = low[d], b.crowd[low[d]], 0.0, high[d] - 1
        for i in range(1, CUTS + 1):
            while v < last and before * (CUTS + 1) < i * total:
                v += 1
                before += b.crowd[v]
            if v < low[d] or v >= high[d] or (b.cut[DIMENSION] == d and b.cut[AFTER] == v):
                continue
            lower, upper = 0.0, 0.0
            for half in range(2):
                lower = upper
                upper = _half(lv, sh, spare, b, low, high, price, goal, bound, v, half, d, scratch)
            if lower < 0 and upper < 0:
                return False
            if lower < 0:
                low[d] = v + 1
            elif upper < 0:
                high[d] = v
            lost, more = bound - max(lower, upper), bound - min(lower, upper)
            gain = 0.5 if min(lower, upper) < 0 else (lost + BETTER_HALF * more) / whole
            found = max(found, gain)
            if min(lower, upper) >= 0 and gain > best:
                best = gain
                b.cut[DIMENSION], b.cut[AFTER], b.cut[UPPER_FIRST] = d, v, int(lower >= upper)
        merit[d] = found if merit[d] == UNKNOWN else 0.8 * merit[d] + 0.2 * found
        tried_at[d] = node
    d = b.cut[DIMENSION]
    if d < 0 or not (low[d] <= b.cut[AFTER] < high[d]):
        _widest(low, high, b.cut)
    return True


@inlined()
def _widest(low: Integers, high: Integers, cut: Integers) -> None:
    """Cut the widest interval in the middle; dimension -1 if none is open."""
    widest = 0
    cut[DIMENSION] = -1
    for d in range(ix.DIMENSIONS):
        if high[d] - low[d] > widest:
            widest = high[d] - low[d]
            cut[DIMENSION], cut[AFTER], cut[UPPER_FIRST] = d, (low[d] + high[d]) // 2, 1
