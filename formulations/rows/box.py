"""Boxes of schedules at one z or a range of z, and their tightening by counting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations.points import Point
from instances import CostTables
from instances.costs import Flags, Integers

from .count import Box, Packed, Part, Query, copied
from .shave import shave
from .thresholds import Mode, modes_at
from .weights import ROWS, charge_at, units

__all__ = ["Box", "Part", "Setting", "eligible", "setting_at", "tighten", "whole_box"]


@dataclass(frozen=True)
class Setting:
    """A range of points that differ in z alone, their modes, and how many users to serve.

    Whoever can serve more can serve exactly `goal`: any part of a batch is feasible too.

    Attributes
    ----------
    users : int
        Number of users K.
    modes : tuple of Mode
        AD and SD.
    shares : (n,)
        Numerators of z, ascending; both modes are either possible at all or at none of them.
    joint_room : int or None
        Bytes of both modes' caches together; None where λ splits them.
    goal : int
        Users to serve.
    value : (K,)
        What each user is worth.
    """

    users: int
    modes: tuple[Mode, Mode]
    shares: Integers
    joint_room: int | None
    goal: int
    value: Integers

    @cached_property
    def query(self) -> Query:
        """The setting as the counting kernels read it."""
        joint = -1 if self.joint_room is None else self.joint_room
        numbers = np.array([self.goal, self.users, joint], np.int64)
        ad, sd = pack(self.modes[0]), pack(self.modes[1])
        query = Query(ad, sd, self.shares, numbers, np.zeros(ROWS, np.int64))
        whole = whole_box(self)
        ticks = -charge_at(ad, whole.ad), -charge_at(sd, whole.sd)
        return query._replace(shift=units(query, ticks))


def setting_at(
    tables: CostTables, point: Point, goal: int, z_indices: tuple[int, ...] | None = None
) -> Setting:
    """Return what counting and the MILPs need to know about a point.

    Parameters
    ----------
    tables : CostTables
    point : Point
    goal : int
        Users to serve.
    z_indices : tuple of int, optional
        Ascending positions of z to be treated together, `point`'s among them; every one of them
        must allow the same modes in the same room.
    """
    shares = tables.z_numerator[list(z_indices or (point.z_index,))]
    joint = point.room(tables) if point.lam_index is None else None
    modes = modes_at(tables, point, capped=len(shares) == 1)
    return Setting(tables.users, modes, shares, joint, goal, tables.value)


def whole_box(setting: Setting) -> Box:
    """Return the box of all schedules."""
    ad, sd = (
        Part(
            np.zeros(len(mode.thresholds), np.int64),
            np.array([max(0, t.levels - 1) for t in mode.thresholds], np.int64),
            np.ones(len(mode.users), np.bool_),
            np.array([0, min(setting.goal, len(mode.users))], np.int64),
        )
        for mode in setting.modes
    )
    return Box(ad, sd, np.array([0, len(setting.shares) - 1], np.int64))


def pack(mode: Mode) -> Packed:
    """Return a mode as rectangular arrays; shorter rows are padded with their last entry."""
    products = [i for i, t in enumerate(mode.thresholds) if t.summands]
    levels = max(t.levels for t in mode.thresholds)

    def padded(rows: Integers) -> Integers:
        width = [(0, 0)] * (rows.ndim - 1) + [(0, levels - rows.shape[-1])]
        return np.pad(rows, width, mode="edge") if levels else rows

    return Packed(
        mode.users.astype(np.int64),
        mode.time,
        mode.memory,
        np.stack([padded(mode.times[i]) for i in products]),
        np.stack([padded(mode.memories[i]) for i in products]),
        np.stack([t.rank for t in mode.thresholds]),
        np.stack([padded(t.charge) for t in mode.thresholds]),
        np.array([mode.fixed, mode.whole, mode.room], np.int64),
    )


def eligible(setting: Setting, box: Box, side: int) -> Flags:
    """Return which users of a mode (0: AD, 1: SD) are open and fit the upper ends."""
    mode, part = setting.modes[side], (box.ad, box.sd)[side]
    ranks = np.stack([threshold.rank for threshold in mode.thresholds])
    within: Flags = part.open & (ranks <= part.high[:, None]).all(axis=0)
    return within & bool(part.size[1] > 0)


def tighten(
    setting: Setting, box: Box, weights: Integers | None = None, rounds: int = 20
) -> Box | None:
    """Return a smaller box with the same schedules; None if counting shows that it has none."""
    smaller = copied(box)
    weights = np.zeros(ROWS, np.int64) if weights is None else weights
    return smaller if shave(setting.query, smaller, weights, rounds) else None
