"""The search tree of one question: depth first over boxes, in slices that can be resumed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from instances.kernels import cached_njit, passed

from . import threshold_bound as bd
from . import threshold_box as bx
from . import threshold_levels as ix
from . import threshold_peg as peg
from .threshold_box import OPEN, Costs
from .threshold_branch import AFTER, DIMENSION, UNKNOWN, UPPER_FIRST, Branch, choose, new_branch
from .threshold_count import tighten
from .threshold_levels import (
    MAY_AD,
    MAY_SD,
    MAY_WAIT,
    Floats,
    Integers,
    Levels,
    Shares,
    kernel,
    new_levels,
    restrict,
)
from .threshold_primal import AD, NONE, SD, Exact, place

#: What a slice of the search returns.
REFUTED, FOUND, PAUSED, FULL, LEAF = 0, 1, 2, 3, 4
#: Entries of `Tree.tally`.
TOP, NODES, LEAVES, HALT = range(4)
#: Passes of tightening, bounding and pegging at a node; rounds in each, and price steps in
#: the first and in later ones.
PASSES, ROUNDS, FIRST_STEPS, STEPS = 3, passed(2), 20, 8


class Tree(NamedTuple):
    """Open boxes of a depth-first search, and its answer.

    Attributes
    ----------
    box : (size, 2, 13)
        Lower and upper ends.
    options : (size, K)
        What each user may still do.
    price : (size, 7) float
        The parent's prices.
    tally : (4,)
        Open boxes, nodes, nodes branched on users, and whether to halt at a box of one point
        instead of branching on users.
    merit : (2, 13) float
        Memory of strong branching (`threshold_branch.choose`).
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


class Space(NamedTuple):
    """Scratch space of a search, which allocates nothing itself.

    Attributes
    ----------
    levels : Levels
        The users that a box still lets in.
    position : (K,)
        Their places in `levels`.
    costs, spare : Costs
        Of a box, and of a half of it.
    rewards : Rewards
    branch : Branch
    box : (2, 13)
        Lower and upper ends.
    price : (3, 7) float
        The box's prices, and two rows for their improvement.
    """

    levels: Levels
    position: Integers
    costs: Costs
    spare: Costs
    rewards: peg.Rewards
    branch: Branch
    box: Integers
    price: Floats


def new_space(lv: Levels, shares: Iterable[Shares]) -> Space:
    """Return space for the search of an instance's trees."""
    users = len(lv.options)
    grids = [max(sh.share.shape[1], sh.room.shape[1]) for sh in shares]
    width = max(lv.charge.shape[1], users + 1, *grids)
    return Space(
        levels=new_levels(lv),
        position=np.empty(users, np.int64),
        costs=bx.new_costs(users),
        spare=bx.new_costs(users),
        rewards=peg.new_rewards(users, width),
        branch=new_branch(width),
        box=np.empty((2, ix.DIMENSIONS), np.int64),
        price=np.empty((3, bd.PRICES)),
    )


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
    tree.box[0, 1, : ix.THRESHOLDS] = lv.ordered.max(axis=1, initial=0)
    tree.box[0, 1, ix.SHARE :] = len(sh.z) - 1, sh.room.shape[1] - 1, goal
    tree.options[0] = lv.options
    memory = 0.2 if sh.joint else 0.1
    tree.price[0] = 0.4, 0.4, memory, memory, 0.0, 0.0, 1 / goal
    tree.merit[0], tree.merit[1] = UNKNOWN, tree.tally[NODES]
    tree.tally[TOP] = 1


@kernel()
def _settle(
    lv: Levels, sh: Shares, c: Costs, r: peg.Rewards, low: Integers, high: Integers,
    price: Floats, goal: int, scratch: Floats,
) -> float:  # fmt: skip
    """Tighten, bound and peg until nothing changes; -1: the box holds no answer."""
    users, bound = lv.members[ix.USERS], 0.0
    for i in range(PASSES):
        if not tighten(lv, sh, c, low, high, goal, ROUNDS):
            return -1.0
        steps = FIRST_STEPS if i == 0 else STEPS
        bound = bd.improve(c, users, price, goal, sh.joint, steps, scratch)
        if bound < -bd.margin(price, users):
            return -1.0
        peg.reward(c, users, price, r)
        state = peg.peg_users(lv, c, r, low, high, price, bound)
        if state == peg.SAME:
            state = peg.peg_levels(lv, sh, c, r, low, high, price, bound, goal)
        if state == peg.EMPTY:
            return -1.0
        if state == peg.SAME:
            break
    for k in range(users):
        open_ = MAY_WAIT if c.user[bx.WAIT, k] > OPEN else 0
        open_ += MAY_AD if c.user[bx.USE, k] > OPEN else 0
        lv.options[k] = open_ + (MAY_SD if c.user[bx.USE + 1, k] > OPEN else 0)
    return max(bound, 0.0)


