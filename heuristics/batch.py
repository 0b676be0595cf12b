"""`Batch`: the users of one mode, sorted for the search, and the limits they must meet.

AD and SD have one shape. A batch with the maxima L (input tokens) and A (accepted drafts; none
in AD) costs each of its users ``base + slope * L + pairs * growth(A) + prefill(L)`` ticks of the
whole GPU and ``memory + kv * L + steps * memory_growth(A)`` bytes, and must compute within
``deadline - upload - step * length``, where `length` is what grows with the user alone: output
tokens in AD, iterations in SD.

Each of the four thresholds of a batch (L, A, its earliest deadline, its longest upload) is a
*level*: a position among the users' distinct values, from the cheapest to the dearest for the
batch. So a threshold at level j admits the users of rank at most j.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from instances.costs import Integers
from instances.kernels import part_njit, passed

#: The thresholds: columns of `Batch.ranks`.
INPUT, ACCEPT, DEADLINE, UPLOAD = 0, 1, 2, 3
#: Columns of `Batch.costs`.
BASE, SLOPE, PAIRS, MEMORY, STEPS, LENGTH = 0, 1, 2, 3, 4, 5
#: Rows of `Batch.levels`; the last two stand for the thresholds of their name.
TOKENS, PREFILL, DEADLINES, UPLOADS, GROWTH, MEMORY_GROWTH = 0, 1, 2, 3, 4, 5
#: A key holds two ranks of 30 bits, each below a guard bit.
GUARDS = (1 << 62) | (1 << 30)
#: Products below this cannot overflow int64.
SAFE_PRODUCT = 4e18
#: For kernels to start counting from; a plain 0 would make them compile what they pass it to twice.
ZERO = passed(0)


#: Compiles a part of a kernel; the second, one that makes and returns no arrays.
inner, lean = part_njit(allocates=True), part_njit()


class Batch(NamedTuple):
    """The n users that one mode may serve, sorted by (length, position in the instance).

    Attributes
    ----------
    user : (n,)
        Position in the instance.
    costs : (n, 6)
        The user's share of the batch's costs, by column: `BASE`, `SLOPE`, `PAIRS`, `MEMORY`,
        `STEPS`, `LENGTH` (see the module).
    ranks : (n, 4)
        Level of the user's own value in each threshold.
    keys : (n, 2)
        The ranks in two integers, for the test of `admitted`.
    levels : (6, m)
        What a threshold's level means, by row: input `TOKENS`, ticks of one `PREFILL` of these,
        `DEADLINES` (latest first, less what a batch spends once), `UPLOADS`, and ticks per pair
        (`GROWTH`) and bytes per step (`MEMORY_GROWTH`) at each number of accepted drafts.
    sizes : (4,)
        Number of levels of each threshold.
    kv, step : int
        Bytes per input token; ticks per unit of the greatest length.
    padded : bool
        Every user is charged the memory of the longest in the batch (eq. 27).
    largest : float
        No time compared in the search exceeds this many ticks.
    """

    user: Integers
    costs: Integers
    ranks: Integers
    keys: Integers
    levels: Integers
    sizes: Integers
    kv: int
    step: int
    padded: bool
    largest: float


class Limits(NamedTuple):
    """What a batch may use: ``whole * time <= share * budget`` and ``bytes <= room``."""

    share: int
    whole: int
    room: int
    narrow: bool  # the products of the time row cannot overflow


@lean
def limits(batch: Batch, share: int, whole: int, room: int) -> Limits:
    """Return the limits at a compute share of ``share / whole`` and `room` bytes."""
    return Limits(share, whole, room, batch.largest * whole < SAFE_PRODUCT)


@lean
def part_of(budget: int, share: int, whole: int) -> int:
    """Return ⌊share * budget / whole⌋ without overflow."""
    return budget // whole * share + budget % whole * share // whole


@lean
def in_time(limit: Limits, time: int, budget: int) -> bool:
    """Return whether ``whole * time <= share * budget``, without overflow."""
    if limit.narrow:
        return bool(limit.whole * time <= limit.share * budget)
    if budget < 0:
        return False
    return bool(time <= part_of(budget, limit.share, limit.whole))


@lean
def copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy a row (a slice assignment would compile its error message into every kernel)."""
    for i in range(len(source)):
        target[i] = source[i]


@inner
def stable_order(values: Integers) -> Integers:
    """Return the positions of ascending values, equal ones in their order (a merge sort).

    numpy's argsort does the same, but takes seconds to compile into each kernel.
    """
    count, width = len(values), 1
    order, merged = np.arange(count), np.empty(count, np.int64)
    while width < count:
        for start in range(0, count, 2 * width):
            middle, end = min(start + width, count), min(start + 2 * width, count)
            left, right = start, middle
            for at in range(start, end):
                if right == end or (left < middle and values[order[left]] <= values[order[right]]):
                    merged[at] = order[left]
                    left += 1
                else:
                    merged[at] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order


@inner
def sorted_users(allowed: NDArray[np.bool_], length: Integers) -> Integers:
    """Return the positions of the allowed users in the order (length, position)."""
    order, count = stable_order(length), 0
    for k in order:
        if allowed[k]:
            order[count] = k
            count += 1
    return order[:count].copy()


