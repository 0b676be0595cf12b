"""Optima of few users at every point (z, λ) at once, for searches that need very many of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from formulations.exhaustive import ad_sets, sd_sets
from instances import CostTables
from instances.assignment import AD, SD, Assignment
from instances.costs import Integers
from instances.kernels import cached_njit


class Optima(NamedTuple):
    """The most users that can be served, on cost tables.

    Attributes
    ----------
    shared : (nz,)
        P1's optimum at each z.
    split : (nz, nl)
        P3's optimum at each (z, λ).
    shared_sets, split_sets : (nz, 2), (nz, nl, 2)
        A schedule for each: the users in AD and in SD as bit masks.
    """

    shared: Integers
    split: Integers
    shared_sets: Integers
    split_sets: Integers

    def p1(self, users: int) -> Assignment:
        """Return an optimal assignment of P1."""
        z = int(self.shared.argmax())
        return _assignment(self.shared_sets[z], users, z, None)

    def p2(self, users: int) -> Assignment:
        """Return an optimal assignment of P2."""
        z, lam = (int(i) for i in np.unravel_index(self.split.argmax(), self.split.shape))
        return _assignment(self.split_sets[z, lam], users, z, lam)


def optima(tables: CostTables) -> Optima:
    """Return all optima by trying every pair of disjoint sets: 3^K of them for each z."""
    return _optima(tables, ad_sets(tables), sd_sets(tables))


def _assignment(sets: Integers, users: int, z: int, lam: int | None) -> Assignment:
    bits = (sets[:, None] >> np.arange(users)) & 1
    return Assignment((AD * bits[0] + SD * bits[1]).astype(np.int8), z, lam)


@cached_njit()
def _optima(tables: CostTables, ad: Integers, sd: Integers) -> Optima:
    """Try every pair; columns of `ad` and `sd` are ticks, budget on the whole GPU, and bytes."""
    points, splits = tables.ad_room.shape
    everyone, whole = len(ad) - 1, tables.z_denominator
    shared, shared_sets = np.zeros(points, np.int64), np.zeros((points, 2), np.int64)
    split = np.zeros((points, splits), np.int64)
    split_sets = np.zeros((points, splits, 2), np.int64)
    sizes = np.zeros(everyone + 1, np.int64)
    for mask in range(1, everyone + 1):
        sizes[mask] = sizes[mask >> 1] + (mask & 1)
    for z in range(points):
        if tables.room[z] < 0:
            continue
        share = tables.z_numerator[z]
        for first in range(everyone + 1):
            if first and not _in_time(ad[first], share, whole):
                continue
            others = everyone & ~first
            second = others
            while True:
                if not second or _in_time(sd[second], whole - share, whole):
                    served = sizes[first] + sizes[second]
                    if served > shared[z] and ad[first, 2] + sd[second, 2] <= tables.room[z]:
                        shared[z] = served
                        shared_sets[z] = first, second
                    for lam in range(splits):
                        if (
                            served > split[z, lam]
                            and ad[first, 2] <= tables.ad_room[z, lam]
                            and sd[second, 2] <= tables.sd_room[z, lam]
                        ):
                            split[z, lam] = served
                            split_sets[z, lam] = first, second
                if second == 0:
                    break
                second = (second - 1) & others
    return Optima(shared, split, shared_sets, split_sets)


@cached_njit()
def _in_time(batch: Integers, share: int, whole: int) -> bool:
    """Return whether a batch with those ticks and budget meets its deadline, without overflow."""
    if share == 0 or batch[1] < 0:
        return False
    return bool(batch[0] <= batch[1] // whole * share + batch[1] % whole * share // whole)