@kernel()
def _round(
    e: Exact, lv: Levels, sh: Shares, c: Costs, r: peg.Rewards, low: Integers, high: Integers,
    goal: int, tree: Tree,
) -> bool:  # fmt: skip
    """Try the maximiser of the Lagrangian as a schedule.

    Rewards may be from before options were pegged, so only open options count: where every user
    has one, the schedule tried is the only one left in the box.
    """
    for k in range(len(tree.answer)):
        tree.answer[k] = NONE
    served = 0
    for k in range(lv.members[ix.USERS]):
        if r.user[peg.BEST, k] > 0.0 or c.user[bx.WAIT, k] < OPEN:
            mode, to_ad, to_sd = NONE, c.user[bx.USE, k] > OPEN, c.user[bx.USE + 1, k] > OPEN
            if to_ad and (not to_sd or r.user[peg.IN_AD, k] >= r.user[peg.IN_SD, k]):
                mode = AD
            elif to_sd:
                mode = SD
            tree.answer[lv.place[k]] = mode
            served += int(mode != NONE)
    return served >= goal and place(e, sh, tree.answer, low, high, tree.point)


@kernel()
def _push(tree: Tree, lv: Levels, low: Integers, high: Integers, price: Floats) -> int:
    top: int = tree.tally[TOP]
    for d in range(ix.DIMENSIONS):
        tree.box[top, 0, d], tree.box[top, 1, d] = low[d], high[d]
    for k in range(tree.options.shape[1]):
        tree.options[top, k] = MAY_WAIT
    for k in range(lv.members[ix.USERS]):
        tree.options[top, lv.place[k]] = lv.options[k]
    for i in range(bd.PRICES):
        tree.price[top, i] = price[i]
    tree.tally[TOP] = top + 1
    return top


@kernel()
def _branch_on_user(
    lv: Levels, r: peg.Rewards, tree: Tree, low: Integers, high: Integers, price: Floats
) -> None:
    """Push one box for each option of the user whose two best options are closest.

    All thresholds are fixed here. With every user fixed too, the box held one schedule, which
    `_round` has just tried.
    """
    chosen, closest = -1, np.inf
    for k in range(lv.members[ix.USERS]):
        may = lv.options[k]
        wait = 0.0 if may & MAY_WAIT else bx.SHUT
        ad = r.user[peg.IN_AD, k] if may & MAY_AD else bx.SHUT
        sd = r.user[peg.IN_SD, k] if may & MAY_SD else bx.SHUT
        best = max(wait, max(ad, sd))
        second = wait + ad + sd - best - min(wait, min(ad, sd))
        if second > OPEN and best - second < closest:
            chosen, closest = k, best - second
    if chosen < 0:
        return
    tree.tally[LEAVES] += 1
    may = lv.options[chosen]
    for bit in (MAY_WAIT, MAY_AD, MAY_SD):
        if may & bit:
            top = _push(tree, lv, low, high, price)
            tree.options[top, lv.place[chosen]] = bit
            if bit != MAY_WAIT:
                mode = ix.AD if bit == MAY_AD else ix.SD
                if peg.imply(lv, tree.box[top, 0], high, chosen, mode) == peg.EMPTY:
                    tree.tally[TOP] = top


@cached_njit(error_model="numpy", _nrt=False)
def search(
    e: Exact, full: Levels, sh: Shares, space: Space, tree: Tree, goal: int, nodes: int
) -> int:
    """Continue a tree for so many nodes: is there a schedule that serves `goal` users?

    Returns
    -------
    int
        REFUTED (no), FOUND (`tree.answer`, at `tree.point`), PAUSED (resume later), FULL (grow the
        tree and resume), or LEAF (the box in place ``tally[TOP]`` is one point; resuming drops it).
    """
    lv, c, r, b = space.levels, space.costs, space.rewards, space.branch
    low, high, price, scratch = space.box[0], space.box[1], space.price[0], space.price[1:]
    spare, merit, tally = space.spare, tree.merit, tree.tally
    last = tally[NODES] + nodes
    while tally[TOP] > 0:
        if tally[NODES] >= last:
            return PAUSED
        if tally[TOP] + 4 > len(tree.box):
            return FULL
        tally[TOP] -= 1
        tally[NODES] += 1
        top = tally[TOP]
        for d in range(ix.DIMENSIONS):
            low[d], high[d] = tree.box[top, 0, d], tree.box[top, 1, d]
        for i in range(bd.PRICES):
            price[i] = tree.price[top, i]
        restrict(full, tree.options[top], lv, space.position)
        bound = _settle(lv, sh, c, r, low, high, price, goal, scratch)
        if bound < 0:
            continue
        if _round(e, lv, sh, c, r, low, high, goal, tree):
            return FOUND
        node = tally[NODES]
        if not choose(lv, sh, c, spare, b, low, high, price, goal, bound, merit, node, scratch):
            continue
        d = b.cut[DIMENSION]
        if d < 0 and tally[HALT]:
            for i in range(ix.DIMENSIONS):
                tree.box[top, 0, i], tree.box[top, 1, i] = low[i], high[i]
            return LEAF
        if d < 0:
            _branch_on_user(lv, r, tree, low, high, price)
            continue
        for half in range(2):
            top = _push(tree, lv, low, high, price)
            upper = half == b.cut[UPPER_FIRST]
            tree.box[top, 0 if upper else 1, d] = b.cut[AFTER] + int(upper)
    return REFUTED
