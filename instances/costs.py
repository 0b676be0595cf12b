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

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .model import Instance, Transformer, User
from .numbers import exact

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: Exponent of the finest tick: 10^-12 s.
FINEST_TICK = -12
#: No sum of users' costs or bytes exceeds this.
LARGEST_SUM = 2**61


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
        Whether the user fits the mode alone, with the whole GPU and the most memory. The costs of
        a mode that is not allowed are meaningless (0).
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

    @property
    def users(self) -> int:
        """Number of users K."""
        return len(self.deadline)


@dataclass(frozen=True)
class _Law:
    """FLOP and bytes of one model as polynomials in the lengths (per layer sums taken out)."""

    token: int  # FLOP per token that does not depend on the context: M(8 D^m D + 4 D^m D^f)
    context: int  # FLOP per token of context: 4 M D
    cache: int  # bytes per cached token, κ
    weights: int  # bytes of the weights, q

    @classmethod
    def of(cls, model: Transformer, bytes_per_value: int) -> _Law:
        query = model.num_heads * model.head_dim
        keys = (model.kv_heads or model.num_heads) * model.head_dim
        matrices = model.hidden_size * (2 * query + 2 * keys + 2 * model.intermediate_size)
        return cls(
            token=2 * model.layers * matrices,
            context=4 * model.layers * query,
            cache=2 * model.layers * bytes_per_value * keys,
            weights=model.layers * bytes_per_value * matrices,
        )

    def prefill(self, tokens: int) -> int:
        return self.token * tokens + self.context * tokens * tokens


