"""Algorithm 3 (BALANCE): Algorithm 1, then Algorithm 2 on who is left, for every (z, λ).

The answer is the printed loops' (z ascending, λ ascending, a later point must be strictly
better), with each sub-problem's tie-break as `search` documents. Points that cannot win are
skipped, which never changes it:

- |X| at a point is at most |X| at a greater λ, and SD serves at most what it serves with all
  users to choose from; a point whose two counts do not exceed the incumbent is not worked out.
- Where the X of a greater λ still fits, it is X here too (its tuple is still the first of those
  that serve the most). Then SD has more room here, and the greater λ cannot be strictly better.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from instances import CostTables
from instances.assignment import Assignment
from instances.costs import Integers

from .ad import ad_batch, ad_limits
from .batch import Batch, without
from .sd import sd_batch, sd_limits
from .search import best_users, most_users


@njit(cache=True)
def ad_counts(
    tables: CostTables, batch: Batch, z_index: int, lam_indices: Integers, points: Integers
) -> Integers:
    """Return the most AD users at one z for each λ (ascending), and a tuple for each."""
    counts = np.zeros(len(lam_indices), np.int64)
    enough = len(batch.user)
    for i in range(len(lam_indices) - 1, -1, -1):
        limit = ad_limits(tables, batch, z_index, tables.ad_room[z_index, lam_indices[i]])
        counts[i] = enough = most_users(batch, limit, 1, enough, points[i])
    return counts


@njit(cache=True)
def sd_counts(tables: CostTables, batch: Batch, z_index: int, lam_indices: Integers) -> Integers:
    """Return the most SD users at one z for each λ (ascending) if AD takes nobody."""
    counts = np.zeros(len(lam_indices), np.int64)
    point = np.empty(5, np.int64)
    enough = len(batch.user)
    for i in range(len(lam_indices)):
        limit = sd_limits(tables, batch, z_index, tables.sd_room[z_index, lam_indices[i]])
        counts[i] = enough = most_users(batch, limit, 1, enough, point)
    return counts


@njit(cache=True)
def balance_kernel(
    tables: CostTables, z_indices: Integers, lam_indices: Integers, padded: bool
) -> tuple[NDArray[np.int8], int, int]:
    """Return modes, z index and λ index of Algorithm 3's answer over ascending indices."""
    ad_users, sd_users = ad_batch(tables, padded), sd_batch(tables, padded)
    modes = np.zeros(len(tables.deadline), np.int8)
    best, best_z, best_lam = 0, z_indices[0], lam_indices[0]
    points = np.empty((len(lam_indices), 5), np.int64)
    point = np.empty(5, np.int64)
    taken = np.zeros(len(tables.deadline), np.bool_)
    for z in z_indices:
        if tables.room[z] < 0:
            continue
        most_ad = ad_counts(tables, ad_users, z, lam_indices, points)
        most_sd = sd_counts(tables, sd_users, z, lam_indices)
        for i in range(len(lam_indices)):
            if most_ad[i] + most_sd[i] <= best:
                continue
            lam = lam_indices[i]
            limit = ad_limits(tables, ad_users, z, tables.ad_room[z, lam])
            ad = best_users(ad_users, limit, most_ad[i], points[i])
            taken[:] = False
            taken[ad] = True
            left = without(sd_users, taken)
            sd_limit = sd_limits(tables, left, z, tables.sd_room[z, lam])
            count = most_users(left, sd_limit, best - len(ad) + 1, most_sd[i], point)
            if len(ad) + count <= best:
                continue
            best, best_z, best_lam = len(ad) + count, z, lam
            modes[:] = 0
            modes[ad] = 1
            modes[best_users(left, sd_limit, count, point)] = 2
    return modes, best_z, best_lam


def balance(
    tables: CostTables,
    z_indices: Sequence[int] | None = None,
    lam_indices: Sequence[int] | None = None,
    padded: bool = False,
) -> Assignment:
    """Return Algorithm 3's assignment.

    Parameters
    ----------
    tables : CostTables
        Built *up*, so that the assignment is exactly feasible.
    z_indices, lam_indices : sequence of int, optional
        Positions in the grids that may be chosen, ascending; all by default.
    padded : bool
        Charge memory as the paper's Algorithms 1 and 2 print it (errata E1, E2): the assignment
        may then break P1's memory row.
    """
    shares = range(len(tables.z_numerator)) if z_indices is None else z_indices
    splits = range(tables.ad_room.shape[1]) if lam_indices is None else lam_indices
    modes, z, lam = balance_kernel(
        tables, np.array(shares, np.int64), np.array(splits, np.int64), padded
    )
    return Assignment(modes, int(z), int(lam))
