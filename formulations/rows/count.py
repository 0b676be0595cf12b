"""Kernels of the counting bounds, all in integers: what no x users of a box can do together.

A box is two `Part`s and an interval of z. At the lower ends of its thresholds every user costs no
more than in any schedule of the box. So a batch of x members works no less than the x cheapest of
those who fit, stores no less than the x smallest, is charged no less than if its x members were
the shortest, the latest and the fastest to upload. Sizes x and y with ``x + y = goal`` are possible
only if such batches fit the time at some z, each its own room, and both the joint room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from instances.costs import Flags, Integers
from instances.kernels import cached_njit

FIXED, WHOLE, ROOM = range(3)
GOAL, USERS, JOINT = range(3)
LEAST, MOST = range(2)


class Packed(NamedTuple):
    """A mode with m users, T thresholds and at most n levels each, P of which multiply.

    Attributes
    ----------
    users : (m,)
    time, memory : (m,)
        What no level changes.
    times, memories : (P, m, n)
        Ticks and bytes of a user at each level of the first P thresholds.
    rank : (T, m)
        Each user's own level.
    charge : (T, n)
        Ticks a level takes from the batch.
    scalars : (3,)
        `FIXED` ticks, the `WHOLE` GPU, the mode's `ROOM`.
    """

    users: Integers
    time: Integers
    memory: Integers
    times: Integers
    memories: Integers
    rank: Integers
    charge: Integers
    scalars: Integers


class Part(NamedTuple):
    """A box's part for one mode.

    Attributes
    ----------
    low, high : (T,)
        Least and greatest rank of each threshold, if the batch is not empty.
    open : (m,) bool
        Whether a user may be a member.
    size : (2,)
        Least and greatest number of members.
    """

    low: Integers
    high: Integers
    open: Flags
    size: Integers


class Box(NamedTuple):
    """Schedules by thresholds, members, sizes, and an interval of positions in `Query.shares`."""

    ad: Part
    sd: Part
    z: Integers


class Query(NamedTuple):
    """The question: can exactly `GOAL` of `USERS` be served?

    Attributes
    ----------
    ad, sd : Packed
    shares : (n,)
        Numerators of z, ascending.
    numbers : (3,)
        `GOAL`, `USERS`, and the `JOINT` room (-1: rooms are apart).
    shift : (6,)
        Units of the rows that weights weigh (`weights`).
    """

    ad: Packed
    sd: Packed
    shares: Integers
    numbers: Integers
    shift: Integers


@cached_njit()
def budget(charge: int, share: int, whole: int) -> int:
    """Return ``⌊-charge * share / whole⌋`` without overflow."""
    quotient = -charge // whole
    rest = -charge - quotient * whole
    return quotient * share + rest * share // whole


@cached_njit()
def fits(mode: Packed, part: Part, k: int) -> bool:
    """Return whether a user is open and within the upper ends."""
    if not part.open[k] or part.size[MOST] == 0:
        return False
    within = True
    for t in range(len(part.high)):
        within = within and mode.rank[t, k] <= part.high[t]
    return within


@cached_njit()
def shares_of(query: Query, z: Integers, is_ad: bool) -> Integers:
    """Return a mode's shares over an interval of z, ascending."""
    some = query.shares[z[0] : z[1] + 1]
    return some if is_ad else (query.ad.scalars[WHOLE] - some)[::-1]


