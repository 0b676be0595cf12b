"""A box search over a batch's thresholds: the exact optimum of P3.1 and P3.2.

The *thresholds* are the greatest input L, the greatest number of accepted drafts A (SD), the
earliest deadline t and the longest upload u; the users they admit are served in the batch's order
until time or memory runs out. A *box* holds an interval of levels for each. Its relaxed prefix
admits whoever some point of the box admits and charges the cheapest end of each interval, hence is
at least as long as every point's prefix: the k cheapest of more users cost no more than k of
fewer, and costs and fixed times only fall. Where the relaxed prefix is too short, the box is done.
Otherwise the prefix's own thresholds are a point to try, and the box is split between the end
that was charged and the prefix's own level, so that neither half can repeat the same relaxation.
Only the choice of the split uses floats; it changes the time taken, never the answer.

Ties. The answer is the one that the printed enumeration (values ascending in nested loops over
(L1, L2, t1, u1), or (L3, L4, N1, t2, u2); a later tuple must be strictly better) ends with: of all
tuples that serve the most users the lexicographically smallest, users of equal length in the
instance's order. `first_tuple` finds it by optimising one threshold after the other.
"""

from __future__ import annotations

import numpy as np

from instances.costs import Integers
from instances.kernels import passed

from .batch import (
    ACCEPT,
    BASE,
    DEADLINE,
    DEADLINES,
    GROWTH,
    GUARDS,
    INPUT,
    LENGTH,
    MEMORY,
    MEMORY_GROWTH,
    PAIRS,
    PREFILL,
    SLOPE,
    STEPS,
    TOKENS,
    UPLOAD,
    UPLOADS,
    Batch,
    Limits,
    copy,
    in_time,
    inner,
    lean,
)

#: A point holds the four thresholds; the position of its prefix's last user, the stand-in for L2
#: or N1; and, where it is the first of the printed order (else 0), that behind the last user
#: admitted by that L2 or N1.
LAST, STOP = 4, 5
POINT = 6
#: Order of the printed loops: L1 (L3), L4, L2 (N1), t, u.
LOOPS = (INPUT, ACCEPT, LAST, DEADLINE, UPLOAD)
#: `search` has no threshold to optimise but the count to maximise.
COUNT = passed(-1)


@lean
def prefix(
    batch: Batch, limit: Limits, low: Integers, high: Integers, stop: int, chosen: Integers
) -> int:
    """Return the length of a box's relaxed prefix; with low == high, of a tuple's prefix.

    Parameters
    ----------
    batch, limit : Batch, Limits
    low, high : (4,)
        First and last level of each threshold.
    stop : int
        Only users before this position of the batch are admitted.
    chosen : (n,)
        Receives the positions of the prefix's users.
    """
    levels, costs, keys = batch.levels, batch.costs, batch.keys
    tokens, each = levels[TOKENS, low[INPUT]], levels[PREFILL, low[INPUT]]
    growth, memory_growth = levels[GROWTH, low[ACCEPT]], levels[MEMORY_GROWTH, low[ACCEPT]]
    budget = levels[DEADLINES, low[DEADLINE]] - levels[UPLOADS, low[UPLOAD]]
    cache = batch.kv * tokens
    first = GUARDS | high[INPUT] << 32 | high[DEADLINE]
    second = GUARDS | high[UPLOAD] << 32 | high[ACCEPT]
    count = time = memory = 0
    for k in range(stop):
        if (first - keys[k, 0]) & (second - keys[k, 1]) & GUARDS != GUARDS:
            continue
        time += costs[k, BASE] + costs[k, SLOPE] * tokens + costs[k, PAIRS] * growth + each
        if not in_time(limit, time, budget - batch.step * costs[k, LENGTH]):
            break
        own = costs[k, MEMORY] + cache + costs[k, STEPS] * memory_growth
        memory += own
        if memory > limit.room and not batch.padded:
            break
        if batch.padded and count >= limit.room // own:
            break
        chosen[count] = k
        count += 1
    return count


@lean
def _own_levels(batch: Batch, chosen: Integers, count: int, own: Integers) -> None:
    """Write the thresholds that a set of users implies, and its last position."""
    for threshold in range(LAST):
        own[threshold] = 0
        for i in range(count):
            own[threshold] = max(own[threshold], batch.ranks[chosen[i], threshold])
    own[LAST] = chosen[count - 1]


