"""Problem P3.2: the most users that SD can serve at one compute share and memory room.

With L3 and L4 known, an SD user's ticks and bytes depend on its iterations alone and grow with
them (structure point 1): ``sd_base``, ``sd_slope``, N(N - 1)/2 and N - 1 are monotone in N. So
every optimal batch can be exchanged for a prefix, in the order (iterations, position), of the
users admitted by its thresholds (L3, L4, t2, u2), and the prefix's last user is its N1: Algorithm
2 needs no loop over N1.
"""

from __future__ import annotations

import numpy as np

from instances.costs import CostTables
from instances.kernels import passed

from .batch import (
    ACCEPT,
    BASE,
    DEADLINE,
    DEADLINES,
    GROWTH,
    INPUT,
    LENGTH,
    MEMORY,
    MEMORY_GROWTH,
    PAIRS,
    PREFILL,
    SLOPE,
    STEPS,
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

#: SD charges its printed memory another way (`sd_batch`).
NEVER = passed(False)


@inner
def sd_batch(tables: CostTables, padded: bool) -> Batch:
    """Return the users that SD may serve, sorted for the search.

    Parameters
    ----------
    tables : CostTables
    padded : bool
        Charge memory as printed, eq. (31): one verified token less, κ^L bytes, at N = 1.
    """
    user = sorted_users(tables.sd_allowed, tables.iterations)
    costs, values = np.zeros((len(user), 6), np.int64), np.zeros((len(user), 4), np.int64)
    meaning = np.zeros((6, len(user)), np.int64)
    for i in range(len(user)):
        k = user[i]
        costs[i, BASE], costs[i, SLOPE] = tables.sd_base[k], tables.sd_slope[k]
        costs[i, PAIRS], costs[i, STEPS] = tables.sd_pairs[k], tables.sd_steps[k]
        costs[i, MEMORY], costs[i, LENGTH] = tables.sd_memory[k], tables.iterations[k]
        if padded and tables.iterations[k] == 1:
            costs[i, MEMORY] -= tables.kv_ad
        values[i, INPUT], values[i, ACCEPT] = tables.input_tokens[k], tables.accept_rank[k]
        values[i, DEADLINE], values[i, UPLOAD] = -tables.deadline[k], tables.upload[k]
        meaning[TOKENS, i], meaning[PREFILL, i] = tables.input_tokens[k], tables.sd_prefill[k]
        meaning[DEADLINES, i] = tables.deadline[k] - tables.sd_fixed
        meaning[UPLOADS, i], meaning[GROWTH, i] = tables.upload[k], tables.sd_growth[k]
        meaning[MEMORY_GROWTH, i] = tables.sd_memory_growth[k]
    return assemble(user, costs, values, meaning, tables.kv_sd, tables.sd_step, NEVER)


@lean
def sd_limits(tables: CostTables, batch: Batch, z_index: int, lam_index: int) -> Limits:
    """Return an SD batch's limits at one grid point."""
    whole, room = tables.z_denominator, tables.sd_room[z_index, lam_index]
    return limits(batch, whole - tables.z_numerator[z_index], whole, room)