@cached_njit()
def batches(mode: Packed, part: Part, shares: Integers) -> tuple[Integers, Integers]:
    """Return the least bytes, and the position of the least share, of 0, 1, ..., x members.

    Counting allows no more than x.
    """
    thresholds, users = mode.rank.shape
    products = mode.times.shape[0]
    work, cache = np.empty(users, np.int64), np.empty(users, np.int64)
    ranks = np.empty((thresholds, users), np.int64)
    count = 0
    for k in range(users):
        if not fits(mode, part, k):
            continue
        work[count], cache[count] = mode.time[k], mode.memory[k]
        for p in range(products):
            work[count] += mode.times[p, k, part.low[p]]
            cache[count] += mode.memories[p, k, part.low[p]]
        for t in range(products, thresholds):
            ranks[t, count] = max(part.low[t], mode.rank[t, k])
        count += 1
    work[:count].sort()
    cache[:count].sort()
    for t in range(products, thresholds):
        ranks[t, :count].sort()
    most = min(count, part.size[MOST])
    least, need = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64)
    ticks = 0
    for x in range(1, most + 1):
        ticks += work[x - 1]
        charge = mode.scalars[FIXED]
        for t in range(products, thresholds):
            charge += mode.charge[t, ranks[t, x - 1]]
        least[x], need[x] = least[x - 1] + cache[x - 1], need[x - 1]
        while need[x] < len(shares):
            share = shares[need[x]]
            if share > 0 and ticks <= budget(charge, share, mode.scalars[WHOLE]):
                break
            need[x] += 1
        if need[x] == len(shares) or least[x] > mode.scalars[ROOM]:
            return least[:x], need[:x]
    return least, need


@cached_njit()
def servable(query: Query, box: Box) -> int:
    """Return how many users fit some mode."""
    some = np.zeros(query.numbers[USERS], np.bool_)
    for k in range(len(query.ad.users)):
        if fits(query.ad, box.ad, k):
            some[query.ad.users[k]] = True
    for k in range(len(query.sd.users)):
        if fits(query.sd, box.sd, k):
            some[query.sd.users[k]] = True
    return int(some.sum())


@cached_njit()
def resize(query: Query, box: Box) -> bool:
    """Tighten both sizes and z in place; False if no sizes are possible."""
    goal, joint = query.numbers[GOAL], query.numbers[JOINT]
    if servable(query, box) < goal:
        return False
    ad_bytes, ad_need = batches(query.ad, box.ad, shares_of(query, box.z, True))
    sd_bytes, sd_need = batches(query.sd, box.sd, shares_of(query, box.z, False))
    width = box.z[1] - box.z[0]
    first, last, low, high = -1, -1, width, width
    for x in range(box.ad.size[LEAST], len(ad_bytes)):
        y = goal - x
        if y < box.sd.size[LEAST] or y >= len(sd_bytes):
            continue
        if ad_need[x] + sd_need[y] > width or (joint >= 0 and ad_bytes[x] + sd_bytes[y] > joint):
            continue
        first, last = (x if first < 0 else first), x
        low, high = min(low, ad_need[x]), min(high, sd_need[y])
    if first < 0:
        return False
    box.ad.size[LEAST], box.ad.size[MOST] = first, last
    box.sd.size[LEAST], box.sd.size[MOST] = goal - last, goal - first
    box.z[0] += low
    box.z[1] -= high
    return True


@cached_njit()
def raise_ends(mode: Packed, part: Part) -> bool:
    """Raise each lower end to the least-th smallest own level; True if one changed."""
    least = part.size[LEAST]
    if least == 0:
        return False
    members = np.array([k for k in range(len(mode.users)) if fits(mode, part, k)], np.int64)
    if len(members) < least:
        return False
    changed = False
    for t in range(len(part.low)):
        implied = np.sort(mode.rank[t][members])[least - 1]
        if implied > part.low[t]:
            part.low[t] = implied
            changed = True
    return changed


@cached_njit()
def copied(box: Box) -> Box:
    """Return a copy."""
    ad = Part(box.ad.low.copy(), box.ad.high.copy(), box.ad.open.copy(), box.ad.size.copy())
    sd = Part(box.sd.low.copy(), box.sd.high.copy(), box.sd.open.copy(), box.sd.size.copy())
    return Box(ad, sd, box.z.copy())


@cached_njit()
def shrink(query: Query, box: Box, rounds: int) -> bool:
    """Tighten sizes, z and lower ends in place; False if the box is empty."""
    for _ in range(rounds):
        if not resize(query, box):
            return False
        ad, sd = raise_ends(query.ad, box.ad), raise_ends(query.sd, box.sd)
        if not (ad or sd):
            break
    return True