@inner
def keys_of(ranks: Integers) -> Integers:
    """Return each user's two keys: input and deadline rank, upload and accept rank.

    With the thresholds packed the same way below set guard bits, subtracting a key leaves a guard
    bit set exactly where the rank is not above the threshold: one test for four comparisons.
    """
    keys = np.empty((len(ranks), 2), np.int64)
    for k in range(len(ranks)):
        keys[k, 0] = ranks[k, INPUT] << 32 | ranks[k, DEADLINE]
        keys[k, 1] = ranks[k, UPLOAD] << 32 | ranks[k, ACCEPT]
    return keys


@inner
def assemble(
    user: Integers,
    costs: Integers,
    values: Integers,
    meaning: Integers,
    kv: int,
    step: int,
    padded: bool,
) -> Batch:
    """Return a batch from its users' costs and values.

    Parameters
    ----------
    user : (n,)
        Positions in the instance, sorted.
    costs : (n, 6)
        See `Batch`.
    values : (n, 4)
        What each threshold ranks; deadlines negated, so that the cheapest is the least.
    meaning : (6, n)
        The rows of `Batch.levels`, if each user set the thresholds.
    kv, step, padded
        See `Batch`.
    """
    users = len(user)
    ranks, sizes = np.empty((users, 4), np.int64), np.zeros(4, np.int64)
    levels = np.zeros((6, max(users, 1)), np.int64)
    for threshold in range(4):
        order = stable_order(values[:, threshold].copy())
        level = -1
        for i in range(users):
            k = order[i]
            if i == 0 or values[k, threshold] != values[order[i - 1], threshold]:
                level += 1
                _describe(levels, threshold, level, meaning, k)
            ranks[k, threshold] = level
        sizes[threshold] = level + 1
    largest = _largest_time(costs, levels) if users else 0.0
    return Batch(user, costs, ranks, keys_of(ranks), levels, sizes, kv, step, padded, largest)


@lean
def _describe(levels: Integers, threshold: int, level: int, source: Integers, k: int) -> None:
    """Copy the rows that a threshold owns from column k of the source."""
    if threshold == INPUT:
        levels[TOKENS, level], levels[PREFILL, level] = source[TOKENS, k], source[PREFILL, k]
    elif threshold == ACCEPT:
        levels[GROWTH, level] = source[GROWTH, k]
        levels[MEMORY_GROWTH, level] = source[MEMORY_GROWTH, k]
    elif threshold == DEADLINE:
        levels[DEADLINES, level] = source[DEADLINES, k]
    else:
        levels[UPLOADS, level] = source[UPLOADS, k]


@lean
def _largest_time(costs: Integers, levels: Integers) -> float:
    """Return a bound on any time in the search: all deadlines, plus one user at the worst maxima.

    A prefix is cut at the first user that does not fit, so sums stay below the last that did (a
    deadline at most) plus one user's cost.
    """
    base = slope = pairs = tokens = prefill = growth = deadline = 0.0
    for k in range(len(costs)):
        base, slope = max(base, float(costs[k, BASE])), max(slope, float(costs[k, SLOPE]))
        pairs = max(pairs, float(costs[k, PAIRS]))
    for j in range(levels.shape[1]):
        tokens, prefill = (
            max(tokens, float(levels[TOKENS, j])),
            max(prefill, float(levels[PREFILL, j])),
        )
        growth = max(growth, float(levels[GROWTH, j]))
        deadline = max(deadline, abs(float(levels[DEADLINES, j])))
    return base + slope * tokens + pairs * growth + prefill + deadline


@inner
def without(batch: Batch, taken: NDArray[np.bool_]) -> Batch:
    """Return the batch without the users whose position in the instance is marked.

    The thresholds keep only the levels of the users that are left.
    """
    count = 0
    for k in range(len(batch.user)):
        count += not taken[batch.user[k]]
    user, costs = np.empty(count, np.int64), np.empty((count, 6), np.int64)
    ranks, sizes = np.empty((count, 4), np.int64), np.zeros(4, np.int64)
    levels = np.zeros_like(batch.levels)
    at = 0
    for k in range(len(batch.user)):
        if not taken[batch.user[k]]:
            user[at] = batch.user[k]
            copy(batch.costs[k], costs[at])
            copy(batch.ranks[k], ranks[at])
            at += 1
    fresh = np.empty(batch.levels.shape[1], np.int64)
    for threshold in range(4):
        for j in range(len(fresh)):
            fresh[j] = -1
        for k in range(count):
            fresh[ranks[k, threshold]] = 0
        level = ZERO
        for j in range(batch.sizes[threshold]):
            if fresh[j] == 0:
                fresh[j] = level
                _describe(levels, threshold, level, batch.levels, j)
                level += 1
        sizes[threshold] = level
        for k in range(count):
            ranks[k, threshold] = fresh[ranks[k, threshold]]
    return Batch(
        user,
        costs,
        ranks,
        keys_of(ranks),
        levels,
        sizes,
        batch.kv,
        batch.step,
        batch.padded,
        batch.largest,
    )
