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

from .ad import ad_batch
from .batch import limits, without
from .counts import grid_counts
from .sd import sd_batch
from .search import best_users, most_users


@njit(cache=True)
def balance_kernel(
    tables: CostTables, z_indices: Integers, lam_indices: Integers, padded: bool
) -> tuple[NDArray[np.int8], int, int]:
    """Return modes, z index and λ index of Algorithm 3's answer over ascending indices."""
    ad_users, sd_users = ad_batch(tables, padded), sd_batch(tables, padded)
    whole, splits = tables.z_denominator, len(lam_indices)
    ad_share = tables.z_numerator[z_indices]
    ad_room, sd_room = (
        tables.ad_room[z_indices][:, lam_indices],
        tables.sd_room[z_indices][:, lam_indices],
    )
    ad_points = np.empty((len(z_indices), splits, 5), np.int64)
    sd_points = np.empty_like(ad_points)
    most_ad = grid_counts(ad_users, ad_share, whole, ad_room, ad_points)
    most_sd = grid_counts(
        sd_users, (whole - ad_share)[::-1], whole, sd_room[::-1, ::-1], sd_points
    )[::-1, ::-1]
    modes = np.zeros(len(tables.deadline), np.int8)
    taken = np.zeros(len(tables.deadline), np.bool_)
    best, winner, point = 0, 0, np.empty(5, np.int64)
    together = (most_ad + most_sd).ravel()
    for at in np.argsort(-together, kind="mergesort"):
        needed = best if at < winner else best + 1
        if together[at] < needed:
            if together[at] < best:
                break
            continue
        i, j = at // splits, at % splits
        limit = limits(ad_users, ad_share[i], whole, ad_room[i, j])
        ad = best_users(ad_users, limit, most_ad[i, j], ad_points[i, j])
        taken[:] = False
        taken[ad] = True
        left = without(sd_users, taken)
        limit = limits(left, whole - ad_share[i], whole, sd_room[i, j])
        count = most_users(left, limit, needed - len(ad), most_sd[i, j], point)
        if len(ad) + count < needed:
            continue
        best, winner = len(ad) + count, at
        modes[:] = 0
        modes[ad] = 1
        modes[best_users(left, limit, count, point)] = 2
    return modes, z_indices[winner // splits], lam_indices[winner % splits]


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
