"""Algorithm 3 (BALANCE): Algorithm 1, then Algorithm 2 on who is left, for every (z, λ).

The answer is the printed loops' (z ascending, λ ascending, a later point must be strictly
better), with each sub-problem's tie-break as `search` documents. The order of work is another:
first how many users each mode alone can serve at every point (`counts`), then the points by the
sum of the two, greatest first. A point whose sum, or whose number of users that fit any mode at
all, cannot beat the incumbent (or tie with it from an earlier place) is not worked out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from instances import CostTables
from instances.assignment import Assignment
from instances.costs import Integers

from .ad import ad_batch
from .batch import Batch, limits, without
from .counts import fitting_alone, grid_counts
from .sd import sd_batch
from .search import POINT, STOP, first_tuple, most_users, users_of


class Grid(NamedTuple):
    """Compute shares (nz,) of `whole` and bytes (nz, nl) of both modes at every point."""

    whole: int
    ad_share: Integers
    sd_share: Integers
    ad_room: Integers
    sd_room: Integers


@njit(cache=True)
def make_grid(tables: CostTables, z_indices: Integers, lam_indices: Integers) -> Grid:
    """Return the part of the tables' grid with these (ascending) indices."""
    share = tables.z_numerator[z_indices]
    ad_room = np.empty((len(z_indices), len(lam_indices)), np.int64)
    sd_room = np.empty_like(ad_room)
    for i in range(len(z_indices)):
        for j in range(len(lam_indices)):
            ad_room[i, j] = tables.ad_room[z_indices[i], lam_indices[j]]
            sd_room[i, j] = tables.sd_room[z_indices[i], lam_indices[j]]
    return Grid(tables.z_denominator, share, tables.z_denominator - share, ad_room, sd_room)


@njit(cache=True)
def _most_together(grid: Grid, ad_users: Batch, sd_users: Batch, sums: Integers) -> None:
    """Lower each z's sums of AD and SD users to the number that fit a mode alone."""
    for i in range(len(grid.ad_share)):
        ad_limit = limits(ad_users, grid.ad_share[i], grid.whole, grid.ad_room[i].max())
        sd_limit = limits(sd_users, grid.sd_share[i], grid.whole, grid.sd_room[i].max())
        ad_alone, sd_alone = fitting_alone(ad_users, ad_limit), fitting_alone(sd_users, sd_limit)
        servable = len(np.union1d(ad_alone, sd_alone))
        for j in range(sums.shape[1]):
            sums[i, j] = min(sums[i, j], servable)


@njit(cache=True)
def _settle(batch: Batch, grid: Grid, counts: Integers, points: Integers, i: int, j: int) -> None:
    """Make the tuple at a grid point the first one, as the printed order has it.

    The tuples that serve `count` users here do so at every point with more share and room too; so
    the first tuple there, if it serves as many here, is the first here.
    """
    limit, count = limits(batch, grid.ad_share[i], grid.whole, grid.ad_room[i, j]), counts[i, j]
    for a in range(i, len(counts)):
        for b in range(j, counts.shape[1]):
            known = points[a, b, STOP] > 0 and counts[a, b] == count
            if known and len(users_of(batch, limit, points[a, b])) == count:
                points[i, j] = points[a, b]
                return
    first_tuple(batch, limit, count, points[i, j])


@njit(cache=True)
def balance_kernel(
    tables: CostTables, z_indices: Integers, lam_indices: Integers, padded: bool
) -> tuple[NDArray[np.int8], int, int]:
    """Return modes, z index and λ index of Algorithm 3's answer over ascending indices."""
    ad_users, sd_users = ad_batch(tables, padded), sd_batch(tables, padded)
    grid, users = make_grid(tables, z_indices, lam_indices), len(tables.deadline)
    points = np.zeros((len(z_indices), len(lam_indices), POINT), np.int64)
    sums = grid_counts(
        sd_users, grid.sd_share[::-1], grid.whole, grid.sd_room[::-1, ::-1], np.zeros_like(points)
    )[::-1, ::-1]
    most_sd = sums.copy()
    most_ad = grid_counts(ad_users, grid.ad_share, grid.whole, grid.ad_room, points)
    sums += most_ad
    _most_together(grid, ad_users, sd_users, sums)
    together = sums.copy().ravel()
    modes, taken = np.zeros(users, np.int8), np.zeros(users, np.bool_)
    best, winner, point = 0, 0, np.zeros(POINT, np.int64)
    for at in np.argsort(together, kind="mergesort")[::-1]:
        needed = best if at < winner else best + 1
        if together[at] < needed:
            continue
        i, j = at // len(lam_indices), at % len(lam_indices)
        ad = ad_users.user[:0]
        if most_ad[i, j]:
            _settle(ad_users, grid, most_ad, points, i, j)
            limit = limits(ad_users, grid.ad_share[i], grid.whole, grid.ad_room[i, j])
            ad = users_of(ad_users, limit, points[i, j])
        taken[:] = False
        taken[ad] = True
        left = without(sd_users, taken)
        limit = limits(left, grid.sd_share[i], grid.whole, grid.sd_room[i, j])
        count = most_users(left, limit, needed - len(ad), most_sd[i, j], point)
        if len(ad) + count < needed:
            continue
        best, winner = len(ad) + count, at
        modes[:] = 0
        modes[ad] = 1
        if count:
            first_tuple(left, limit, count, point)
            modes[users_of(left, limit, point)] = 2
    return modes, z_indices[winner // len(lam_indices)], lam_indices[winner % len(lam_indices)]


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
