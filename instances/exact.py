"""Latency and memory of a batch in rationals, straight from the paper's equations.

The judge and `certify` stand on this module alone: no table, no closed form, no float.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from .model import Instance, Transformer, User
from .numbers import exact, ratio
from .workload import (
    Length,
    decode_flops,
    kv_bytes_per_token,
    prefill_flops,
    verify_flops,
    weight_bytes,
)


def upload_time(instance: Instance, user: User) -> Fraction:
    """Seconds to send the prompt, γ L^I / (B R)."""
    return _transfer(
        instance.bits_per_token, user.input_tokens, user.uplink_hz, user.uplink_bps_per_hz
    )


def download_time(instance: Instance, user: User) -> Fraction:
    """Seconds to receive the answer, γ L^O / (B̄ R̄)."""
    return _transfer(
        instance.bits_per_token, user.output_tokens, user.downlink_hz, user.downlink_bps_per_hz
    )


def _transfer(bits_per_token: float, tokens: int, hertz: float, efficiency: float) -> Fraction:
    """Seconds to send tokens, γ L / (B R): one fraction, so one reduction to lowest terms."""
    (bits, per_bit), (width, of), (rate, per) = map(ratio, (bits_per_token, hertz, efficiency))
    return Fraction(bits * tokens * of * per, per_bit * width * rate)


def remaining_budget(instance: Instance, user: User) -> Fraction:
    """Seconds from the start until the answer must leave the server, T' = T - download."""
    return exact(user.deadline_s) - download_time(instance, user)


def accepted_drafts(user: User, draft_length: int) -> Fraction:
    """Expected drafts accepted per iteration, a = A + A² + ... + A^(L^D) (erratum E5)."""
    return _accepted(user.acceptance_rate, draft_length)


@lru_cache(maxsize=4096)
def _accepted(acceptance_rate: float, draft_length: int) -> Fraction:
    rate = exact(acceptance_rate)
    return sum((rate**power for power in range(1, draft_length + 1)), Fraction(0))


def sd_iterations(user: User, draft_length: int) -> int:
    """Draft-verify iterations to produce the answer, N = ⌈L^O / (a + 1)⌉."""
    return _iterations(user.output_tokens, user.acceptance_rate, draft_length)


@lru_cache(maxsize=4096)
def _iterations(output_tokens: int, acceptance_rate: float, draft_length: int) -> int:
    return math.ceil(output_tokens / (_accepted(acceptance_rate, draft_length) + 1))


def sd_prefix(iteration: int, longest_input: int, most_accepted: Length, unit: int = 1) -> Length:
    """Tokens retained before iteration n, eq. (10): L3, then L3 + (n - 2)(L4 + 1) + L4.

    L4 and the answer are in 1/unit tokens.
    """
    if iteration == 1:
        return 0 * most_accepted + unit * longest_input
    return unit * longest_input + (iteration - 2) * (most_accepted + unit) + most_accepted


@lru_cache(maxsize=16)  # a schedule is rechecked several times on its way to a report
def _decode_steps(model: Transformer, prefix: int, steps: int) -> tuple[int, ...]:
    """FLOP of the first 0, 1, ..., `steps` decode steps after a prefix."""
    flops = (decode_flops(model, prefix, step) for step in range(1, steps + 1))
    return tuple(accumulate(flops, initial=0))


