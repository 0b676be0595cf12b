"""Weighted counting: one inequality that no schedule of a box can satisfy, checked in integers.

Take weights ``u >= 0`` on a box's rows: AD's time, SD's time, the memory rows, and the greatest
sizes of both batches. Weighted and summed, the rows charge a user the lesser of its two modes'
amounts at least, at the box's lower ends, and allow a total that depends on the box's best budgets
(for the time rows, the best over its z). If even the `goal` users who are charged least exceed
that total, the box holds no schedule that serves `goal`. This is true of any weights, so they may
come from a float LP.

**Rounding.** Weights, costs and limits are non-negative, so no sum cancels: each term carries at
most 8 roundings, a sum of K of them K more, and both totals are right to a relative
(K + 16) / 2^53, under 10^-12 for K <= 2000. A margin above `SAFE` = 10^-9 is a proof.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from instances.costs import Integers

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
#: A margin in floats above this is a proof.
SAFE = 1e-9
Floats = NDArray[np.float64]


@njit(cache=True)
def charge_at(mode: Packed, part: Part) -> int:
    """Return what the lower ends take from a batch's time."""
    charge = mode.scalars[FIXED]
    for t in range(mode.times.shape[0], len(part.low)):
        charge += mode.charge[t, part.low[t]]
    return int(charge)


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def rooms(query: Query) -> tuple[int, int]:
    """Return what the memory rows allow; a joint one is AD's."""
    if query.numbers[JOINT] >= 0:
        return int(query.numbers[JOINT]), 0
    return int(query.ad.scalars[ROOM]), int(query.sd.scalars[ROOM])


@njit(cache=True)
def margin(query: Query, box: Box, weights: Floats) -> float:
    """Return by how much weights refute a box, relative to what they allow; only to compare."""
    charge = np.full(query.numbers[USERS], np.inf)
    joint = query.numbers[JOINT] >= 0
    for side in range(2):
        mode, part = (query.ad, box.ad) if side == 0 else (query.sd, box.sd)
        time = weights[AD_TIME] if side == 0 else weights[SD_TIME]
        memory = weights[AD_BYTES] if side == 0 or joint else weights[SD_BYTES]
        one = weights[AD_MOST] if side == 0 else weights[SD_MOST]
        some = costs(mode, part)
        for i in range(some.shape[1]):
            k = mode.users[some[0, i]]
            charge[k] = min(charge[k], time * some[1, i] + memory * some[2, i] + one)
    charge.sort()
    ticks = budgets(query, box)
    best = 0.0
    for i in range(ticks.shape[1]):
        best = max(best, weights[AD_TIME] * ticks[0, i] + weights[SD_TIME] * ticks[1, i])
    room_1, room_2 = rooms(query)
    allowed = best + weights[AD_BYTES] * room_1 + weights[SD_BYTES] * room_2
    allowed += weights[AD_MOST] * box.ad.size[MOST] + weights[SD_MOST] * box.sd.size[MOST]
    return float(charge[: query.numbers[GOAL]].sum() / max(allowed, 1e-9) - 1.0)
