"""The paper's Algorithms 1, 2 and 3 tuple by tuple: the reference for the fast ones.

Literal but for three things that cannot change an answer: users who fit a mode not even alone are
left out beforehand; the value 0 is left out of the loops (it admits nobody, or leaves no time);
and the users are sorted once, not per tuple: latency and memory of a user grow with its output
tokens (AD) or iterations (SD) whatever the tuple, so that one order, ties by position, serves all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from instances import CostTables
from instances.assignment import Assignment
from instances.costs import Integers
from instances.kernels import cached_njit


@cached_njit()
def _within(time: int, budget: int, share: int, whole: int) -> bool:
    """Return whether whole * time <= share * budget, without overflow."""
    if budget < 0:
        return False
    return bool(time <= budget // whole * share + budget % whole * share // whole)


@cached_njit()
def algorithm1(
    tables: CostTables, z_index: int, room: int, padded: bool, operations: Integers
) -> Integers:
    """Return Algorithm 1's users: the first tuple (L1, L2, t1, u1) that serves the most.

    Parameters
    ----------
    tables : CostTables
    z_index, room : int
        Position in the z grid; bytes for AD, λR(z).
    padded : bool
        Charge every user κ^L (L1 + L2), eq. (27), instead of κ^L (L1 + L_k^O), eq. (15).
    operations : (2,)
        Counts tuples and users looked at.
    """
    share, whole = tables.z_numerator[z_index], tables.z_denominator
    users = np.flatnonzero(tables.ad_allowed)
    order = users[np.argsort(tables.output_tokens[users], kind="mergesort")]
    best, served = np.empty(0, np.int64), np.empty(len(users), np.int64)
    if share == 0 or room < 0:
        return best
    for holder in _one_of_each(tables.input_tokens, users):
        tokens, prefill = tables.input_tokens[holder], tables.ad_prefill[holder]
        for longest in np.unique(tables.output_tokens[users]):
            largest = tables.kv_ad * (tokens + longest)
            for deadline in np.unique(tables.deadline[users]):
                for upload in np.unique(tables.upload[users]):
                    operations[0] += 1
                    budget = deadline - upload - longest * tables.ad_step
                    count = time = memory = 0
                    for k in order:
                        operations[1] += 1
                        if tables.input_tokens[k] > tokens or tables.output_tokens[k] > longest:
                            continue
                        if tables.deadline[k] < deadline or tables.upload[k] > upload:
                            continue
                        time += tables.ad_base[k] + tables.ad_slope[k] * tokens + prefill
                        memory += tables.ad_memory[k] + tables.kv_ad * tokens
                        if padded and count + 1 > room // largest:
                            break
                        if not padded and memory > room:
                            break
                        if not _within(time, budget, share, whole):
                            break
                        served[count] = k
                        count += 1
                    if count > len(best):
                        best = served[:count].copy()
    return best


@cached_njit()
def algorithm2(
    tables: CostTables,
    z_index: int,
    room: int,
    taken: NDArray[np.bool_],
    padded: bool,
    operations: Integers,
) -> Integers:
    """Return Algorithm 2's users: the first tuple (L3, L4, N1, t2, u2) that serves the most.

    Parameters
    ----------
    tables : CostTables
    z_index, room : int
        Position in the z grid; bytes for SD, (1 - λ)R(z).
    taken : (K,) bool
        Users that AD serves.
    padded : bool
        Charge L^D instead of L^D + 1 verified tokens at N = 1, eq. (31) instead of eq. (16).
    operations : (2,)
        Counts tuples and users looked at.
    """
    share, whole = tables.z_denominator - tables.z_numerator[z_index], tables.z_denominator
    users = np.flatnonzero(tables.sd_allowed & ~taken)
    order = users[np.argsort(tables.iterations[users], kind="mergesort")]
    best, served = np.empty(0, np.int64), np.empty(len(users), np.int64)
    if share == 0 or room < 0:
        return best
    for holder in _one_of_each(tables.input_tokens, users):
        tokens, prefill = tables.input_tokens[holder], tables.sd_prefill[holder]
        for keen in _one_of_each(tables.accept_rank, users):
            rank, growth = tables.accept_rank[keen], tables.sd_growth[keen]
            for longest in np.unique(tables.iterations[users]):
                for deadline in np.unique(tables.deadline[users]):
                    for upload in np.unique(tables.upload[users]):
                        operations[0] += 1
                        budget = deadline - upload - tables.sd_fixed - longest * tables.sd_step
                        count = time = memory = 0
                        for k in order:
                            operations[1] += 1
                            if tables.input_tokens[k] > tokens or tables.accept_rank[k] > rank:
                                continue
                            if tables.iterations[k] > longest or tables.deadline[k] < deadline:
                                continue
                            if tables.upload[k] > upload:
                                continue
                            time += tables.sd_base[k] + tables.sd_slope[k] * tokens + prefill
                            time += tables.sd_pairs[k] * growth
                            memory += tables.sd_memory[k] + tables.kv_sd * tokens
                            memory += tables.sd_steps[k] * tables.sd_memory_growth[keen]
                            if padded and tables.iterations[k] == 1:
                                memory -= tables.kv_ad
                            if memory > room or not _within(time, budget, share, whole):
                                break
                            served[count] = k
                            count += 1
                        if count > len(best):
                            best = served[:count].copy()
    return best


@cached_njit()
def _one_of_each(values: Integers, users: Integers) -> Integers:
    """Return one user per distinct value, values ascending."""
    order = users[np.argsort(values[users], kind="mergesort")]
    first = np.ones(len(order), np.bool_)
    first[1:] = values[order[1:]] != values[order[:-1]]
    return order[first]


@cached_njit()
def algorithm3(
    tables: CostTables,
    z_indices: Integers,
    lam_indices: Integers,
    padded: bool,
    operations: Integers,
) -> tuple[NDArray[np.int8], int, int]:
    """Return modes, z index and λ index of Algorithm 3, every grid point worked out."""
    modes = np.zeros(len(tables.deadline), np.int8)
    best, best_z, best_lam = 0, z_indices[0], lam_indices[0]
    for z in z_indices:
        for lam in lam_indices:
            ad = algorithm1(tables, z, tables.ad_room[z, lam], padded, operations)
            taken = np.zeros(len(modes), np.bool_)
            taken[ad] = True
            sd = algorithm2(tables, z, tables.sd_room[z, lam], taken, padded, operations)
            if len(ad) + len(sd) > best:
                best, best_z, best_lam = len(ad) + len(sd), z, lam
                modes[:] = 0
                modes[ad] = 1
                modes[sd] = 2
    return modes, best_z, best_lam


def printed(
    tables: CostTables,
    z_indices: Sequence[int] | None = None,
    lam_indices: Sequence[int] | None = None,
    padded: bool = True,
) -> tuple[Assignment, dict[str, int]]:
    """Return the assignment of the paper's Algorithm 3 and how much it enumerated.

    Parameters
    ----------
    tables : CostTables
        Built *up*.
    z_indices, lam_indices : sequence of int, optional
        Positions in the grids that may be chosen, ascending; all by default.
    padded : bool
        Charge memory as printed (errata E1, E2); False: as eqs. (15) and (16) say.

    Returns
    -------
    Assignment
    dict
        ``tuples`` enumerated and ``users_scanned`` in them.
    """
    shares = range(len(tables.z_numerator)) if z_indices is None else z_indices
    splits = range(tables.ad_room.shape[1]) if lam_indices is None else lam_indices
    operations = np.zeros(2, np.int64)
    modes, z, lam = algorithm3(
        tables, np.array(shares, np.int64), np.array(splits, np.int64), padded, operations
    )
    counters = {"tuples": int(operations[0]), "users_scanned": int(operations[1])}
    return Assignment(modes, int(z), int(lam)), counters