class _Draft(NamedTuple):
    """One user's costs as exact numbers, before rounding: seconds, bytes, counts."""

    deadline: Fraction
    upload: Fraction
    iterations: int
    accepted: Fraction
    ad_base: Fraction
    ad_slope: Fraction
    ad_prefill: Fraction
    sd_base: Fraction
    sd_slope: Fraction
    sd_prefill: Fraction
    sd_growth: Fraction


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _draft(instance: Instance, user: User, llm: _Law, slm: _Law) -> _Draft:
    """One user's exact costs.

    Iteration n >= 2 starts from the prefix L3 + (n - 1)(L4 + 1) - 1, verifies v = L^D + 1 tokens
    and drafts d = L^D; the first verifies and drafts one less from prefix L3. Summing
    4 D Σ_{l=1..v}(P_n + l) over n gives the terms in L3 (tokens), in L4 (pairs) and the rest.
    """
    hardware, drafts = instance.hardware, instance.draft_length
    alpha_llm, alpha_slm = exact(hardware.alpha_llm), exact(hardware.alpha_slm)
    bits = exact(instance.bits_per_token)
    up = bits * user.input_tokens / exact(user.uplink_hz) / exact(user.uplink_bps_per_hz)
    down = bits * user.output_tokens / exact(user.downlink_hz) / exact(user.downlink_bps_per_hz)
    rate, accepted = exact(user.acceptance_rate), Fraction(0)
    for _ in range(drafts):  # Horner's scheme for A + A² + ... + A^(L^D)
        accepted = rate * (accepted + 1)
    count = -(-user.output_tokens // (accepted + 1))
    steps = user.output_tokens - 1
    later, pairs = count - 1, _pairs(count)

    def work(law: _Law, each: int) -> tuple[int, int, int]:
        """FLOP of `each` tokens an iteration (one less in the first): base, per L3, per L4 pair."""
        tokens = each - 1 + later * each
        positions = _pairs(each) + later * _pairs(each + 1) + (pairs - later) * each
        return (
            law.token * tokens + law.context * positions,
            law.context * tokens,
            law.context * each,
        )

    verify, draft = work(llm, drafts + 1), work(slm, drafts)
    base, slope, growth = (
        alpha_llm * v + alpha_slm * d for v, d in zip(verify, draft, strict=True)
    )
    prefill = alpha_llm * llm.prefill(user.input_tokens)
    return _Draft(
        deadline=exact(user.deadline_s) - down,
        upload=up,
        iterations=count,
        accepted=accepted,
        ad_base=alpha_llm * (steps * llm.token + _pairs(steps + 1) * llm.context),
        ad_slope=alpha_llm * steps * llm.context,
        ad_prefill=prefill,
        sd_base=base,
        sd_slope=slope,
        sd_prefill=prefill + alpha_slm * slm.prefill(user.input_tokens),
        sd_growth=growth * accepted,
    )


def _total(users: Sequence[User], drafts: Sequence[_Draft], allowed: Sequence[bool]) -> Fraction:
    """Whole-GPU seconds of all users allowed in a mode, in whichever mode takes longer."""
    pairs = [(u, d) for u, d, ok in zip(users, drafts, allowed, strict=True) if ok]
    if not pairs:
        return Fraction(0)
    longest = max(u.input_tokens for u, _ in pairs)
    prefill: Fraction = max(d.sd_prefill for _, d in pairs)
    growth: Fraction = max(d.sd_growth for _, d in pairs)
    ad = [d.ad_base + d.ad_slope * longest for _, d in pairs]
    sd = [d.sd_base + d.sd_slope * longest + _pairs(d.iterations) * growth for _, d in pairs]
    return max(sum(ad, Fraction(0)), sum(sd, Fraction(0))) + len(pairs) * prefill


def _tick_exponent(seconds: Fraction) -> int:
    """Return the finest power of ten, from 1 ps up, at which `seconds` fit an int64 sum."""
    exponent = FINEST_TICK
    while seconds / Fraction(10) ** exponent > LARGEST_SUM:
        exponent += 1
    return exponent


def _shares(room: Sequence[int], shares: Sequence[Fraction]) -> Integers:
    """Return ⌊share * room⌋ per room and share: bytes are whole, so flooring loses nothing."""
    return np.array([[max(-1, math.floor(s * r)) for s in shares] for r in room], np.int64)


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

    Notes
    -----
    Every number is exact before it is rounded once. A tick is 1 ps, coarser only where the sum of
    all users' costs could overflow int64. A user's AD time is off by less than 2 + L1 ticks, its SD
    time by less than 2 + L3 + N²/2 ticks: under 1 µs up to 1,400 iterations.
    """
    hardware, width = instance.hardware, instance.hardware.bytes_per_value
    llm, slm = _Law.of(instance.llm, width), _Law.of(instance.slm, width)
    drafts = [_draft(instance, user, llm, slm) for user in instance.users]
    beta = exact(hardware.beta_llm)
    sd_step = beta + instance.draft_length * exact(hardware.beta_slm)
    most_room = hardware.memory_bytes - llm.weights
    both_room = most_room - slm.weights
    kv_ad, kv_sd = llm.cache, llm.cache + slm.cache
    ad_memory = [llm.cache * user.output_tokens for user in instance.users]
    sd_memory = [
        kv_sd * (instance.draft_length + max(0, d.iterations - 2)) + llm.cache for d in drafts
    ]

    def fits_ad(user: User, d: _Draft, memory: int) -> bool:
        time = d.ad_base + d.ad_slope * user.input_tokens + d.ad_prefill
        left = d.deadline - d.upload - beta * user.output_tokens
        return time <= left and memory + kv_ad * user.input_tokens <= most_room

    def fits_sd(user: User, d: _Draft, memory: int) -> bool:
        time = d.sd_base + d.sd_slope * user.input_tokens + d.sd_prefill
        time += _pairs(d.iterations) * d.sd_growth
        left = d.deadline - d.upload - beta - sd_step * d.iterations
        bytes_ = memory + kv_sd * (user.input_tokens + (d.iterations - 1) * d.accepted)
        return time <= left and bytes_ <= both_room

    ad = [fits_ad(u, d, m) for u, d, m in zip(instance.users, drafts, ad_memory, strict=True)]
    sd = [fits_sd(u, d, m) for u, d, m in zip(instance.users, drafts, sd_memory, strict=True)]
    heaviest = max(_total(instance.users, drafts, ad), _total(instance.users, drafts, sd))
    z_grid = [exact(z) for z in instance.z_grid]
    # No batch ends later than this, whatever its share: a later deadline can be cut back to it.
    longest_output = max((user.output_tokens for user in instance.users), default=0)
    uploads = [d.upload for d, a, s in zip(drafts, ad, sd, strict=True) if a or s]
    latest = max(uploads, default=Fraction(0))
    latest += beta + sd_step * longest_output + heaviest / min(z_grid[1], 1 - z_grid[-2])
    horizon = min(latest, max((d.deadline for d in drafts), default=Fraction(0)))
    exponent = _tick_exponent(max(heaviest, horizon))
    per_tick = Fraction(10) ** -exponent
    up, down = (math.ceil, math.floor) if rounded_up else (math.floor, math.ceil)
    longest = math.ceil(max(horizon, 0) * per_tick) + 1

    def cost(value: Fraction) -> int:
        return up(value * per_tick)

    def column(values: Iterable[int]) -> Integers:
        return np.fromiter(values, np.int64, len(drafts))

    def where(allowed: list[bool], values: Iterable[int]) -> Integers:
        return column(v if ok else 0 for ok, v in zip(allowed, values, strict=True))

    ranks = {a: rank for rank, a in enumerate(sorted({d.accepted for d in drafts}))}
    lambda_grid = [exact(share) for share in instance.lambda_grid]
    denominator = math.lcm(*(z.denominator for z in z_grid))
    room = [both_room if z < 1 else most_room for z in z_grid]
    return CostTables(
        tick_exponent=exponent,
        rounded_up=rounded_up,
        ad_allowed=np.array(ad, np.bool_),
        sd_allowed=np.array(sd, np.bool_),
        # A user in no mode is out of reach of every kernel; clipping keeps its times in int64.
        deadline=column(min(longest, max(-1, down(d.deadline * per_tick))) for d in drafts),
        upload=column(min(longest, cost(d.upload)) for d in drafts),
        input_tokens=column(user.input_tokens for user in instance.users),
        output_tokens=column(user.output_tokens for user in instance.users),
        iterations=column(d.iterations for d in drafts),
        accept_rank=column(ranks[d.accepted] for d in drafts),
        ad_base=where(ad, (cost(d.ad_base) for d in drafts)),
        ad_slope=where(ad, (cost(d.ad_slope) for d in drafts)),
        ad_prefill=where(ad, (cost(d.ad_prefill) for d in drafts)),
        sd_base=where(sd, (cost(d.sd_base) for d in drafts)),
        sd_slope=where(sd, (cost(d.sd_slope) for d in drafts)),
        sd_prefill=where(sd, (cost(d.sd_prefill) for d in drafts)),
        sd_pairs=where(sd, (_pairs(d.iterations) for d in drafts)),
        sd_growth=where(sd, (cost(d.sd_growth) for d in drafts)),
        ad_memory=where(ad, ad_memory),
        sd_memory=where(sd, sd_memory),
        sd_steps=where(sd, (d.iterations - 1 for d in drafts)),
        sd_memory_growth=where(sd, (up(kv_sd * d.accepted) for d in drafts)),
        kv_ad=min(kv_ad, max(most_room, 0) + 1),
        kv_sd=min(kv_sd, max(most_room, 0) + 1),
        ad_step=min(longest, cost(beta)),
        sd_step=min(longest, cost(sd_step)),
        sd_fixed=min(longest, cost(beta)),
        z_numerator=np.array([int(z * denominator) for z in z_grid], np.int64),
        z_denominator=denominator,
        room=np.array([max(-1, r) for r in room], np.int64),
        ad_room=_shares(room, lambda_grid),
        sd_room=_shares(room, [1 - share for share in lambda_grid]),
    )
