"""A box search over a batch's thresholds: the exact optimum of P3.1 and P3.2.

The *thresholds* are the greatest input L, the greatest number of accepted drafts A (SD), the
earliest deadline t and the longest upload u; the users they admit are served in the batch's order
until time or memory runs out. A *box* holds an interval of levels for each. Its relaxed prefix
admits whoever some point of the box admits and charges the cheapest end of each interval, hence is
at least as long as every point's prefix: the k cheapest of more users cost no more than k of
fewer, and costs and fixed times only fall. Where the relaxed prefix is too short, the box is done.
Otherwise the prefix's own thresholds are a point to try, and the box is split between the end
that was charged and the prefix's own value, so that neither half can repeat the same relaxation.
Only the choice of the split uses floats; it changes the time taken, never the answer.

Ties. The answer is the one that the printed enumeration (values ascending in nested loops over
(L1, L2, t1, u1), or (L3, L4, N1, t2, u2); a later tuple must be strictly better) ends with: of all
tuples that serve the most users the lexicographically smallest, users of equal length in the
instance's order. `first_tuple` finds it by minimising one threshold after the other.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from instances.costs import Integers

from .batch import ACCEPT, DEADLINE, INPUT, UPLOAD, Batch, Limits, in_time

#: Beside the four thresholds: position of the prefix's last user, the stand-in for L2 or N1.
LAST = 4
#: Order of the printed loops: L1 (L3), L4, L2 (N1), t, u.
LOOPS = (INPUT, ACCEPT, LAST, DEADLINE, UPLOAD)
#: `search` has no threshold to minimise but the count to maximise.
COUNT = -1


@njit(cache=True)
def prefix(
    batch: Batch,
    limit: Limits,
    low: Integers,
    high: Integers,
    stop: int,
    own: Integers,
    chosen: Integers,
) -> int:
    """Return the length of a box's relaxed prefix; with low == high, of a tuple's prefix.

    Parameters
    ----------
    batch, limit : Batch, Limits
    low, high : (4,)
        First and last level of each threshold.
    stop : int
        Only users before this position of the batch are admitted.
    own : (5,)
        Receives the prefix's own thresholds and its last position.
    chosen : (n,)
        Receives the positions of the prefix's users.
    """
    tokens, each = batch.inputs[low[INPUT]], batch.prefill[low[INPUT]]
    growth, memory_growth = batch.growth[low[ACCEPT]], batch.memory_growth[low[ACCEPT]]
    budget = batch.deadlines[high[DEADLINE]] - batch.uploads[low[UPLOAD]]
    most_input, most_accept = high[INPUT], high[ACCEPT]
    least_deadline, most_upload = low[DEADLINE], high[UPLOAD]
    count = time = memory = 0
    longest = keenest = slowest = 0
    earliest = len(batch.deadlines)
    for k in range(stop):
        if batch.input_rank[k] > most_input or batch.deadline_rank[k] < least_deadline:
            continue
        if batch.upload_rank[k] > most_upload or batch.accept_rank[k] > most_accept:
            continue
        time += batch.base[k] + batch.slope[k] * tokens + batch.pairs[k] * growth + each
        if not in_time(limit, time, budget - batch.step * batch.length[k]):
            break
        bytes_ = batch.memory[k] + batch.kv * tokens + batch.steps[k] * memory_growth
        if batch.padded:
            if count + 1 > limit.room // bytes_:
                break
        else:
            memory += bytes_
            if memory > limit.room:
                break
        chosen[count] = k
        count += 1
        longest = max(longest, batch.input_rank[k])
        keenest = max(keenest, batch.accept_rank[k])
        slowest = max(slowest, batch.upload_rank[k])
        earliest = min(earliest, batch.deadline_rank[k])
    own[INPUT], own[ACCEPT], own[DEADLINE], own[UPLOAD] = longest, keenest, earliest, slowest
    own[LAST] = chosen[count - 1] if count else -1
    return count


@njit(cache=True)
def _costliest_gap(
    batch: Batch, limit: Limits, low: Integers, high: Integers, own: Integers, count: int
) -> int:
    """Return the threshold whose charged end lies furthest (in time) from the prefix's own value.

    -1 where no threshold differs: then the prefix fits its own thresholds.
    """
    scale = float(limit.whole) / float(limit.share)
    per_byte = float(batch.deadlines[high[DEADLINE]]) / max(1.0, float(limit.room))
    best, widest = -1, -1.0
    if own[INPUT] > low[INPUT]:
        more = float(batch.prefill[own[INPUT]] - batch.prefill[low[INPUT]])
        tokens = float(batch.inputs[own[INPUT]] - batch.inputs[low[INPUT]])
        gap = count * max(more * scale, tokens * batch.kv * per_byte)
        if gap > widest:
            best, widest = INPUT, gap
    if own[ACCEPT] > low[ACCEPT]:
        pairs = float(batch.pairs[own[LAST]]) * 0.5 * count
        steps = float(batch.steps[own[LAST]]) * 0.5 * count
        time = pairs * float(batch.growth[own[ACCEPT]] - batch.growth[low[ACCEPT]])
        bytes_ = batch.memory_growth[own[ACCEPT]] - batch.memory_growth[low[ACCEPT]]
        gap = max(time * scale, steps * float(bytes_) * per_byte)
        if gap > widest:
            best, widest = ACCEPT, gap
    if own[DEADLINE] < high[DEADLINE]:
        gap = float(batch.deadlines[high[DEADLINE]] - batch.deadlines[own[DEADLINE]])
        if gap > widest:
            best, widest = DEADLINE, gap
    if own[UPLOAD] > low[UPLOAD]:
        gap = float(batch.uploads[own[UPLOAD]] - batch.uploads[low[UPLOAD]])
        if gap > widest:
            best, widest = UPLOAD, gap
    return best


@njit(cache=True)
def _group_start(batch: Batch, position: int) -> int:
    """Return the first position with the same length."""
    while position > 0 and batch.length[position - 1] == batch.length[position]:
        position -= 1
    return position


@njit(cache=True)
def _group_end(batch: Batch, position: int) -> int:
    """Return the position behind the last one with the same length."""
    while position < len(batch.length) and batch.length[position] == batch.length[position - 1]:
        position += 1
    return position


@njit(cache=True)
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
        `COUNT`; or a threshold (or `LAST`): then the count stays at `target` and the least value
        of that threshold is sought.
    point : (5,)
        Receives the thresholds and last position of the best tuple found.
    """
    depth = np.sum(high - low) + 2
    lows, highs = np.empty((depth, 4), np.int64), np.empty((depth, 4), np.int64)
    promise = np.empty(depth, np.int64)
    low, high = low.copy(), high.copy()
    own, again = np.empty(5, np.int64), np.empty(5, np.int64)
    chosen = np.empty(len(batch.user), np.int64)
    lows[0], highs[0], promise[0] = low, high, enough
    top, best, cap = 1, 0, high[goal] if 0 <= goal < LAST else 0
    while top and (goal != COUNT or target <= enough):
        top -= 1
        if promise[top] < target:
            continue
        low[:], high[:] = lows[top], highs[top]
        if 0 <= goal < LAST:
            high[goal] = min(high[goal], cap)
            if high[goal] < low[goal]:
                continue
        count = prefix(batch, limit, low, high, stop, own, chosen)
        if count < target:
            continue
        own[DEADLINE] = min(own[DEADLINE], high[DEADLINE])
        served = prefix(batch, limit, own[:4], own[:4], stop, again, chosen)
        if served >= target:
            best = served
            point[:] = own
            point[LAST] = again[LAST]
            if goal == COUNT:
                target = served + 1
                if count < target:
                    continue
            else:
                if goal == LAST:
                    stop = _group_start(batch, point[LAST])
                else:
                    cap = point[goal] - 1
                lows[top], highs[top], promise[top] = low, high, count
                top += 1
                continue
        split = _costliest_gap(batch, limit, low, high, own, count)
        if split == DEADLINE:
            middle = (own[split] + high[split]) // 2
        else:
            middle = (low[split] + own[split] - 1) // 2
        for half in range(2):
            lows[top], highs[top], promise[top] = low, high, count
            if half == 0:
                lows[top, split] = middle + 1
            else:
                highs[top, split] = middle
            top += 1
    return best


