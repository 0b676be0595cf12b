"""`add`: let users enter two batches one after the other while the integers allow it.

A batch's ticks and bytes are sums times maxima (`instances.costs`), so both can be kept up to date
and a user costs the same time however large the batch is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from instances import CostTables
from instances.costs import Integers
from instances.kernels import cached_njit

from .batch import SAFE_PRODUCT, inner, part_of

#: Columns of `Exact.user`: added up in a batch ...
BASE, SLOPE, PAIRS, MEMORY, STEPS, COUNT, ADDED = 0, 1, 2, 3, 4, 5, 6
#: ... and of which the greatest counts (the deadline negated).
TOKENS, PREFILL, GROWTH, WIDER, LENGTH, UPLOAD, LATE, COLUMNS = 6, 7, 8, 9, 10, 11, 12, 13
#: No deadline.
FAR = 1 << 62


class Exact(NamedTuple):
    """The integers of tables; of those built *up*, what they accept is exactly feasible.

    Attributes
    ----------
    user : (K, 2, 13)
        A user's columns by mode (AD first), see the names; `COUNT` is 0 where the mode is closed.
    fixed, kv : (2,)
        Ticks spent once in a batch; bytes per input token.
    part : (nz,)
        Compute shares of `whole`.
    whole : int
    room : (nz,) bytes
        Both modes' common room.
    split : (2, nz, nl) bytes
        The room of each mode with a λ.
    """

    user: Integers
    fixed: Integers
    kv: Integers
    part: Integers
    whole: int
    room: Integers
    split: Integers


@inner
def exact_of(t: CostTables) -> Exact:
    """Return the tables' integers as `add` wants them."""
    user = np.zeros((len(t.deadline), 2, COLUMNS), np.int64)
    for k in range(len(t.deadline)):
        ad, sd = user[k, 0], user[k, 1]
        ad[COUNT], sd[COUNT] = t.ad_allowed[k], t.sd_allowed[k]
        ad[BASE], ad[SLOPE], ad[MEMORY] = t.ad_base[k], t.ad_slope[k], t.ad_memory[k]
        ad[PREFILL], ad[LENGTH] = t.ad_prefill[k], t.ad_step * t.output_tokens[k]
        sd[BASE], sd[SLOPE], sd[PAIRS] = t.sd_base[k], t.sd_slope[k], t.sd_pairs[k]
        sd[MEMORY], sd[STEPS], sd[PREFILL] = t.sd_memory[k], t.sd_steps[k], t.sd_prefill[k]
        sd[GROWTH], sd[WIDER] = t.sd_growth[k], t.sd_memory_growth[k]
        sd[LENGTH] = t.sd_step * t.iterations[k]
        for mode in range(2):
            user[k, mode, TOKENS], user[k, mode, UPLOAD] = t.input_tokens[k], t.upload[k]
            user[k, mode, LATE] = -t.deadline[k]
    fixed, kv = np.zeros(2, np.int64), np.zeros(2, np.int64)
    fixed[1], kv[0], kv[1] = t.sd_fixed, t.kv_ad, t.kv_sd
    split = np.empty((2, t.ad_room.shape[0], t.ad_room.shape[1]), np.int64)
    for i in range(t.ad_room.shape[0]):
        for j in range(t.ad_room.shape[1]):
            split[0, i, j], split[1, i, j] = t.ad_room[i, j], t.sd_room[i, j]
    return Exact(user, fixed, kv, t.z_numerator, t.z_denominator, t.room, split)


class Load(NamedTuple):
    """Two batches as they fill up.

    Attributes
    ----------
    total : (2, 13)
        Sums and maxima of the users' columns.
    bytes : (2,)
        Memory taken by each mode.
    trial : (13,)
        Scratch space.
    """

    total: Integers
    bytes: Integers
    trial: Integers


@inner
def new_load() -> Load:
    """Return two batches of nobody."""
    load = Load(
        np.zeros((2, COLUMNS), np.int64), np.zeros(2, np.int64), np.zeros(COLUMNS, np.int64)
    )
    clear(load)
    return load


@inner
def clear(load: Load) -> None:
    """Empty both batches."""
    for mode in range(2):
        for i in range(COLUMNS):
            load.total[mode, i] = 0
        load.total[mode, LATE] = -FAR
        load.bytes[mode] = 0


@inner
def add(e: Exact, z: int, lam: int, load: Load, k: int, mode: int) -> bool:
    """Let a user enter a batch if it then still meets every row; return whether it has.

    Parameters
    ----------
    e, load : Exact, Load
    z, lam : int
        Positions in the instance's grids; λ is -1 in P1.
    k, mode : int
        The user and the mode, 0 for AD and 1 for SD.
    """
    user, old, new = e.user[k, mode], load.total[mode], load.trial
    part = e.part[z] if mode == 0 else e.whole - e.part[z]
    if user[COUNT] == 0 or part == 0:
        return False
    for i in range(ADDED):
        new[i] = old[i] + user[i]
    for i in range(ADDED, COLUMNS):
        new[i] = max(old[i], user[i])
    time = new[BASE] + new[SLOPE] * new[TOKENS] + new[PAIRS] * new[GROWTH]
    time += new[COUNT] * new[PREFILL]
    budget = -new[LATE] - new[UPLOAD] - new[LENGTH] - e.fixed[mode]
    if budget < 0 or time > part_of(budget, part, e.whole):
        return False
    rough = float(e.kv[mode]) * new[COUNT] * new[TOKENS] + float(new[STEPS]) * new[WIDER]
    if rough > SAFE_PRODUCT:  # more bytes than any server has
        return False
    size = new[MEMORY] + e.kv[mode] * new[COUNT] * new[TOKENS] + new[STEPS] * new[WIDER]
    if lam < 0 and size > e.room[z] - load.bytes[1 - mode]:
        return False
    if lam >= 0 and size > e.split[mode, z, lam]:
        return False
    load.bytes[mode] = size
    for i in range(COLUMNS):
        old[i] = new[i]
    return True


@cached_njit()
def filled(
    tables: CostTables, modes: NDArray[np.int8], order: Integers, z: int, lam: int
) -> NDArray[np.int8]:
    """Return as much of a schedule as the tables accept, filled up with others.

    Parameters
    ----------
    tables : CostTables
        Built *up*, what comes back is exactly feasible.
    modes : (K,) int8
        Modes of a schedule (0: none, 1: AD, 2: SD) that may ask too much.
    order : (K,)
        The users in the order in which they may enter: first those with a mode, that mode only;
        then the others, AD before SD.
    z, lam : int
        Positions in the instance's grids; λ is -1 in P1.
    """
    e, load, found = exact_of(tables), new_load(), np.zeros(len(modes), np.int8)
    if e.room[z] < 0:
        return found
    for k in order:
        if modes[k] > 0 and add(e, z, lam, load, k, modes[k] - 1):
            found[k] = modes[k]
    for k in order:
        for mode in range(2):
            if found[k] == 0 and add(e, z, lam, load, k, mode):
                found[k] = mode + 1
    return found
