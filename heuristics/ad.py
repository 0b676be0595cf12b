"""Problem P3.1: the most users that AD can serve at one compute share and memory room.

With L1 known, an AD user's ticks and bytes depend on its output tokens alone and grow with them
(structure point 1): ``ad_base`` and ``ad_slope`` are sums of nonnegative terms per decoded token,
rounded monotonically. So every optimal batch can be exchanged for a prefix, in the order
(output tokens, position), of the users admitted by its thresholds (L1, t1, u1), and the prefix's
last user is its L2: Algorithm 1 needs no loop over L2.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from instances.costs import CostTables

from .batch import Batch, Limits, largest_time, limits, ranked


@njit(cache=True)
def ad_batch(tables: CostTables, padded: bool) -> Batch:
    """Return the users that AD may serve, sorted for the search.

    Parameters
    ----------
    tables : CostTables
    padded : bool
        Charge memory as printed, eq. (27), instead of eq. (15).
    """
    allowed = np.flatnonzero(tables.ad_allowed)
    order = np.argsort(tables.output_tokens[allowed], kind="mergesort")
    user = allowed[order].astype(np.int64)
    inputs, input_rank, holder = ranked(tables.input_tokens[user])
    deadlines, deadline_rank, _ = ranked(tables.deadline[user])
    uploads, upload_rank, _ = ranked(tables.upload[user])
    none = np.zeros(len(user), np.int64)
    base, slope = tables.ad_base[user], tables.ad_slope[user]
    prefill = tables.ad_prefill[user][holder]
    growth = np.zeros(1, np.int64)
    return Batch(
        user,
        tables.output_tokens[user],
        base,
        slope,
        none,
        tables.ad_memory[user],
        none,
        input_rank,
        none,
        deadline_rank,
        upload_rank,
        inputs,
        prefill,
        growth,
        growth,
        deadlines,
        uploads,
        tables.kv_ad,
        tables.ad_step,
        padded,
        largest_time(base, slope, none, inputs, prefill, growth, deadlines),
    )


@njit(cache=True)
def ad_limits(tables: CostTables, batch: Batch, z_index: int, room: int) -> Limits:
    """Return an AD batch's limits at one compute share."""
    return limits(batch, tables.z_numerator[z_index], tables.z_denominator, room)