@lru_cache(maxsize=16)
def _sd_steps(
    llm: Transformer,
    slm: Transformer,
    drafts: int,
    longest_input: int,
    most_accepted: Fraction,
    iterations: int,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """FLOP of both models over the first 0, 1, ..., `iterations` draft-verify iterations.

    In units of 1/d FLOP, d the denominator of L4, so that every number is whole.
    """
    unit = most_accepted.denominator
    verify, draft = [0], [0]
    for n in range(1, iterations + 1):
        prefix = sd_prefix(n, longest_input, most_accepted.numerator, unit)
        verified, drafted = (drafts, drafts - 1) if n == 1 else (drafts + 1, drafts)
        steps = range(1, drafted + 1)
        verify.append(verify[-1] + verify_flops(llm, prefix, verified, unit))
        draft.append(draft[-1] + sum(decode_flops(slm, prefix, step, unit) for step in steps))
    return tuple(verify), tuple(draft)


def ad_latency(
    instance: Instance, users: Sequence[User], z: float, tokens: int | None = None
) -> Fraction:
    """Seconds from the start until the AD batch is decoded, t_ad.

    ``max upload + L2 β^L + (α^L / z) Σ_k [Γ^p(L1) + Σ_{l=1}^{L_k^O - 1} Γ^a(L1, l)]``

    Parameters
    ----------
    instance : Instance
    users : sequence of User
        The AD users; must not be empty.
    z : float
        Compute share of the AD mode, > 0.
    tokens : int, optional
        Until each answer has that many of its tokens; 1 ends with the prefill. All without it.
    """
    hardware = instance.hardware
    longest_input = max(user.input_tokens for user in users)
    outputs = [user.output_tokens for user in users]
    decoded = _decode_steps(instance.llm, longest_input, max(outputs) - 1)
    if tokens is not None:
        outputs = [min(output, tokens) for output in outputs]
    prefill = prefill_flops(instance.llm, longest_input)
    flops = sum(prefill + decoded[output - 1] for output in outputs)
    return (
        max(upload_time(instance, user) for user in users)
        + max(outputs) * exact(hardware.beta_llm)
        + exact(hardware.alpha_llm) / exact(z) * flops
    )


def sd_latency(
    instance: Instance, users: Sequence[User], z: float, most_iterations: int | None = None
) -> Fraction:
    """Seconds from the start until the SD batch is decoded, t_sd.

    ``max upload + (N1 + 1) β^L + N1 L^D β^S + (work of all users) / (1 - z)``, where a user's
    work is both prefills and, for each of its N_k iterations, L^D drafts by the small model and
    one verification of L^D + 1 tokens by the large one (first iteration: one less of each).

    Parameters
    ----------
    instance : Instance
    users : sequence of User
        The SD users; must not be empty.
    z : float
        Compute share of the AD mode, < 1.
    most_iterations : int, optional
        Until each answer has had that many of its iterations; 0 ends with the prefills. All
        without it.
    """
    hardware, drafts = instance.hardware, instance.draft_length
    longest_input = max(user.input_tokens for user in users)
    most_accepted = max(accepted_drafts(user, drafts) for user in users)
    iterations = [sd_iterations(user, drafts) for user in users]
    verify, draft = _sd_steps(
        instance.llm, instance.slm, drafts, longest_input, most_accepted, max(iterations)
    )
    if most_iterations is not None:
        iterations = [min(count, most_iterations) for count in iterations]
    unit = most_accepted.denominator
    llm = len(users) * prefill_flops(instance.llm, longest_input) * unit
    slm = len(users) * prefill_flops(instance.slm, longest_input) * unit
    llm += sum(verify[n] for n in iterations)
    slm += sum(draft[n] for n in iterations)
    work = (exact(hardware.alpha_llm) * llm + exact(hardware.alpha_slm) * slm) / unit
    return (
        max(upload_time(instance, user) for user in users)
        + (max(iterations) + 1) * exact(hardware.beta_llm)
        + max(iterations) * drafts * exact(hardware.beta_slm)
        + work / (1 - exact(z))
    )


def ad_memory(instance: Instance, users: Sequence[User]) -> int:
    """Bytes of the AD batch's key-value cache, eq. (15): κ^L Σ_k (L1 + L_k^O)."""
    longest_input = max((user.input_tokens for user in users), default=0)
    tokens = sum(longest_input + user.output_tokens for user in users)
    return kv_bytes_per_token(instance.llm, instance.hardware.bytes_per_value) * tokens


def sd_memory(instance: Instance, users: Sequence[User]) -> Fraction:
    """Bytes of the SD batch's caches, eq. (16).

    ``Σ_k κ^S (P_{N_k} + L^D) + κ^L (P_{N_k} + L^D + 1)``
    """
    drafts, width = instance.draft_length, instance.hardware.bytes_per_value
    kv_llm = kv_bytes_per_token(instance.llm, width)
    kv_slm = kv_bytes_per_token(instance.slm, width)
    longest_input = max((user.input_tokens for user in users), default=0)
    most_accepted = max((accepted_drafts(user, drafts) for user in users), default=Fraction(0))
    accepted, unit = most_accepted.as_integer_ratio()
    total = 0  # in 1/unit bytes
    for user in users:
        prefix = sd_prefix(sd_iterations(user, drafts), longest_input, accepted, unit)
        cached = prefix + unit * drafts
        total += kv_slm * cached + kv_llm * (cached + unit)
    return Fraction(total, unit)


def room(instance: Instance, z: float) -> int:
    """Bytes left for caches beside the loaded weights, R(z) = Q - q^L - [z < 1] q^S."""
    width = instance.hardware.bytes_per_value
    left = instance.hardware.memory_bytes - weight_bytes(instance.llm, width)
    return left - weight_bytes(instance.slm, width) if z < 1 else left
