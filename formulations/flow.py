"""A combinatorial upper bound on the objective: the most valuable flow from users to modes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from instances import CostTables

from .points import Point, Users

Integers = NDArray[np.int64]


def flow_bound(tables: CostTables, point: Point) -> int:
    """Return an upper bound on the objective at one point (z, λ).

    Users flow to the modes that they fit alone; each mode takes at most its largest possible
    count; the bound is the worth of the most valuable users who can flow together.

    Parameters
    ----------
    tables : CostTables
        Built down, for a bound on the exact problem.
    point : Point

    Notes
    -----
    In a batch of n users each costs at least what it costs alone (its own values as the maxima),
    and the batch's budget is at most every member's own, ``deadline - upload - fixed``. So if n
    users fit, then for the smallest own budget b among them the n cheapest of all users with own
    budget at least b fit b, and the n smallest caches fit the room. `_largest_count` is the largest
    n that passes.

    Sets of users who can flow together are the independent sets of a transversal matroid, so the
    greedy choice is the most valuable: dearest first, everyone who fits beside those chosen. By
    Hall's theorem a set can flow iff those who fit AD alone, those who fit SD alone and all of them
    are no more than the modes in question take.
    """
    (ad, most_ad), (sd, most_sd) = _ad_counts(tables, point), _sd_counts(tables, point)
    left = [most_ad, most_sd, most_ad + most_sd]
    fits_ad, fits_sd = np.isin(np.arange(tables.users), ad), np.isin(np.arange(tables.users), sd)
    bound = 0
    for k in np.argsort(-tables.value, kind="stable"):
        if not fits_ad[k] and not fits_sd[k]:
            continue
        groups = [2] if fits_ad[k] and fits_sd[k] else [2, 0 if fits_ad[k] else 1]
        if all(left[group] for group in groups):
            bound += int(tables.value[k])
            for group in groups:
                left[group] -= 1
    return bound


def _ad_counts(tables: CostTables, point: Point) -> tuple[Users, int]:
    """Users who fit AD alone at this point, and the largest batch of them."""
    users, (share, whole) = point.ad_users(tables), point.shares(tables)
    time = tables.ad_base + tables.ad_slope * tables.input_tokens + tables.ad_prefill
    budget = tables.deadline - tables.upload - tables.ad_step * tables.output_tokens
    cache = tables.ad_memory + tables.kv_ad * tables.input_tokens
    return _counts(users, time, budget, cache, (share, whole), point.split_room(tables)[0])


def _sd_counts(tables: CostTables, point: Point) -> tuple[Users, int]:
    """Users who fit SD alone at this point, and the largest batch of them."""
    users, (share, whole) = point.sd_users(tables), point.shares(tables)
    time = tables.sd_base + tables.sd_slope * tables.input_tokens + tables.sd_prefill
    time = time + tables.sd_pairs * tables.sd_growth
    budget = tables.deadline - tables.upload - tables.sd_fixed - tables.sd_step * tables.iterations
    cache = tables.sd_memory + tables.kv_sd * tables.input_tokens
    cache = cache + tables.sd_steps * tables.sd_memory_growth
    return _counts(users, time, budget, cache, (whole - share, whole), point.split_room(tables)[1])


def _counts(
    users: Users,
    time: Integers,
    budget: Integers,
    cache: Integers,
    fraction: tuple[int, int],
    room: int,
) -> tuple[Users, int]:
    share, whole = fraction
    # ⌊share * budget / whole⌋, so that time is compared without overflow
    least = np.array([share * int(budget[k]) // whole for k in users], np.int64)
    fit = (time[users] <= least) & (cache[users] <= room)
    users, least = users[fit], least[fit]
    largest = _largest_count(time[users], least)
    packed = np.cumsum(np.sort(cache[users].astype(object)))
    return users, min(largest, sum(1 for total in packed if total <= room))


def _largest_count(time: Integers, budget: Integers) -> int:
    """Return the most users whose summed time stays within the smallest budget among them."""
    order = np.argsort(time, kind="stable")
    time, budget = time[order], budget[order]
    best = 0
    for least in np.unique(budget):
        total = np.cumsum(time[budget >= least])
        best = max(best, int(np.searchsorted(total, least, side="right")))
    return best
