"""The most users of one mode at every point of the grid, by monotonicity and few searches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from instances.costs import Integers
from instances.kernels import passed

from .batch import Batch, Limits, copy, inner, limits
from .search import fits, most_users

ONE = passed(1)


@inner
def bisection_order(count: int) -> Integers:
    """Return 0 ... count - 1: both ends first, then the middle of each gap."""
    order, at = np.empty(count, np.int64), 0
    pending = np.ones(count, np.bool_)
    gap = max(1, count - 1)
    while at < count:
        for i in range(0, count, gap):
            if pending[i]:
                order[at] = i
                pending[i] = False
                at += 1
        if at < count and pending[count - 1]:
            order[at] = count - 1
            pending[count - 1] = False
            at += 1
        gap = max(1, gap // 2)
    return order


@inner
def grid_counts(
    batch: Batch, shares: Integers, whole: int, rooms: Integers, points: Integers
) -> Integers:
    """Return the most users at every grid point.

    The count cannot fall where both share and room rise. So a point between two that serve the
    same needs no search, and other searches start from the bounds of their neighbours.

    Parameters
    ----------
    batch : Batch
    shares : (nz,)
        Compute shares ``shares / whole``, ascending.
    whole : int
    rooms : (nz, nl)
        Bytes, ascending in both directions wherever the share is positive.
    points : (nz, nl, 6)
        Receives a tuple that serves so many (where not 0).
    """
    splits = rooms.shape[1]
    lower, upper = np.zeros_like(rooms), np.full_like(rooms, len(batch.user))
    for i in bisection_order(len(shares)):
        for j in bisection_order(splits):
            if lower[i, j] == upper[i, j]:
                continue
            limit = limits(batch, shares[i], whole, rooms[i, j])
            floor, point = lower[i, j], points[i, j]
            found = max(floor, most_users(batch, limit, floor + 1, upper[i, j], point))
            for a in range(i + 1):
                for b in range(j + 1):
                    upper[a, b] = min(upper[a, b], found)
            for a in range(i, len(shares)):
                for b in range(j, splits):
                    if found > lower[a, b]:
                        lower[a, b] = found
                        copy(point, points[a, b])
    return lower


@inner
def mark_alone(batch: Batch, limit: Limits, marks: NDArray[np.bool_]) -> int:
    """Mark the users that meet the limits as the only ones; return how many were not yet marked."""
    chosen, count = np.empty(1, np.int64), 0
    if limit.share <= 0:
        return 0
    for k in range(len(batch.user)):
        chosen[0] = k
        if not marks[batch.user[k]] and fits(batch, limit, chosen, ONE, batch.ranks[k]):
            marks[batch.user[k]] = True
            count += 1
    return count
