"""The search tree of one question: depth first over boxes, in slices that can be resumed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from . import threshold_bound as bd
from . import threshold_box as bx
from . import threshold_levels as ix
from . import threshold_peg as peg
from .threshold_box import OPEN, Costs
from .threshold_branch import best_cut, score
from .threshold_levels import MAY_AD, MAY_SD, MAY_WAIT, Floats, Integers, Levels, Shares, kernel
from .threshold_primal import AD, NONE, SD, Exact, place

#: What a slice of the search returns.
REFUTED, FOUND, PAUSED, FULL = 0, 1, 2, 3
#: Entries of `Tree.tally`.
TOP, NODES, LEAVES, TRIALS = range(4)
#: Passes of tightening, bounding and pegging at a node, and price steps in each.
PASSES, STEPS = 5, 25
#: Dimensions tried by strong branching, and price steps for each half.
TRIED, TRIAL_STEPS = 5, 3


class Tree(NamedTuple):
    """Open boxes of a depth-first search, and its answer.

    Attributes
    ----------
    box : (size, 2, 12)
        Lower and upper ends.
    options : (size, K)
        What each user may still do.
    price : (size, 7) float
        The parent's prices.
    tally : (4,)
        Open boxes, nodes, nodes branched on users, halves priced.
    merit : (2, 12) float
        Running mean of each dimension's scores, and the node at which it was tried last.
    answer : (K,) int8
        Modes of the schedule found.
    point : (2,)
        Its z and λ as grid positions.
    """

    box: Integers
    options: Integers
    price: Floats
    tally: Integers
    merit: Floats
    answer: NDArray[np.int8]
    point: Integers


def new_tree(users: int, size: int = 256) -> Tree:
    """Return an empty tree with room for `size` open boxes."""
    return Tree(
        box=np.zeros((size, 2, ix.DIMENSIONS), np.int64),
        options=np.zeros((size, users), np.int64),
        price=np.zeros((size, bd.PRICES)),
        tally=np.zeros(4, np.int64),
        merit=np.zeros((2, ix.DIMENSIONS)),
        answer=np.zeros(users, np.int8),
        point=np.zeros(2, np.int64),
    )


def grown(tree: Tree) -> Tree:
    """Return the tree with room for twice as many open boxes."""
    return tree._replace(
        box=np.concatenate([tree.box, tree.box]),
        options=np.concatenate([tree.options, tree.options]),
        price=np.concatenate([tree.price, tree.price]),
    )


def plant(lv: Levels, sh: Shares, tree: Tree, goal: int) -> None:
    """Make the tree hold the root box of a question only."""
    tree.box[0, 0] = 0
    tree.box[0, 1, : ix.THRESHOLDS] = lv.size - 1
    tree.box[0, 1, ix.SHARE :] = len(sh.z) - 1, sh.room.shape[1] - 1, goal
    tree.options[0] = lv.options
    memory = 0.2 if sh.joint else 0.1
    tree.price[0] = 0.4, 0.4, memory, memory, 0.0, 0.0, 1 / goal
    tree.merit[0], tree.merit[1] = 1e9, 0.0
    tree.tally[TOP] = 1


@kernel()
def _settle(
    lv: Levels, sh: Shares, c: Costs, r: peg.Rewards, low: Integers, high: Integers,
    options: Integers, price: Floats, goal: int, scratch: Floats,
) -> float:  # fmt: skip
    """Tighten, bound and peg until nothing changes; -1: the box holds no answer."""
    bound = 0.0
    for _ in range(PASSES):
        if not bx.tighten(lv, sh, c, low, high, options, goal, 4):
            return -1.0
        bound = bd.improve(c, price, goal, sh.joint, STEPS, scratch[0], scratch[1])
        if bound < -bd.margin(price, len(options)):
            return -1.0
        peg.reward(c, price, r)
        state = peg.peg_users(lv, c, r, low, high, options, price, bound)
        if state == peg.SAME:
            state = peg.peg_levels(lv, sh, c, r, low, high, price, bound, goal)
        if state == peg.EMPTY:
            return -1.0
        if state == peg.SAME:
            break
    return max(bound, 0.0)


@kernel()
def _round(
    e: Exact, sh: Shares, c: Costs, r: peg.Rewards, low: Integers, high: Integers, goal: int,
    tree: Tree,
) -> bool:  # fmt: skip
    """Try the maximiser of the Lagrangian as a schedule."""
    served = 0
    for k in range(len(tree.answer)):
        mode = NONE
        if r.user[peg.BEST, k] > 0.0 or c.user[bx.WAIT, k] < OPEN:
            if c.user[bx.AD, k] > OPEN and r.user[peg.IN_AD, k] >= r.user[peg.IN_SD, k]:
                mode = AD
            elif c.user[bx.SD, k] > OPEN:
                mode = SD
        tree.answer[k] = mode
        served += int(mode != NONE)
    return served >= goal and place(e, sh, tree.answer, low, high, tree.point)


@kernel()
def _push(tree: Tree, low: Integers, high: Integers, options: Integers, price: Floats) -> int:
    top: int = tree.tally[TOP]
    for d in range(ix.DIMENSIONS):
        tree.box[top, 0, d], tree.box[top, 1, d] = low[d], high[d]
    for k in range(len(options)):
        tree.options[top, k] = options[k]
    for i in range(bd.PRICES):
        tree.price[top, i] = price[i]
    tree.tally[TOP] = top + 1
    return top


@kernel()
def _branch_on_user(
    lv: Levels, c: Costs, r: peg.Rewards, tree: Tree, low: Integers, high: Integers,
    options: Integers, price: Floats,
) -> None:  # fmt: skip
    """Push one box for each option of the user whose two best options are closest.

    All thresholds are fixed here. With every user fixed too, the box held one schedule, which
    `_round` has just tried.
    """
    chosen, closest = -1, np.inf
    for k in range(len(options)):
        wait, ad, sd = c.user[bx.WAIT, k], r.user[peg.IN_AD, k], r.user[peg.IN_SD, k]
        best = max(wait, max(ad, sd))
        second = wait + ad + sd - best - min(wait, min(ad, sd))
        if second > OPEN and best - second < closest:
            chosen, closest = k, best - second
    if chosen < 0:
        return
    tree.tally[LEAVES] += 1
    for row in range(3):
        if c.user[row, chosen] > OPEN:
            top = _push(tree, low, high, options, price)
            tree.options[top, chosen] = (MAY_WAIT, MAY_AD, MAY_SD)[row]
            if row > 0:
                first, stop = (0, 4) if row == bx.AD else (4, 9)
                if peg.imply(lv, tree.box[top, 0], high, chosen, first, stop) == peg.EMPTY:
                    tree.tally[TOP] = top


@njit(cache=True)
def search(e: Exact, lv: Levels, sh: Shares, tree: Tree, goal: int, nodes: int) -> int:
    """Continue a tree for so many nodes: is there a schedule that serves `goal` users?

    Returns
    -------
    int
        REFUTED (no), FOUND (`tree.answer`, at `tree.point`), PAUSED (resume later), or FULL (grow
        the tree and resume).
    """
    users = len(lv.options)
    width = max(max(lv.charge.shape[1], sh.share.shape[1]), max(sh.room.shape[1], users + 1))
    c, c2, r = bx.new_costs(users), bx.new_costs(users), peg.new_rewards(users, width)
    half_box, options = np.empty((2, 12), np.int64), np.empty(users, np.int64)
    l2, h2 = half_box[0], half_box[1]
    prices, scratch = np.empty((2, 7)), np.empty((2, 7))
    price, p2 = prices[0], prices[1]
    low, high = np.empty(12, np.int64), np.empty(12, np.int64)
    tally, merit, tried_at = tree.tally, tree.merit[0], tree.merit[1]
    estimate, cut_at = np.empty(12), np.empty(12, np.int64)
    last = tally[NODES] + nodes
    while tally[TOP] > 0:
        if tally[NODES] >= last:
            return PAUSED
        if tally[TOP] + 4 > len(tree.box):
            return FULL
        tally[TOP] -= 1
        tally[NODES] += 1
        top = tally[TOP]
        for d in range(12):
            low[d], high[d] = tree.box[top, 0, d], tree.box[top, 1, d]
        for k in range(users):
            options[k] = tree.options[top, k]
        for i in range(7):
            price[i] = tree.price[top, i]
        bound = _settle(lv, sh, c, r, low, high, options, price, goal, scratch)
        if bound < 0:
            continue
        if _round(e, sh, c, r, low, high, goal, tree):
            return FOUND
        best, at, where = -1.0, -1, 0
        lower_loss, upper_loss = 0.0, 0.0
        for d in range(12):
            estimate[d] = -1.0
            if low[d] < high[d]:
                merit_d, cut_at[d] = best_cut(lv, sh, c, r, price, bound, d, low[d], high[d], goal)
                estimate[d] = max(merit_d / (bound + 0.01), merit[d] if d >= 9 else 0.0) * (
                    1 + 0.02 * (tally[NODES] - tried_at[d])
                )
        alive = True
        for _ in range(TRIED):
            d = 0
            for i in range(1, 12):
                if estimate[i] > estimate[d]:
                    d = i
            if estimate[d] < 0:
                break
            estimate[d] = -1.0
            v = cut_at[d]
            if v < low[d] or v >= high[d]:
                continue
            first_loss, loss = 0.0, 0.0
            dead = 0
            for half in range(2):
                for i in range(12):
                    l2[i], h2[i] = low[i], high[i]
                for i in range(7):
                    p2[i] = price[i]
                if half == 0:
                    h2[d] = v
                else:
                    l2[d] = v + 1
                tally[TRIALS] += 1
                value = -1.0
                if bx.tighten(lv, sh, c2, l2, h2, options, goal, 2):
                    value = min(
                        bound,
                        bd.improve(c2, p2, goal, sh.joint, TRIAL_STEPS, scratch[0], scratch[1]),
                    )
                    if value >= -bd.margin(p2, users):
                        value = max(value, 0.0)
                if value < 0:
                    dead |= 1 << half
                first_loss, loss = loss, bound - value
            if dead == 3:
                alive = False
                break
            if dead == 1:
                low[d] = v + 1
            elif dead == 2:
                high[d] = v
            merit_d = 0.5 if dead else score(first_loss, loss, bound + 0.01) / (bound + 0.01)
            merit[d] = merit_d if merit[d] > 1e8 else 0.8 * merit[d] + 0.2 * merit_d
            tried_at[d] = tally[NODES]
            if not dead and merit_d > best:
                best, at, where = merit_d, d, v
                lower_loss, upper_loss = first_loss, loss
        if not alive:
            continue
        if at < 0 or not (low[at] <= where < high[at]):
            at = -1
            widest = 0
            for d in range(12):
                if high[d] - low[d] > widest:
                    widest, at, where = high[d] - low[d], d, (low[d] + high[d]) // 2
        if at < 0:
            _branch_on_user(lv, c, r, tree, low, high, options, price)
            continue
        for half in range(2):
            top = _push(tree, low, high, options, price)
            if (half == 0) == (lower_loss <= upper_loss):
                tree.box[top, 0, at] = where + 1
            else:
                tree.box[top, 1, at] = where
    return REFUTED