@lean
def fits(batch: Batch, limit: Limits, chosen: Integers, count: int, own: Integers) -> bool:
    """Return whether a set of users fits its own thresholds."""
    levels, costs = batch.levels, batch.costs
    tokens = levels[TOKENS, own[INPUT]]
    base = slope = pairs = steps = constant = 0
    for i in range(count):
        k = chosen[i]
        base += costs[k, BASE]
        slope += costs[k, SLOPE]
        pairs += costs[k, PAIRS]
        steps += costs[k, STEPS]
        constant += costs[k, MEMORY]
    last = chosen[count - 1]
    budget = levels[DEADLINES, own[DEADLINE]] - levels[UPLOADS, own[UPLOAD]]
    time = base + slope * tokens + pairs * levels[GROWTH, own[ACCEPT]]
    time += count * levels[PREFILL, own[INPUT]]
    if not in_time(limit, time, budget - batch.step * costs[last, LENGTH]):
        return False
    if batch.padded:
        return bool(count <= limit.room // (costs[last, MEMORY] + batch.kv * tokens))
    memory = constant + count * batch.kv * tokens + steps * levels[MEMORY_GROWTH, own[ACCEPT]]
    return bool(memory <= limit.room)


@lean
def _costliest_gap(batch: Batch, limit: Limits, low: Integers, own: Integers, count: int) -> int:
    """Return the threshold whose charged end lies furthest (in time) from the prefix's own level.

    -1 where no threshold differs: then the prefix fits its own thresholds.
    """
    levels = batch.levels
    budget = levels[DEADLINES, low[DEADLINE]]
    scale = float(limit.whole) / float(limit.share)
    per_byte = float(budget) / max(1.0, float(limit.room))
    best, widest = -1, -1.0
    if own[INPUT] > low[INPUT]:
        more = float(levels[PREFILL, own[INPUT]] - levels[PREFILL, low[INPUT]])
        tokens = float(levels[TOKENS, own[INPUT]] - levels[TOKENS, low[INPUT]])
        gap = count * max(more * scale, tokens * batch.kv * per_byte)
        if gap > widest:
            best, widest = INPUT, gap
    if own[ACCEPT] > low[ACCEPT]:
        last = own[LAST]
        time = float(levels[GROWTH, own[ACCEPT]] - levels[GROWTH, low[ACCEPT]])
        bytes_ = float(levels[MEMORY_GROWTH, own[ACCEPT]] - levels[MEMORY_GROWTH, low[ACCEPT]])
        time *= float(batch.costs[last, PAIRS]) * scale
        bytes_ *= float(batch.costs[last, STEPS]) * per_byte
        gap = 0.5 * count * max(time, bytes_)
        if gap > widest:
            best, widest = ACCEPT, gap
    if own[DEADLINE] > low[DEADLINE]:
        gap = float(budget - levels[DEADLINES, own[DEADLINE]])
        if gap > widest:
            best, widest = DEADLINE, gap
    if own[UPLOAD] > low[UPLOAD]:
        gap = float(levels[UPLOADS, own[UPLOAD]] - levels[UPLOADS, low[UPLOAD]])
        if gap > widest:
            best, widest = UPLOAD, gap
    return best


@lean
def _group_start(batch: Batch, position: int) -> int:
    """Return the first position with the same length."""
    costs = batch.costs
    while position > 0 and costs[position - 1, LENGTH] == costs[position, LENGTH]:
        position -= 1
    return position


@lean
def _group_end(batch: Batch, position: int) -> int:
    """Return the position behind the last one with the same length."""
    costs = batch.costs
    end = position + 1
    while end < len(costs) and costs[end, LENGTH] == costs[position, LENGTH]:
        end += 1
    return end


@inner
def search(
    batch: Batch,
    limit: Limits,
    low: Integers,
    high: Integers,
    stop: int,
    target: int,
    enough: int,
    goal: int,
    point: Integers,
) -> int:
    """Return the most users that a tuple in a box serves; 0 where none serves `target`.

    Parameters
    ----------
    batch, limit : Batch, Limits
    low, high : (4,)
        The box.
    stop : int
        Only users before this position are admitted.
    target : int
        Tuples that serve fewer do not count; at least 1.
    enough : int
        The search may stop at a tuple that serves so many.
    goal : int
        `COUNT`; or a threshold (or `LAST`): then the count stays at `target` and the first value
        of that threshold in the printed order is sought.
    point : (6,)
        Receives the thresholds and last position of the best tuple found.
    """
    depth = np.sum(high - low) + 2
    boxes, promise = np.empty((depth, 8), np.int64), np.empty(depth, np.int64)
    own, chosen = np.zeros(POINT, np.int64), np.empty(len(batch.user), np.int64)
    copy(low, boxes[0, :4])
    copy(high, boxes[0, 4:])
    promise[0] = len(batch.user)
    first, last = np.copy(low), np.copy(high)  # bounds that the goal tightens on the way
    top, best = 1, 0
    while top and target <= enough:
        top -= 1
        if promise[top] < target:
            continue
        low, high = boxes[top, :4], boxes[top, 4:]
        if 0 <= goal < LAST:
            low[goal], high[goal] = max(low[goal], first[goal]), min(high[goal], last[goal])
            if low[goal] > high[goal]:
                continue
        count = prefix(batch, limit, low, high, stop, chosen)
        if count < target:
            continue
        _own_levels(batch, chosen, count, own)
        own[DEADLINE] = max(own[DEADLINE], low[DEADLINE])
        split = _costliest_gap(batch, limit, low, own, count)
        served = count
        if not fits(batch, limit, chosen, count, own):
            served = 0
            if count > target:
                served = prefix(batch, limit, own, own, stop, chosen)
        if served >= target:
            best = served
            copy(own, point)
            point[LAST] = chosen[served - 1]
            if goal == COUNT:
                target = served + 1
                if count < target:
                    continue
            else:
                if goal == LAST:
                    stop = _group_start(batch, point[LAST])
                elif goal == DEADLINE:
                    first[goal] = point[goal] + 1
                else:
                    last[goal] = point[goal] - 1
                promise[top] = count
                top += 1
                continue
        middle = (low[split] + own[split] - 1) // 2
        copy(boxes[top], boxes[top + 1])
        promise[top] = promise[top + 1] = count
        boxes[top, split] = middle + 1
        boxes[top + 1, 4 + split] = middle
        top += 2
    return best


@inner
def most_users(batch: Batch, limit: Limits, target: int, enough: int, point: Integers) -> int:
    """Return the most users the mode can serve within its limits; 0 where that is below `target`.

    Parameters
    ----------
    batch, limit : Batch, Limits
    target : int
        Smaller answers are of no use.
    enough : int
        A bound on the answer: the search stops when it is reached.
    point : (6,)
        Receives thresholds and last position of one tuple that serves so many.
    """
    users = len(batch.user)
    enough, target = min(enough, users), max(target, 1)
    if limit.share <= 0 or limit.room < 0 or target > enough:
        return 0
    low, high = np.zeros(4, np.int64), batch.sizes - 1
    return int(search(batch, limit, low, high, users, target, enough, COUNT, point))


@inner
def first_tuple(batch: Batch, limit: Limits, count: int, point: Integers) -> None:
    """Move `point` to the first tuple of the printed order that serves `count` users.

    Parameters
    ----------
    batch, limit : Batch, Limits
    count : int
        The most users that can be served (as `most_users` says), at least 1.
    point : (6,)
        A tuple that serves so many; receives the first one.
    """
    low, high = np.zeros(4, np.int64), batch.sizes - 1
    stop = len(batch.user)
    for goal in LOOPS:
        if goal == LAST:
            ahead = _group_start(batch, point[LAST])
            search(batch, limit, low, high, ahead, count, count, goal, point)
            stop = _group_end(batch, point[LAST])
            continue
        if goal == DEADLINE:  # the loops ascend, the levels descend in time
            low[goal] = point[goal] + 1
        else:
            high[goal] = point[goal] - 1
        if low[goal] <= high[goal]:
            search(batch, limit, low, high, stop, count, count, goal, point)
        low[goal] = high[goal] = point[goal]
    point[STOP] = stop


@inner
def users_of(batch: Batch, limit: Limits, point: Integers) -> Integers:
    """Return the users (positions in the instance) that a first tuple serves."""
    users = np.empty(len(batch.user), np.int64)
    count = prefix(batch, limit, point, point, point[STOP], users)
    for i in range(count):
        users[i] = batch.user[users[i]]
    return users[:count].copy()


@inner
def best_users(batch: Batch, limit: Limits) -> Integers:
    """Return the users of the mode's optimum, by the printed order's best tuple."""
    point = np.zeros(POINT, np.int64)
    count = most_users(batch, limit, 1, len(batch.user), point)
    if count:
        first_tuple(batch, limit, count, point)
    return users_of(batch, limit, point)
