"""Weighted counting: one inequality that no schedule of a box can satisfy, checked in integers.

Take weights ``u >= 0`` on a box's rows: AD's time, SD's time, the memory rows, and the greatest
sizes of both batches. Weighted and summed, the rows charge a user the lesser of its two modes'
amounts at least, at the box's lower ends, and allow a total that depends on the box's best budgets
(for the time rows, the best over its z). If even the `goal` users who are charged least exceed
that total, the box holds no schedule that serves `goal`. This is true of any weights, so they may
come from a float LP, rounded to integers.

**Integers.** Every row counts in units of its own (`Query.shift`), so that its limit is about
2^`LIMIT_BITS` units: ticks and bytes are divided by a power of two, users multiplied by one. A
user's amounts are rounded down, and to at most twice that limit, what a row allows up; so a row
that holds still holds. With weights up to 2^`WEIGHT_BITS`, a user is charged less than
2^`DEAREST_BITS`, and the charges of 16,384 users stay below 2^63. No step can overflow or round
the wrong way: a box is refuted exactly if the two integers say so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from instances.costs import Integers
from instances.kernels import cached_njit

from .count import (
    FIXED,
    GOAL,
    JOINT,
    MOST,
    ROOM,
    USERS,
    WHOLE,
    Box,
    Packed,
    Part,
    Query,
    budget,
    fits,
)

#: Rows: time and memory of AD (joint memory too), the same of SD, the greatest sizes.
AD_TIME, AD_BYTES, SD_TIME, SD_BYTES, AD_MOST, SD_MOST = range(6)
ROWS = 6
LIMIT_BITS, WEIGHT_BITS, DEAREST_BITS = 26, 20, 49
Floats = NDArray[np.float64]


@cached_njit()
def charge_at(mode: Packed, part: Part) -> int:
    """Return what the lower ends take from a batch's time."""
    charge = mode.scalars[FIXED]
    for t in range(mode.times.shape[0], len(part.low)):
        charge += mode.charge[t, part.low[t]]
    return int(charge)


@cached_njit()
def costs(mode: Packed, part: Part) -> Integers:
    """Return, by column, the position, ticks and bytes of each user who fits, at the lower ends."""
    found = np.empty((3, len(mode.users)), np.int64)
    count = 0
    for k in range(len(mode.users)):
        if not fits(mode, part, k):
            continue
        found[0, count], found[1, count], found[2, count] = k, mode.time[k], mode.memory[k]
        for p in range(mode.times.shape[0]):
            found[1, count] += mode.times[p, k, part.low[p]]
            found[2, count] += mode.memories[p, k, part.low[p]]
        count += 1
    return found[:, :count]


@cached_njit()
def budgets(query: Query, box: Box) -> Integers:
    """Return the ticks that AD and SD may work at each z of the box."""
    shares = query.shares[box.z[0] : box.z[1] + 1]
    whole = query.ad.scalars[WHOLE]
    found = np.zeros((2, len(shares)), np.int64)
    ad, sd = charge_at(query.ad, box.ad), charge_at(query.sd, box.sd)
    for i in range(len(shares)):
        found[0, i] = max(0, budget(ad, shares[i], whole))
        found[1, i] = max(0, budget(sd, whole - shares[i], whole))
    return found


@cached_njit()
def rooms(query: Query) -> tuple[int, int]:
    """Return what the memory rows allow; a joint one is AD's."""
    if query.numbers[JOINT] >= 0:
        return int(query.numbers[JOINT]), 0
    return int(query.ad.scalars[ROOM]), int(query.sd.scalars[ROOM])


def units(query: Query, ticks: tuple[int, int]) -> Integers:
    """Return each row's shift to the right (ticks, bytes) or, negative, to the left (users).

    Parameters
    ----------
    query : Query
    ticks : (int, int)
        The most that AD and SD may work.
    """
    room_1, room_2 = rooms(query)
    limits = (ticks[0], room_1, ticks[1], room_2)
    right = [max(0, int(limit).bit_length() - LIMIT_BITS) for limit in limits]
    left = min(0, int(query.numbers[USERS]).bit_length() - LIMIT_BITS)
    return np.array([*right, left, left], np.int64)


@cached_njit()
def _amount(value: int, shift: int) -> int:
    """Return ticks or bytes in units, rounded down and to at most twice the limit."""
    return min(value >> shift, 1 << (LIMIT_BITS + 1))


@cached_njit()
def totals(query: Query, box: Box, weights: Integers) -> tuple[int, int]:
    """Return the least that `goal` users are charged, and the most that is allowed."""
    charge = np.full(query.numbers[USERS], 1 << DEAREST_BITS)
    joint, shift = query.numbers[JOINT] >= 0, query.shift
    for side in range(2):
        mode, part = (query.ad, box.ad) if side == 0 else (query.sd, box.sd)
        time = AD_TIME if side == 0 else SD_TIME
        memory = AD_BYTES if side == 0 or joint else SD_BYTES
        size = AD_MOST if side == 0 else SD_MOST
        one = weights[size] << -shift[size]
        some = costs(mode, part)
        for i in range(some.shape[1]):
            amount = weights[time] * _amount(some[1, i], shift[time]) + one
            amount += weights[memory] * _amount(some[2, i], shift[memory])
            k = mode.users[some[0, i]]
            charge[k] = min(charge[k], amount)
    charge.sort()
    return int(charge[: query.numbers[GOAL]].sum()), _allowed(query, box, weights)


@cached_njit()
def _allowed(query: Query, box: Box, weights: Integers) -> int:
    """Return the most that the rows allow, rounded up."""
    shift, ticks, best = query.shift, budgets(query, box), 0
    for i in range(ticks.shape[1]):
        here = weights[AD_TIME] * ((ticks[0, i] >> shift[AD_TIME]) + 1)
        here += weights[SD_TIME] * ((ticks[1, i] >> shift[SD_TIME]) + 1)
        best = max(best, here)
    room_1, room_2 = rooms(query)
    best += weights[AD_BYTES] * ((room_1 >> shift[AD_BYTES]) + 1)
    best += weights[SD_BYTES] * ((room_2 >> shift[SD_BYTES]) + 1)
    best += weights[AD_MOST] * (box.ad.size[MOST] << -shift[AD_MOST])
    return int(best + weights[SD_MOST] * (box.sd.size[MOST] << -shift[SD_MOST]))


@cached_njit()
def refutes(query: Query, box: Box, weights: Integers) -> bool:
    """Return whether weights prove that no schedule of the box serves `goal`."""
    charged, allowed = totals(query, box, weights)
    return charged > allowed


@cached_njit()
def margin(query: Query, box: Box, weights: Integers) -> float:
    """Return how close weights come to refuting a box, relative to what they allow."""
    charged, allowed = totals(query, box, weights)
    return charged / max(allowed, 1) - 1.0
