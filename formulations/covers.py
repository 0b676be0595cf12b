"""Cover cuts: what an integral but infeasible answer of a float solver teaches.

A solver with tolerances may return a schedule that breaks a row by less than its tolerance. The
users in the broken row then form a *cover*: that row cannot hold all of them, nor any superset
(costs grow and budgets shrink with every user), so at most one less may be chosen. Adding the cut
and solving again ends with an answer that the integer tables accept, or with the proof that none
is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances import CostTables
from instances.assignment import AD, SD, ad_batch, ad_budget, sd_batch, sd_budget

from .points import Point, Users

Modes = NDArray[np.int8]


@dataclass(frozen=True)
class Cover:
    """At most `limit` of these users may be in these modes together.

    Attributes
    ----------
    ad, sd : (...) intp
        Users in each mode.
    limit : int
    """

    ad: Users
    sd: Users
    limit: int


def violated_covers(tables: CostTables, point: Point, modes: Modes) -> list[Cover]:
    """Return a minimal, extended cover for every row that a choice of modes breaks.

    Parameters
    ----------
    tables : CostTables
    point : Point
    modes : (K,) int8
        One mode per user, each allowed at this point.

    Returns
    -------
    list of Cover
        Empty iff the tables accept the modes.
    """
    ad, sd = np.flatnonzero(modes == AD), np.flatnonzero(modes == SD)
    none = np.empty(0, np.intp)
    covers = []
    for late, users, mode in ((_ad_late, ad, AD), (_sd_late, sd, SD)):
        if late(tables, point, users):
            covers.append(_one_mode(tables, point, users, mode, late))
    if point.lam_index is None:
        if _bytes(tables, ad, sd) > point.room(tables):
            covers.append(_joint(tables, point, ad, sd))
        return covers
    ad_room, sd_room = point.split_room(tables)
    if _bytes(tables, ad, none) > ad_room:
        covers.append(_one_mode(tables, point, ad, AD, _ad_full))
    if _bytes(tables, none, sd) > sd_room:
        covers.append(_one_mode(tables, point, sd, SD, _sd_full))
    return covers


_Broken = Callable[[CostTables, Point, Users], bool]


def _ad_late(tables: CostTables, point: Point, users: Users) -> bool:
    share, whole = point.shares(tables)
    return whole * ad_batch(tables, users)[0] > share * ad_budget(tables, users)


def _sd_late(tables: CostTables, point: Point, users: Users) -> bool:
    share, whole = point.shares(tables)
    return whole * sd_batch(tables, users)[0] > (whole - share) * sd_budget(tables, users)


def _ad_full(tables: CostTables, point: Point, users: Users) -> bool:
    return ad_batch(tables, users)[1] > point.split_room(tables)[0]


def _sd_full(tables: CostTables, point: Point, users: Users) -> bool:
    return sd_batch(tables, users)[1] > point.split_room(tables)[1]


def _bytes(tables: CostTables, ad: Users, sd: Users) -> int:
    return ad_batch(tables, ad)[1] + sd_batch(tables, sd)[1]


def _one_mode(tables: CostTables, point: Point, users: Users, mode: int, broken: _Broken) -> Cover:
    """Cover of one mode, extended by every user at least as demanding as each of its members.

    Swapping members for such users breaks the row as well, so the limit stays the same.
    """
    core = _minimal(users, lambda rest: broken(tables, point, rest))
    demands = _ad_demands(tables) if mode == AD else _sd_demands(tables)
    allowed = point.ad_users(tables) if mode == AD else point.sd_users(tables)
    hardest = demands[:, core].max(axis=1)
    worse = allowed[(demands[:, allowed] >= hardest[:, None]).all(axis=0)]
    extended, none = np.union1d(core, worse), np.empty(0, np.intp)
    ad, sd = (extended, none) if mode == AD else (none, extended)
    return Cover(ad, sd, limit=len(core) - 1)


def _joint(tables: CostTables, point: Point, ad: Users, sd: Users) -> Cover:
    """Cover of the joint memory row; user + K stands for a user in SD."""
    room, shift = point.room(tables), tables.users

    def broken(rest: Users) -> bool:
        return _bytes(tables, rest[rest < shift], rest[rest >= shift] - shift) > room

    core = _minimal(np.concatenate([ad, sd + shift]), broken)
    return Cover(core[core < shift], core[core >= shift] - shift, limit=len(core) - 1)


def _minimal(users: Users, broken: Callable[[Users], bool]) -> Users:
    """Drop users one by one while the rest still breaks the row."""
    for user in users:
        rest = users[users != user]
        if rest.size and broken(rest):
            users = rest
    return users


def _ad_demands(tables: CostTables) -> NDArray[np.int64]:
    """Everything an AD row grows with, one line each."""
    t = tables
    return np.stack(
        [t.input_tokens, t.output_tokens, t.upload, -t.deadline, t.ad_base, t.ad_slope, t.ad_memory]
    )


def _sd_demands(tables: CostTables) -> NDArray[np.int64]:
    """Everything an SD row grows with, one line each."""
    t = tables
    lengths = [t.input_tokens, t.iterations, t.accept_rank, t.upload, -t.deadline]
    return np.stack([*lengths, t.sd_base, t.sd_slope, t.sd_pairs, t.sd_memory, t.sd_steps])
