"""Theorem 2: what Algorithms 1 and 2 do, counted while they do it, literally as printed.

Nothing is left out or sorted beforehand: every tuple, the value 0 included, goes through all users,
prices the candidates, sorts them and adds them up. Counted are the tuples, comparisons with a
threshold (a user is dropped at the first it misses), users priced (eqs. (26), (27), (30) and (31);
the cost tables make each one step), comparisons of the sort (merge sort, as log K asks for) and, in
(28) and (32), additions and comparisons.

The paper claims O(K^5 log K) and O(K^6 log K). The instances are the worst: all users differ in
every threshold, so that there are (K + 1)^4 and (K + 1)^5 tuples; the one with the longer input has
the longer output, more accepted drafts, the longer upload and the earlier deadline, so that tuples
admit many; and everyone fits, so that no sum is cut short. If the count divided by the claimed
function does not grow with K, the claim holds there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from instances import CostTables, Hardware, Instance, Transformer, User, build_tables
from instances.costs import Integers
from instances.kernels import cached_njit

#: Numbers of users at which operations are counted.
SIZES = (4, 6, 8, 12, 16, 20)
#: Exponents of K in the claimed bounds of Algorithms 1 and 2.
EXPONENTS = (5, 6)


@dataclass(frozen=True)
class Count:
    """Operations at one number of users.

    Parameters
    ----------
    users : int
    operations : (int, int)
        Of Algorithms 1 and 2.
    served : (int, int)
        The users they serve.
    """

    users: int
    operations: tuple[int, int]
    served: tuple[int, int]

    @property
    def ratios(self) -> tuple[float, float]:
        """Operations divided by K^5 log2 K and K^6 log2 K."""
        first, second = (
            count / (self.users**power * math.log2(self.users))
            for count, power in zip(self.operations, EXPONENTS, strict=True)
        )
        return first, second

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"users": self.users, "operations": self.operations, "ratios": self.ratios}


def count_operations(users: int) -> Count:
    """Return what both algorithms do on the worst instance, at z = 1/2 and all memory theirs."""
    tables = build_tables(worst_instance(users))
    counts = [
        enumerate_tuples(mode, 1, 2, int(tables.room[1]))
        for mode in (ad_mode(tables), sd_mode(tables))
    ]
    (first, ad), (second, sd) = counts
    return Count(users, (int(first), int(second)), (int(ad), int(sd)))


def grows(counts: Sequence[Count]) -> tuple[bool, bool]:
    """Return for each algorithm whether its ratio ever rises from one size to the next."""
    first, second = zip(*(count.ratios for count in counts), strict=True)
    return _rises(first), _rises(second)


def _rises(ratios: Sequence[float]) -> bool:
    return any(later > earlier for earlier, later in itertools.pairwise(ratios))


def worst_instance(users: int) -> Instance:
    """Return an instance whose users differ in all thresholds and can all be served in any mode."""
    drawn = tuple(
        User(
            id=f"u{k}",
            input_tokens=k,
            output_tokens=100 * k,
            deadline_s=0.11 * users - 0.005 * k,
            acceptance_rate=0.5 + 0.4 * k / users,
            uplink_hz=1.0,
            uplink_bps_per_hz=1000.0 + users - k,
            downlink_hz=1.0,
            downlink_bps_per_hz=1e9,
        )
        for k in range(1, users + 1)
    )
    shape = Transformer(layers=1, hidden_size=1, num_heads=1, head_dim=1, intermediate_size=1)
    server = Hardware(
        memory_bytes=2**40,
        bytes_per_value=2,
        alpha_llm=1e-12,
        beta_llm=1e-3,
        alpha_slm=1e-12,
        beta_slm=1e-4,
    )
    return Instance(
        llm=shape,
        slm=shape,
        hardware=server,
        draft_length=1,
        bits_per_token=1.0,
        z_grid=(0.0, 0.5, 1.0),
        lambda_grid=(0.0, 1.0),
        users=drawn,
    )


class Prices(NamedTuple):
    """What users cost in one mode, as in `CostTables`; (K,) each.

    Attributes
    ----------
    base, slope, pairs, memory, steps
        A user's own ticks and bytes.
    prefill, growth, memory_growth
        What the holder of an input length or of a number of accepted drafts sets for all.
    """

    base: Integers
    slope: Integers
    pairs: Integers
    memory: Integers
    steps: Integers
    prefill: Integers
    growth: Integers
    memory_growth: Integers


class Mode(NamedTuple):
    """One mode's users and prices, as its algorithm enumerates them.

    Users who fit the mode not even alone have no prices and are left out (the worst instance has
    none).

    Attributes
    ----------
    own : (T, K)
        Each user's values of the thresholds in the order of the printed loops, deadlines negated,
        so that a user is a candidate if none exceeds the tuple's. Input, most accepted (SD only),
        length (L2 or N1), deadline and upload are rows 0, -4, -3, -2 and -1.
    prices : Prices
    kv, step, fixed : int
        Bytes per input token, ticks per unit of length, and once a batch.
    padded : bool
        Charge everyone L1 + L2, eq. (27).
    """

    own: Integers
    prices: Prices
    kv: int
    step: int
    fixed: int
    padded: bool


def ad_mode(tables: CostTables) -> Mode:
    """Return AD with the memory that Algorithm 1 prints, eq. (27)."""
    t, users = tables, np.flatnonzero(tables.ad_allowed)
    own = np.array([t.input_tokens, t.output_tokens, -t.deadline, t.upload])[:, users]
    base, slope, none = t.ad_base[users], t.ad_slope[users], np.zeros_like(users)
    memory, prefill = t.ad_memory[users], t.ad_prefill[users]
    prices = Prices(base, slope, none, memory, none, prefill, none, none)
    return Mode(own, prices, t.kv_ad, t.ad_step, 0, True)


def sd_mode(tables: CostTables) -> Mode:
    """Return SD with the memory that Algorithm 2 prints, eq. (31): one token less at N = 1."""
    t, users = tables, np.flatnonzero(tables.sd_allowed)
    own = np.array([t.input_tokens, t.accept_rank + 1, t.iterations, -t.deadline, t.upload])
    memory = t.sd_memory - np.where(t.iterations == 1, t.kv_ad, 0)
    prices = Prices(
        t.sd_base[users],
        t.sd_slope[users],
        t.sd_pairs[users],
        memory[users],
        t.sd_steps[users],
        t.sd_prefill[users],
        t.sd_growth[users],
        t.sd_memory_growth[users],
    )
    return Mode(own[:, users], prices, t.kv_sd, t.sd_step, t.sd_fixed, False)


@cached_njit()
def enumerate_tuples(mode: Mode, share: int, whole: int, room: int) -> tuple[int, int]:
    """Return the operations of Algorithm 1 or 2 at one point, and the users it serves.

    Parameters
    ----------
    mode : Mode
    share, whole : int
        The mode's compute share is share / whole.
    room : int
        Its bytes.
    """
    if share == 0:
        return 0, 0
    loops, users = mode.own.shape
    levels, sizes = np.zeros((loops, users + 1), np.int64), np.empty(loops, np.int64)
    for loop in range(loops):
        values = np.unique(np.append(mode.own[loop], 0))
        sizes[loop] = len(values)
        levels[loop, : len(values)] = values
    order, seconds = np.empty(users, np.int64), np.empty(users, np.int64)
    limit, at, best = np.empty(loops, np.int64), np.zeros(loops, np.int64), 0
    work = np.zeros(1, np.int64)
    while at[0] < sizes[0]:
        for loop in range(loops):
            limit[loop] = levels[loop, at[loop]]
        best = max(best, _serve(mode, limit, share, whole, room, order, seconds, work))
        loop = loops - 1
        at[loop] += 1
        while loop > 0 and at[loop] == sizes[loop]:
            at[loop] = 0
            loop -= 1
            at[loop] += 1
    return work[0], best


@cached_njit()
def _serve(
    mode: Mode,
    limit: Integers,
    share: int,
    whole: int,
    room: int,
    order: Integers,
    seconds: Integers,
    work: Integers,
) -> int:
    """Return d* of (28) or (32) for one tuple; add to `work` what it takes."""
    loops, users = mode.own.shape
    work[0] += 1
    length, holder, keenest = 0, 0, 0
    for k in range(users):
        admitted = True
        for loop in range(loops):
            work[0] += 1
            if mode.own[loop, k] > limit[loop]:
                admitted = False
                break
        if admitted:
            order[length] = k
            length += 1
    for k in range(users):  # look-ups of Γ at the tuple's L1 (L3) and L4: not the paper's work
        if mode.own[0, k] == limit[0]:
            holder = k
        if loops == 5 and mode.own[1, k] == limit[1]:
            keenest = k
    prices = mode.prices
    for position in range(length):
        k = order[position]
        work[0] += 1
        seconds[k] = prices.base[k] + prices.slope[k] * limit[0] + prices.prefill[holder]
        seconds[k] += prices.pairs[k] * prices.growth[keenest]
    work[0] += _merge_sort(seconds, order, length)
    budget = -limit[-2] - limit[-1] - mode.fixed - limit[-3] * mode.step
    time = memory = 0
    for d in range(length):
        k = order[d]
        time += seconds[k]
        memory += mode.kv * limit[0]
        if mode.padded:
            memory += mode.kv * limit[1]
        else:
            memory += prices.memory[k] + prices.steps[k] * prices.memory_growth[keenest]
        work[0] += 4
        if whole * time > share * budget or memory > room:
            return d
    return length


@cached_njit()
def _merge_sort(keys: Integers, order: Integers, length: int) -> int:
    """Sort the first entries of `order` by their keys; return the comparisons."""
    comparisons, width = 0, 1
    other = np.empty(length, np.int64)
    while width < length:
        for start in range(0, length, 2 * width):
            left, middle = start, min(start + width, length)
            right, end = middle, min(start + 2 * width, length)
            for target in range(start, end):
                if left < middle and right < end:
                    comparisons += 1
                    take_left = keys[order[left]] <= keys[order[right]]
                else:
                    take_left = left < middle
                if take_left:
                    other[target] = order[left]
                    left += 1
                else:
                    other[target] = order[right]
                    right += 1
        order[:length] = other
        width *= 2
    return comparisons
