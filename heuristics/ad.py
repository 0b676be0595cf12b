"""Problem P3.1: the most users that AD can serve at one compute share and memory room.

With L1 known, an AD user's ticks and bytes depend on its output tokens alone and grow with them
(structure point 1): ``ad_base`` and ``ad_slope`` are sums of nonnegative terms per decoded token,
rounded monotonically. So every optimal batch can be exchanged for a prefix, in the order
(output tokens, position), of the users admitted by its thresholds (L1, t1, u1), and the prefix's
last user is its L2: Algorithm 1 needs no loop over L2.
"""

from __future__ import annotations

import numpy as np

from instances.costs import CostTables

from .batch import (
    BASE,
    DEADLINE,
    DEADLINES,
    INPUT,
    LENGTH,
    MEMORY,
    PREFILL,
    SLOPE,
    TOKENS,
    UPLOAD,
    UPLOADS,
    Batch,
    Limits,
    assemble,
    inner,
    lean,
    limits,
    sorted_users,
)


@inner
def ad_batch(tables: CostTables, padded: bool) -> Batch:
    """Return the users that AD may serve, sorted for the search.

    Parameters
    ----------
    tables : CostTables
    padded : bool
        Charge memory as printed, eq. (27), instead of eq. (15).
    """
    user = sorted_users(tables.ad_allowed, tables.output_tokens)
    costs, values = np.zeros((len(user), 6), np.int64), np.zeros((len(user), 4), np.int64)
    meaning = np.zeros((6, len(user)), np.int64)
    for i in range(len(user)):
        k = user[i]
        costs[i, BASE], costs[i, SLOPE] = tables.ad_base[k], tables.ad_slope[k]
        costs[i, MEMORY], costs[i, LENGTH] = tables.ad_memory[k], tables.output_tokens[k]
        values[i, INPUT], values[i, DEADLINE] = tables.input_tokens[k], -tables.deadline[k]
        values[i, UPLOAD] = tables.upload[k]
        meaning[TOKENS, i], meaning[PREFILL, i] = tables.input_tokens[k], tables.ad_prefill[k]
        meaning[DEADLINES, i], meaning[UPLOADS, i] = tables.deadline[k], tables.upload[k]
    return assemble(user, costs, values, meaning, tables.kv_ad, tables.ad_step, padded)


@lean
def ad_limits(tables: CostTables, batch: Batch, z_index: int, lam_index: int) -> Limits:
    """Return an AD batch's limits at one grid point."""
    whole, room = tables.z_denominator, tables.ad_room[z_index, lam_index]
    return limits(batch, tables.z_numerator[z_index], whole, room)
