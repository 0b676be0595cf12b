"""`CostTables`: the integers that every algorithm and solver shares, for all z and λ at once.

With L1 (or L3, L4) known, a user's cost is separable (structure point 2 of the model):

- AD time  = ad_base[k] + ad_slope[k] * L1 + prefill(L1)
- SD time  = sd_base[k] + sd_slope[k] * L3 + sd_pairs[k] * growth(L4) + prefill(L3)
- AD bytes = ad_memory[k] + kv_ad * L1
- SD bytes = sd_memory[k] + kv_sd * L3 + sd_steps[k] * growth(L4)

all on the *whole* GPU: a share z = p/q multiplies the budget, so nothing is divided per z. The
maxima L1, L3, L4 are values of users, so prefill and growth are stored per user ("as if user j set
the maximum").
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import values
from .model import Instance
from .numbers import exact, ratio
from .pricing import AD, OWN, SD, Rounding, Row, Server

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: Exponent of the finest tick: 10^-12 s.
FINEST_TICK = -12
#: No sum of users' costs or bytes exceeds this.
LARGEST_SUM = 2**61

#: The columns of `CostTables`, as `_tables` lays them out.
COLUMNS = ("deadline", "upload", *Row._fields[OWN], "accept_rank")
COLUMNS += (*Row._fields[AD], *Row._fields[SD], "value")
#: What a row shows of a mode that the user may not enter.
NO_AD, NO_SD = (0,) * len(Row._fields[AD]), (0,) * len(Row._fields[SD])


class CostTables(NamedTuple):
    """Times in ticks and memory in bytes, int64; K users, nz compute and nl memory shares.

    Built *up* (costs rounded up, budgets down) whatever the tables accept is exactly feasible;
    built *down* they are a relaxation. Kernels take the tuple as it is (numba knows NamedTuples).

    Attributes
    ----------
    tick_exponent : int
        One tick is ``10 ** tick_exponent`` seconds.
    rounded_up : bool
        Which way the tables were built.
    ad_allowed, sd_allowed : (K,) bool
        Whether the tables accept the user in that mode alone, with the whole GPU and the most
        memory. The costs of a mode that is not allowed are meaningless (0).
    deadline, upload : (K,) ticks
        Remaining budget T' (may be negative) and upload time.
    input_tokens, output_tokens, iterations : (K,)
        L^I, L^O and N.
    accept_rank : (K,)
        Rank of the user's accepted drafts a_k among the distinct values, from 0.
    ad_base, ad_slope, ad_prefill : (K,) ticks
        AD time: constant, per token of L1, and the prefill at L1 = this user's input.
    sd_base, sd_slope, sd_prefill : (K,) ticks
        SD time: constant, per token of L3, and both prefills at L3 = this user's input.
    sd_pairs : (K,)
        N(N - 1)/2, the factor of `sd_growth`.
    sd_growth : (K,) ticks
        Time per pair at L4 = this user's a_k; ascends with `accept_rank`.
    ad_memory, sd_memory : (K,) bytes
        Constant part of the caches.
    sd_steps : (K,)
        N - 1, the factor of `sd_memory_growth`.
    sd_memory_growth : (K,) bytes
        Bytes per step at L4 = this user's a_k; ascends with `accept_rank`.
    kv_ad, kv_sd : int
        Bytes per token of L1 (κ^L) and of L3 (κ^L + κ^S).
    ad_step, sd_step, sd_fixed : int
        Ticks per unit of L2 (β^L), per unit of N1 (β^L + L^D β^S), and once per SD batch (β^L).
    z_numerator : (nz,)
        Compute shares z = z_numerator / z_denominator.
    z_denominator : int
    room : (nz,) bytes
        R(z); negative where not even the weights fit.
    ad_room, sd_room : (nz, nl) bytes
        λ R(z) and (1 - λ) R(z), for P2 and P3.
    value : (K,)
        What serving the user is worth, in units of the values' greatest common divisor: 1 unless
        they differ.
    """

    tick_exponent: int
    rounded_up: bool
    ad_allowed: Flags
    sd_allowed: Flags
    deadline: Integers
    upload: Integers
    input_tokens: Integers
    output_tokens: Integers
    iterations: Integers
    accept_rank: Integers
    ad_base: Integers
    ad_slope: Integers
    ad_prefill: Integers
    sd_base: Integers
    sd_slope: Integers
    sd_prefill: Integers
    sd_pairs: Integers
    sd_growth: Integers
    ad_memory: Integers
    sd_memory: Integers
    sd_steps: Integers
    sd_memory_growth: Integers
    kv_ad: int
    kv_sd: int
    ad_step: int
    sd_step: int
    sd_fixed: int
    z_numerator: Integers
    z_denominator: int
    room: Integers
    ad_room: Integers
    sd_room: Integers
    value: Integers

    @property
    def users(self) -> int:
        """Number of users K."""
        return len(self.deadline)

    @property
    def weighted(self) -> bool:
        """Whether values differ, so that counting users is not enough."""
        return bool((self.value != 1).any())

    def worth(self, modes: NDArray[np.int8]) -> int:
        """Return the summed value of the users whose mode is not 0."""
        return int(self.value[modes != 0].sum())


def build_tables(instance: Instance, rounded_up: bool = True) -> CostTables:
    """Return an instance's integer cost tables.

    Parameters
    ----------
    instance : Instance
    rounded_up : bool
        True: costs up, budgets down (whatever is accepted is exactly feasible). False: costs
        down, budgets up (a relaxation).

    Returns
    -------
    CostTables

    Raises
    ------
    ValueError
        If the instance leaves a choice of draft lengths.

    Notes
    -----
    Every number is exact before it is rounded once. A tick is 1 ps, coarser only where the sum of
    all users' costs could overflow int64. A user's AD time is off by less than 2 + L1 ticks, its SD
    time by less than 2 + L3 + N²/2 ticks: under 1 µs up to 1,400 iterations.
    """
    for exponent in itertools.count(FINEST_TICK):
        server = Server(instance, Rounding(exponent, rounded_up))
        rows = [server.row(user) for user in instance.users]
        ad = [server.allows_ad(row) for row in rows]
        sd = [server.allows_sd(row) for row in rows]
        heaviest, latest = _extent(instance, server, rows, ad, sd)
        longest = min(latest, max((row.deadline for row in rows), default=0))
        if max(heaviest, longest) <= LARGEST_SUM:
            return _tables(instance, server, rows, ad, sd, max(longest, 0) + 1)
    raise AssertionError("unreachable")


def _extent(
    instance: Instance, server: Server, rows: list[Row], ad: list[bool], sd: list[bool]
) -> tuple[int, int]:
    """Return the most whole-GPU ticks a batch can take, and a tick by which all have ended.

    A deadline later than the second never binds, whatever the share, so it may be cut back.
    """
    ad_rows = [row for row, allowed in zip(rows, ad, strict=True) if allowed]
    sd_rows = [row for row, allowed in zip(rows, sd, strict=True) if allowed]
    some = ad_rows + sd_rows
    if not some:
        return 0, 0
    longest = max(row.input_tokens for row in some)
    growth = max(row.sd_growth for row in some)
    heaviest = max(
        sum(row.ad_base + row.ad_slope * longest for row in ad_rows),
        sum(row.sd_base + row.sd_slope * longest + row.sd_pairs * growth for row in sd_rows),
    ) + len(rows) * max(row.sd_prefill for row in some)
    smallest_share = min(exact(instance.z_grid[1]), 1 - exact(instance.z_grid[-2]))
    latest = max(row.upload for row in some) + server.ad_step + math.ceil(heaviest / smallest_share)
    return heaviest, latest + server.sd_step * max(row.output_tokens for row in some)


def _tables(
    instance: Instance,
    server: Server,
    rows: list[Row],
    ad: list[bool],
    sd: list[bool],
    longest: int,
) -> CostTables:
    """Lay the rows out as columns; what no kernel may use is set to 0 or cut to `longest`."""
    rates = sorted({row.acceptance_rate for row in rows})  # accepted drafts ascend with the rate
    rank = {rate: position for position, rate in enumerate(rates)}
    worth = values.unit(instance)
    cells = [
        (
            min(longest, max(-1, row.deadline)),
            min(longest, row.upload),
            *tuple(row)[OWN],
            rank[row.acceptance_rate],
            *(tuple(row)[AD] if in_ad else NO_AD),
            *(tuple(row)[SD] if in_sd else NO_SD),
            user.value // worth,
        )
        for user, row, in_ad, in_sd in zip(instance.users, rows, ad, sd, strict=True)
    ]
    columns = np.array(cells, np.int64).reshape(len(rows), len(COLUMNS)).T.copy()
    z_grid = [ratio(z) for z in instance.z_grid]
    lambda_grid = [ratio(share) for share in instance.lambda_grid]
    denominator = math.lcm(*(of for _, of in z_grid))
    room = [server.both_room if part < of else server.most_room for part, of in z_grid]
    return CostTables(
        tick_exponent=server.rounding.exponent,
        rounded_up=server.rounding.up,
        ad_allowed=np.array(ad, np.bool_),
        sd_allowed=np.array(sd, np.bool_),
        kv_ad=min(server.llm.cache, max(server.most_room, 0) + 1),
        kv_sd=min(server.kv_sd, max(server.most_room, 0) + 1),
        ad_step=min(longest, server.ad_step),
        sd_step=min(longest, server.sd_step),
        sd_fixed=min(longest, server.ad_step),
        z_numerator=np.array([part * (denominator // of) for part, of in z_grid], np.int64),
        z_denominator=denominator,
        room=np.array([max(-1, r) for r in room], np.int64),
        ad_room=_shares(room, lambda_grid),
        sd_room=_shares(room, [(of - part, of) for part, of in lambda_grid]),
        **dict(zip(COLUMNS, columns, strict=True)),
    )


def _shares(room: Sequence[int], shares: Sequence[tuple[int, int]]) -> Integers:
    """Return ⌊share * room⌋ per room and share: bytes are whole, so flooring loses nothing."""
    parts = {r: [max(-1, p * r // q) for p, q in shares] for r in set(room)}
    return np.array([parts[r] for r in room], np.int64)
