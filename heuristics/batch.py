"""`Batch`: the users of one mode, sorted for the search, and the limits they must meet.

AD and SD have one shape. A batch with the maxima L (input tokens) and A (accepted drafts; none
in AD) costs each of its users ``base + slope * L + pairs * growth(A) + prefill(L)`` ticks of the
whole GPU and ``memory + kv * L + steps * memory_growth(A)`` bytes, and must compute within
``deadline - upload - step * length``, where `length` is what grows with the user alone: output
tokens in AD, iterations in SD.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from instances.costs import Integers

#: The thresholds of a batch, as positions in arrays of bounds.
INPUT, ACCEPT, DEADLINE, UPLOAD = 0, 1, 2, 3
#: Products below this cannot overflow int64.
SAFE_PRODUCT = 4e18


class Batch(NamedTuple):
    """The n users that one mode may serve, sorted by (length, position in the instance).

    Attributes
    ----------
    user : (n,)
        Position in the instance.
    length, base, slope, pairs, memory, steps : (n,)
        The user's share of the batch's costs (see the module).
    input_rank, accept_rank, deadline_rank, upload_rank : (n,)
        Position of the user's value in the arrays of distinct values below.
    inputs, prefill : (levels,)
        Distinct input lengths, ascending, and the ticks of one prefill padded to each.
    growth, memory_growth : (levels,)
        Ticks per pair and bytes per step at each distinct number of accepted drafts.
    deadlines, uploads : (levels,)
        Distinct remaining budgets (less what a batch spends once) and upload times, ticks.
    kv, step : int
        Bytes per input token; ticks per unit of the greatest length.
    padded : bool
        Every user is charged the memory of the longest in the batch (eq. 27).
    largest : float
        No time compared in the search exceeds this many ticks.
    """

    user: Integers
    length: Integers
    base: Integers
    slope: Integers
    pairs: Integers
    memory: Integers
    steps: Integers
    input_rank: Integers
    accept_rank: Integers
    deadline_rank: Integers
    upload_rank: Integers
    inputs: Integers
    prefill: Integers
    growth: Integers
    memory_growth: Integers
    deadlines: Integers
    uploads: Integers
    kv: int
    step: int
    padded: bool
    largest: float


class Limits(NamedTuple):
    """What a batch may use: ``whole * time <= share * budget`` and ``bytes <= room``."""

    share: int
    whole: int
    room: int
    narrow: bool  # the products of the time row cannot overflow


@njit(cache=True)
def limits(batch: Batch, share: int, whole: int, room: int) -> Limits:
    """Return the limits at a compute share of ``share / whole`` and `room` bytes."""
    return Limits(share, whole, room, batch.largest * whole < SAFE_PRODUCT)


@njit(cache=True)
def in_time(limit: Limits, time: int, budget: int) -> bool:
    """Return whether ``whole * time <= share * budget``, without overflow."""
    if limit.narrow:
        return bool(limit.whole * time <= limit.share * budget)
    if budget < 0:
        return False
    quotient, rest = budget // limit.whole, budget % limit.whole
    return bool(time <= quotient * limit.share + rest * limit.share // limit.whole)


@njit(cache=True)
def ranked(values: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the distinct values (ascending), each entry's rank, and one entry of each rank."""
    count = len(values)
    order = np.argsort(values, kind="mergesort")
    distinct, ranks, holder = np.empty_like(values), np.empty_like(values), np.empty_like(values)
    levels = 0
    for position in order:
        if levels == 0 or distinct[levels - 1] != values[position]:
            distinct[levels] = values[position]
            holder[levels] = position
            levels += 1
        ranks[position] = levels - 1
    assert levels <= count
    return distinct[:levels].copy(), ranks, holder[:levels].copy()


@njit(cache=True)
def _surviving(ranks: Integers, levels: int) -> tuple[Integers, Integers]:
    """Return the levels that still have a user, and the users' ranks among these."""
    present = np.zeros(levels, np.bool_)
    for rank in ranks:
        present[rank] = True
    kept = np.flatnonzero(present).astype(np.int64)
    new_rank = np.cumsum(present) - 1
    return kept, new_rank[ranks]


@njit(cache=True)
def without(batch: Batch, taken: NDArray[np.bool_]) -> Batch:
    """Return the batch without the users whose position in the instance is marked."""
    keep = np.flatnonzero(~taken[batch.user])
    inputs, input_rank = _surviving(batch.input_rank[keep], len(batch.inputs))
    accepts, accept_rank = _surviving(batch.accept_rank[keep], len(batch.growth))
    deadlines, deadline_rank = _surviving(batch.deadline_rank[keep], len(batch.deadlines))
    uploads, upload_rank = _surviving(batch.upload_rank[keep], len(batch.uploads))
    return Batch(
        batch.user[keep],
        batch.length[keep],
        batch.base[keep],
        batch.slope[keep],
        batch.pairs[keep],
        batch.memory[keep],
        batch.steps[keep],
        input_rank,
        accept_rank,
        deadline_rank,
        upload_rank,
        batch.inputs[inputs],
        batch.prefill[inputs],
        batch.growth[accepts],
        batch.memory_growth[accepts],
        batch.deadlines[deadlines],
        batch.uploads[uploads],
        batch.kv,
        batch.step,
        batch.padded,
        batch.largest,
    )


@njit(cache=True)
def largest_time(
    base: Integers,
    slope: Integers,
    pairs: Integers,
    inputs: Integers,
    prefill: Integers,
    growth: Integers,
    deadlines: Integers,
) -> float:
    """Return a bound on any time in the search: all deadlines, plus one user at the worst maxima.

    A prefix is cut at the first user that does not fit, so sums stay below the last that did (a
    deadline at most) plus one user's cost.
    """
    if len(base) == 0:
        return 0.0
    worst = float(base.max()) + float(slope.max()) * float(inputs.max())
    worst += float(prefill.max()) + float(pairs.max()) * float(growth.max())
    return worst + float(np.abs(deadlines).max())
