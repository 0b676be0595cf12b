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
from numpy.typing import NDArray

from instances import CostTables
from instances.assignment import Assignment
from instances.costs import Integers
from instances.kernels import cached_njit

from .ad import ad_batch
from .batch import Batch, copy, inner, limits, stable_order, without
from .counts import grid_counts, mark_alone
from .sd import sd_batch
from .search import POINT, STOP, first_tuple, most_users, users_of


class Grid(NamedTuple):
    """Compute shares (nz,) of `whole` and bytes (nz, nl) for a mode at every point."""

    whole: int
    share: Integers
    room: Integers


@inner
def _flipped(grid: Integers) -> Integers:
    """Return a (nz, nl) array with both axes reversed."""
    flipped, rows, columns = np.empty_like(grid), grid.shape[0], grid.shape[1]
    for i in range(rows):
        for j in range(columns):
            flipped[i, j] = grid[rows - 1 - i, columns - 1 - j]
    return flipped


@inner
def _bounds(
    ad_users: Batch, sd_users: Batch, ad_grid: Grid, sd_grid: Grid, users: int,
    most_ad: Integers, most_sd: Integers,
) -> Integers:  # fmt: skip
    """Return each point's sum of AD and SD users, or fewer where fewer fit a mode alone."""
    splits, bounds = most_ad.shape[1], np.empty(most_ad.size, np.int64)
    last = splits - 1
    for i in range(len(most_ad)):
        alone = np.zeros(users, np.bool_)
        limit = limits(ad_users, ad_grid.share[i], ad_grid.whole, ad_grid.room[i, last])
        servable = mark_alone(ad_users, limit, alone)
        limit = limits(sd_users, sd_grid.share[i], sd_grid.whole, sd_grid.room[i, 0])
        servable += mark_alone(sd_users, limit, alone)
        for j in range(splits):
            bounds[i * splits + j] = min(most_ad[i, j] + most_sd[i, j], servable)
    return bounds


@inner
def _settle(batch: Batch, grid: Grid, counts: Integers, points: Integers, i: int, j: int) -> None:
    """Make the tuple at a grid point the first one, as the printed order has it.

    The tuples that serve `count` users here do so at every point with more share and room too; so
    the first tuple there, if it serves as many here, is the first here.
    """
    limit, count = limits(batch, grid.share[i], grid.whole, grid.room[i, j]), counts[i, j]
    for a in range(i, len(counts)):
        for b in range(j, counts.shape[1]):
            known = points[a, b, STOP] > 0 and counts[a, b] == count
            if known and len(users_of(batch, limit, points[a, b])) == count:
                copy(points[a, b], points[i, j])
                return
    first_tuple(batch, limit, count, points[i, j])


@inner
def _search_grid(
    ad_users: Batch,
    sd_users: Batch,
    ad_grid: Grid,
    sd_grid: Grid,
    any_best: bool,
    modes: NDArray[np.int8],
) -> int:
    """Write the best point's modes; return the point's position in the printed order."""
    shape = ad_grid.room.shape
    points, unused = np.zeros((*shape, POINT), np.int64), np.zeros((*shape, POINT), np.int64)
    most_ad = grid_counts(ad_users, ad_grid.share, ad_grid.whole, ad_grid.room, points)
    turned = sd_grid.share[::-1].copy()
    most_sd = _flipped(grid_counts(sd_users, turned, sd_grid.whole, _flipped(sd_grid.room), unused))
    together = _bounds(ad_users, sd_users, ad_grid, sd_grid, len(modes), most_ad, most_sd)
    taken = np.zeros(len(modes), np.bool_)
    best, winner, point = 0, 0, np.zeros(POINT, np.int64)
    for at in stable_order(together)[::-1]:
        needed = best if at < winner and not any_best else best + 1
        if together[at] < needed:
            continue
        i, j = at // shape[1], at % shape[1]
        limit = limits(ad_users, ad_grid.share[i], ad_grid.whole, ad_grid.room[i, j])
        if most_ad[i, j]:
            _settle(ad_users, ad_grid, most_ad, points, i, j)
        ad = users_of(ad_users, limit, points[i, j])
        taken[:] = False
        for k in ad:
            taken[k] = True
        left = without(sd_users, taken)
        limit = limits(left, sd_grid.share[i], sd_grid.whole, sd_grid.room[i, j])
        count = most_users(left, limit, needed - len(ad), most_sd[i, j], point)
        if len(ad) + count < needed:
            continue
        best, winner = len(ad) + count, at
        modes[:] = 0
        for k in ad:
            modes[k] = 1
        if count:
            first_tuple(left, limit, count, point)
            for k in users_of(left, limit, point):
                modes[k] = 2
    return winner


@cached_njit()
def balance_kernel(
    tables: CostTables,
    z_indices: Integers,
    lam_indices: Integers,
    padded: bool,
    any_best: bool,
) -> tuple[NDArray[np.int8], int, int]:
    """Return modes, z index and λ index of Algorithm 3's answer over ascending indices."""
    whole, shape = tables.z_denominator, (len(z_indices), len(lam_indices))
    share, modes = np.empty(shape[0], np.int64), np.zeros(len(tables.deadline), np.int8)
    ad_room, sd_room = np.empty(shape, np.int64), np.empty(shape, np.int64)
    for i in range(shape[0]):
        share[i] = tables.z_numerator[z_indices[i]]
        for j in range(shape[1]):
            ad_room[i, j] = tables.ad_room[z_indices[i], lam_indices[j]]
            sd_room[i, j] = tables.sd_room[z_indices[i], lam_indices[j]]
    ad_grid, sd_grid = Grid(whole, share, ad_room), Grid(whole, whole - share, sd_room)
    ad_users, sd_users = ad_batch(tables, padded), sd_batch(tables, padded)
    at = _search_grid(ad_users, sd_users, ad_grid, sd_grid, any_best, modes)
    return modes, z_indices[at // shape[1]], lam_indices[at % shape[1]]


def balance(
    tables: CostTables,
    z_indices: Sequence[int] | None = None,
    lam_indices: Sequence[int] | None = None,
    padded: bool = False,
    any_best: bool = False,
) -> Assignment:
    """Return Algorithm 3's assignment.

    Parameters
    ----------
    tables : CostTables
        Built *up*, the assignment is exactly feasible.
    z_indices, lam_indices : sequence of int, optional
        Positions in the grids that may be chosen, ascending; all by default.
    padded : bool
        Charge memory as the paper's Algorithms 1 and 2 print it (errata E1, E2): the assignment
        may then break P1's memory row.
    any_best : bool
        Return the first of the best points that is met, not that of the printed order: as many
        users in less time.
    """
    shares = range(len(tables.z_numerator)) if z_indices is None else z_indices
    splits = range(tables.ad_room.shape[1]) if lam_indices is None else lam_indices
    modes, z, lam = balance_kernel(
        tables, np.array(shares, np.int64), np.array(splits, np.int64), padded, any_best
    )
    return Assignment(modes, int(z), int(lam))
