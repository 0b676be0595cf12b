"""Problem P3.2: the most users that SD can serve at one compute share and memory room.

With L3 and L4 known, an SD user's ticks and bytes depend on its iterations alone and grow with
them (structure point 1): ``sd_base``, ``sd_slope``, N(N - 1)/2 and N - 1 are monotone in N. So
every optimal batch can be exchanged for a prefix, in the order (iterations, position), of the
users admitted by its thresholds (L3, L4, t2, u2), and the prefix's last user is its N1: Algorithm
2 needs no loop over N1.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from instances.costs import CostTables

from .batch import Batch, Limits, largest_time, limits, ranked


@njit(cache=True)
def sd_batch(tables: CostTables, padded: bool) -> Batch:
    """Return the users that SD may serve, sorted for the search.

    Parameters
    ----------
    tables : CostTables
    padded : bool
        Charge memory as printed, eq. (31): one verified token less, κ^L bytes, at N = 1.
    """
    allowed = np.flatnonzero(tables.sd_allowed)
    order = np.argsort(tables.iterations[allowed], kind="mergesort")
    user = allowed[order].astype(np.int64)
    inputs, input_rank, holder = ranked(tables.input_tokens[user])
    _, accept_rank, keen = ranked(tables.accept_rank[user])
    deadlines, deadline_rank, _ = ranked(tables.deadline[user] - tables.sd_fixed)
    uploads, upload_rank, _ = ranked(tables.upload[user])
    base, slope, pairs = tables.sd_base[user], tables.sd_slope[user], tables.sd_pairs[user]
    prefill, growth = tables.sd_prefill[user][holder], tables.sd_growth[user][keen]
    memory = tables.sd_memory[user]
    if padded:
        memory = memory - np.where(tables.iterations[user] == 1, tables.kv_ad, 0)
    return Batch(
        user,
        tables.iterations[user],
        base,
        slope,
        pairs,
        memory,
        tables.sd_steps[user],
        input_rank,
        accept_rank,
        deadline_rank,
        upload_rank,
        inputs,
        prefill,
        growth,
        tables.sd_memory_growth[user][keen],
        deadlines,
        uploads,
        tables.kv_sd,
        tables.sd_step,
        False,
        largest_time(base, slope, pairs, inputs, prefill, growth, deadlines),
    )


@njit(cache=True)
def sd_limits(tables: CostTables, batch: Batch, z_index: int, room: int) -> Limits:
    """Return an SD batch's limits at one compute share of the *AD* mode."""
    whole = tables.z_denominator
    return limits(batch, whole - tables.z_numerator[z_index], whole, room)
