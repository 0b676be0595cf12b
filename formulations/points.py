"""`Point`: one pair of shares (z, λ), at which a schedule is a choice of modes only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances import CostTables

Users = NDArray[np.intp]


@dataclass(frozen=True)
class Point:
    """Fixed shares of compute and memory.

    Parameters
    ----------
    z_index : int
        Position in the z grid.
    lam_index : int or None
        Position in the λ grid; None: one joint memory row (P1).
    allow_ad, allow_sd : bool
        False: that mode must stay empty.
    """

    z_index: int
    lam_index: int | None = None
    allow_ad: bool = True
    allow_sd: bool = True

    def shares(self, tables: CostTables) -> tuple[int, int]:
        """Return numerator and denominator of z."""
        return int(tables.z_numerator[self.z_index]), tables.z_denominator

    def room(self, tables: CostTables) -> int:
        """Return the bytes left for both modes' caches, R(z); negative where weights do not fit."""
        return int(tables.room[self.z_index])

    def split_room(self, tables: CostTables) -> tuple[int, int]:
        """Return the bytes of the AD and of the SD caches; all of R(z) for each without a λ."""
        if self.lam_index is None:
            return self.room(tables), self.room(tables)
        point = self.z_index, self.lam_index
        return int(tables.ad_room[point]), int(tables.sd_room[point])

    def ad_users(self, tables: CostTables) -> Users:
        """Return the users who may decode autoregressively here (nobody at z = 0)."""
        share, _ = self.shares(tables)
        if not self.allow_ad or share == 0 or self.room(tables) < 0:
            return np.empty(0, np.intp)
        return np.flatnonzero(tables.ad_allowed)

    def sd_users(self, tables: CostTables) -> Users:
        """Return the users who may decode speculatively here (nobody at z = 1)."""
        share, whole = self.shares(tables)
        if not self.allow_sd or share == whole or self.room(tables) < 0:
            return np.empty(0, np.intp)
        return np.flatnonzero(tables.sd_allowed)


#: Points that one model covers; they differ in z alone, ascending.
Points = tuple[Point, ...]


def groups(tables: CostTables, z_indices: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the positions of z that one search may take together: 0, those between, 1."""
    share = {z: int(tables.z_numerator[z]) for z in sorted(z_indices)}
    ends = (0, tables.z_denominator)
    inner = tuple(z for z in share if share[z] not in ends)
    return [(z,) for z in share if share[z] in ends] + ([inner] if inner else [])