@njit(cache=True)
def whole_box(batch: Batch) -> tuple[Integers, Integers]:
    """Return the box of all thresholds."""
    high = np.array(
        [len(batch.inputs), len(batch.growth), len(batch.deadlines), len(batch.uploads)]
    )
    return np.zeros(4, np.int64), high.astype(np.int64) - 1


@njit(cache=True)
def most_users(batch: Batch, limit: Limits, target: int, enough: int, point: Integers) -> int:
    """Return the most users the mode can serve within its limits; 0 where that is below `target`.

    Parameters
    ----------
    batch, limit : Batch, Limits
    target : int
        Smaller answers are of no use.
    enough : int
        A bound on the answer: the search stops when it is reached.
    point : (5,)
        Receives thresholds and last position of one tuple that serves so many.
    """
    users = len(batch.user)
    if limit.share <= 0 or limit.room < 0 or users == 0 or target > users:
        return 0
    low, high = whole_box(batch)
    return int(
        search(batch, limit, low, high, users, max(target, 1), min(enough, users), COUNT, point)
    )


@njit(cache=True)
def first_tuple(batch: Batch, limit: Limits, count: int, point: Integers) -> int:
    """Move `point` to the first tuple of the printed order that serves `count` users.

    Parameters
    ----------
    batch, limit : Batch, Limits
    count : int
        The most users that can be served (as `most_users` says), at least 1.
    point : (5,)
        A tuple that serves so many; receives the first one.

    Returns
    -------
    int
        Position behind the last user that the tuple's L2 (or N1) admits.
    """
    low, high = whole_box(batch)
    stop = len(batch.user)
    for goal in LOOPS:
        if goal == LAST:
            ahead = _group_start(batch, point[LAST])
            search(batch, limit, low, high, ahead, count, count, goal, point)
            stop = _group_end(batch, point[LAST] + 1)
            continue
        high[goal] = point[goal] - 1
        if high[goal] >= low[goal]:
            search(batch, limit, low, high, stop, count, count, goal, point)
        low[goal] = high[goal] = point[goal]
    return stop


@njit(cache=True)
def best_users(batch: Batch, limit: Limits, count: int, point: Integers) -> Integers:
    """Return the users (positions in the instance) of the printed order's best tuple.

    Parameters as in `first_tuple`.
    """
    chosen, own = np.empty(len(batch.user), np.int64), np.empty(5, np.int64)
    if count == 0:
        return chosen[:0]
    if count == len(batch.user):
        return batch.user
    stop = first_tuple(batch, limit, count, point)
    found = prefix(batch, limit, point[:4], point[:4], stop, own, chosen)
    return batch.user[chosen[:found]]
