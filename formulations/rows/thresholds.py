"""A mode as thresholds: the max-terms in one form, for counting and for every tighter MILP.

A batch's maxima (for AD: L1, urgency, upload, L2; for SD: L3, L4, urgency, upload, N1) are its
*thresholds*. Urgency is minus the deadline, so that every threshold is a maximum of the members'
values and everything grows with it. A threshold takes one of the members' distinct values, its
*levels*, by rank. A level costs a charge, once, out of the batch's time, and for L1, L3, L4 a
product of the level with sums over the members.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from formulations.points import Point, Users
from instances import CostTables
from instances.costs import Integers


class Summand(NamedTuple):
    """``level's ticks (bytes) * Σ factor`` over the members.

    Attributes
    ----------
    factor : (m,)
        Per member.
    time, memory : (n,)
        Whole-GPU ticks and bytes per unit, by rank of the level; they ascend.
    """

    factor: Integers
    time: Integers
    memory: Integers


class Threshold(NamedTuple):
    """One max-term of a mode with m users and n distinct values.

    Attributes
    ----------
    rank : (m,)
        Each user's value as a rank.
    charge : (n,)
        Ticks that a level takes from the batch's time; they ascend.
    summands : tuple of Summand
        What the level multiplies.
    """

    rank: Integers
    charge: Integers
    summands: tuple[Summand, ...] = ()

    @property
    def levels(self) -> int:
        """Number of distinct values n."""
        return len(self.charge)


@dataclass(frozen=True)
class Mode:
    """One mode at one point; its time row is ``whole Σ work + share Σ charges <= 0``.

    Attributes
    ----------
    users : (m,)
        Who may be in the mode.
    thresholds : tuple of Threshold
    time, memory : (m,)
        Ticks and bytes of a user that no level changes.
    fixed : int
        Ticks charged once to a batch.
    share, whole : int
        The mode's share of the GPU is share / whole.
    room : int
        Bytes of the mode's caches.
    """

    users: Users
    thresholds: tuple[Threshold, ...]
    time: Integers
    memory: Integers
    fixed: int
    share: int
    whole: int
    room: int

    @cached_property
    def times(self) -> list[Integers]:
        """Per threshold with summands, ticks by user and level, at least the user's own level."""
        return [_matrix(t, [part.time for part in t.summands]) for t in self.thresholds]

    @cached_property
    def memories(self) -> list[Integers]:
        """Per threshold with summands, bytes by user and level, at least the user's own level."""
        return [_matrix(t, [part.memory for part in t.summands]) for t in self.thresholds]

    def budget(self, charge: Integers) -> Integers:
        """Return the whole-GPU ticks that the members' work may sum to, given all charges."""
        quotient, rest = np.divmod(-charge, self.whole)  # no product overflows
        ticks: Integers = quotient * self.share + rest * self.share // self.whole
        return ticks


def _matrix(threshold: Threshold, weights: list[Integers]) -> Integers:
    level = np.maximum(threshold.rank[:, None], np.arange(threshold.levels)[None, :])
    total = np.zeros(level.shape, np.int64)
    for part, weight in zip(threshold.summands, weights, strict=True):
        total += part.factor[:, None] * weight[level]
    return total


def modes_at(tables: CostTables, point: Point, capped: bool = True) -> tuple[Mode, Mode]:
    """Return AD and SD at a point; a mode that nobody may use there has no users.

    Parameters
    ----------
    tables : CostTables
    point : Point
    capped : bool
        Charge deadlines that no batch at this share can miss like the latest end of a batch.
    """
    return _ad(tables, point, capped), _sd(tables, point, capped)


def _ad(tables: CostTables, point: Point, capped: bool) -> Mode:
    users, (share, whole) = point.ad_users(tables), point.shares(tables)
    ones = np.ones(len(users), np.int64)
    members = (ones, tables.ad_prefill, tables.kv_ad * tables.input_tokens)
    slope = (tables.ad_slope[users], tables.input_tokens, 0 * tables.input_tokens)
    mode = Mode(
        users,
        (_product(users, tables.input_tokens, members, slope),),
        tables.ad_base[users],
        tables.ad_memory[users],
        0,
        share,
        whole,
        point.split_room(tables)[0],
    )
    return _charged(mode, tables, tables.output_tokens, tables.ad_step, capped)


def _sd(tables: CostTables, point: Point, capped: bool) -> Mode:
    users, (share, whole) = point.sd_users(tables), point.shares(tables)
    ones, none = np.ones(len(users), np.int64), 0 * tables.input_tokens
    members = (ones, tables.sd_prefill, tables.kv_sd * tables.input_tokens)
    slope = (tables.sd_slope[users], tables.input_tokens, none)
    pairs = (tables.sd_pairs[users], tables.sd_growth, none)
    steps = (tables.sd_steps[users], none, tables.sd_memory_growth)
    longest = _product(users, tables.input_tokens, members, slope)
    keenest = _product(users, tables.accept_rank, pairs, steps)
    mode = Mode(
        users,
        (longest, keenest),
        tables.sd_base[users],
        tables.sd_memory[users],
        tables.sd_fixed,
        whole - share,
        whole,
        point.split_room(tables)[1],
    )
    return _charged(mode, tables, tables.iterations, tables.sd_step, capped)


def _product(
    users: Users, values: Integers, *parts: tuple[Integers, Integers, Integers]
) -> Threshold:
    """Return a threshold that multiplies sums: (factor by member, ticks, bytes by any user)."""
    _, first, rank = np.unique(values[users], return_index=True, return_inverse=True)
    peer = users[first]  # somebody who has the level's value
    summands = tuple(Summand(factor, time[peer], memory[peer]) for factor, time, memory in parts)
    return Threshold(rank.astype(np.int64), np.zeros(len(peer), np.int64), summands)


def _charged(mode: Mode, tables: CostTables, lengths: Integers, step: int, capped: bool) -> Mode:
    """Return the mode with the thresholds that only take time."""
    users = mode.users
    upload, length = tables.upload[users], step * lengths[users]
    urgency = _charge(-tables.deadline[users])
    if capped and users.size:
        latest = mode.fixed + int(upload.max()) + int(length.max())
        latest -= -mode.whole * _heaviest(mode) // mode.share
        cap = min(int(tables.deadline[users].max()), max(mode.fixed, latest))
        urgency = Threshold(urgency.rank, np.maximum(urgency.charge, -cap))
    thresholds = (*mode.thresholds, urgency, _charge(upload), _charge(length))
    return replace(mode, thresholds=thresholds)


def _heaviest(mode: Mode) -> int:
    """Return the work of everyone at the highest levels."""
    return int(mode.time.sum()) + sum(int(matrix[:, -1].sum()) for matrix in mode.times)


def _charge(values: Integers) -> Threshold:
    levels, rank = np.unique(values, return_inverse=True)
    return Threshold(rank.astype(np.int64), levels)
