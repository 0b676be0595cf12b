"""The price of one user in both modes: exact numbers, each rounded once to whole ticks or bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from .model import Instance, Transformer, User
from .numbers import exact, ratio


@dataclass(frozen=True)
class Law:
    """FLOP and bytes of one model as polynomials in the lengths (per layer sums taken out)."""

    token: int  # FLOP per token that does not depend on the context: M(8 D^m D + 4 D^m D^f)
    context: int  # FLOP per token of context: 4 M D
    cache: int  # bytes per cached token, κ
    weights: int  # bytes of the weights, q

    @classmethod
    def of(cls, model: Transformer, bytes_per_value: int) -> Law:
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


@dataclass(frozen=True)
class Rounding:
    """Rationals numerator/denominator to whole ticks (or bytes), in one direction."""

    exponent: int
    up: bool
    #: A second is ``times / over`` ticks.
    times: int = field(init=False)
    over: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", 10 ** max(0, -self.exponent))
        object.__setattr__(self, "over", 10 ** max(0, self.exponent))

    def cost(self, numerator: int, denominator: int) -> int:
        """Seconds to ticks, away from what is cheap when `up`."""
        if self.up:
            return -(-numerator * self.times // (denominator * self.over))
        return numerator * self.times // (denominator * self.over)

    def budget(self, numerator: int, denominator: int) -> int:
        """Seconds to ticks, the other way."""
        if self.up:
            return numerator * self.times // (denominator * self.over)
        return -(-numerator * self.times // (denominator * self.over))


class Row(NamedTuple):
    """One user's integers, of any size (the columns of `CostTables`), and its acceptance rate."""

    acceptance_rate: float
    deadline: int
    upload: int
    input_tokens: int
    output_tokens: int
    iterations: int
    ad_base: int
    ad_slope: int
    ad_prefill: int
    ad_memory: int
    sd_base: int
    sd_slope: int
    sd_prefill: int
    sd_pairs: int
    sd_growth: int
    sd_memory: int
    sd_steps: int
    sd_memory_growth: int


#: Where a row's numbers for each mode are.
OWN, AD, SD = slice(3, 6), slice(6, 10), slice(10, 18)


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


class Server:
    """What an instance's users share, ready to price them one by one.

    Raises
    ------
    ValueError
        If the instance leaves a choice of draft lengths: prices are for one.
    """

    def __init__(self, instance: Instance, rounding: Rounding) -> None:
        if instance.draft_lengths is not None:
            raise ValueError(
                f"the instance leaves a choice of draft lengths {list(instance.draft_lengths)}; "
                "fix one with instances.drafts.at(instance, length), or use the solve functions"
            )
        hardware, width = instance.hardware, instance.hardware.bytes_per_value
        self.rounding, self.drafts = rounding, instance.draft_length
        self.llm, self.slm = Law.of(instance.llm, width), Law.of(instance.slm, width)
        self.kv_sd = self.llm.cache + self.slm.cache
        self.most_room = hardware.memory_bytes - self.llm.weights
        self.both_room = self.most_room - self.slm.weights
        self.bits = ratio(instance.bits_per_token)
        alpha_llm, alpha_slm = exact(hardware.alpha_llm), exact(hardware.alpha_slm)
        self.per_second = math.lcm(alpha_llm.denominator, alpha_slm.denominator)
        self.llm_weight = int(alpha_llm * self.per_second)  # α^L = llm_weight / per_second
        self.slm_weight = int(alpha_slm * self.per_second)
        beta_llm = exact(hardware.beta_llm)
        self.ad_step = rounding.cost(*beta_llm.as_integer_ratio())
        sd_step = beta_llm + self.drafts * exact(hardware.beta_slm)
        self.sd_step = rounding.cost(*sd_step.as_integer_ratio())

    def row(self, user: User) -> Row:
        """Price one user: every number exact, rounded once.

        Fractions are pairs of integers, not always in lowest terms: that would take most of the
        time, and changes no rounded number.
        """
        cost, llm, slm = self.rounding.cost, self.llm, self.slm
        upload = self._transfer(user.input_tokens, user.uplink_hz, user.uplink_bps_per_hz)
        down, per = self._transfer(user.output_tokens, user.downlink_hz, user.downlink_bps_per_hz)
        deadline, seconds = ratio(user.deadline_s)
        accepted, unit = self.accepted(user.acceptance_rate)
        count = -(-user.output_tokens * unit // (accepted + unit))
        steps = user.output_tokens - 1
        verify = _iterations(llm, count, self.drafts + 1)
        draft = _iterations(slm, count, self.drafts)
        base, slope, growth = (
            self.llm_weight * v + self.slm_weight * d for v, d in zip(verify, draft, strict=True)
        )
        prefill = self.llm_weight * llm.prefill(user.input_tokens)
        both = prefill + self.slm_weight * slm.prefill(user.input_tokens)
        decode = self.llm_weight * (steps * llm.token + _pairs(steps + 1) * llm.context)
        memory_growth = self.kv_sd * accepted
        if self.rounding.up:
            memory_growth += unit - 1
        return Row(
            acceptance_rate=user.acceptance_rate,
            deadline=self.rounding.budget(deadline * per - down * seconds, per * seconds),
            upload=cost(*upload),
            input_tokens=user.input_tokens,
            output_tokens=user.output_tokens,
            iterations=count,
            ad_base=cost(decode, self.per_second),
            ad_slope=cost(self.llm_weight * steps * llm.context, self.per_second),
            ad_prefill=cost(prefill, self.per_second),
            ad_memory=llm.cache * user.output_tokens,
            sd_base=cost(base, self.per_second),
            sd_slope=cost(slope, self.per_second),
            sd_prefill=cost(both, self.per_second),
            sd_pairs=_pairs(count),
            sd_growth=cost(growth * accepted, self.per_second * unit),
            sd_memory=self.kv_sd * (self.drafts + max(0, count - 2)) + llm.cache,
            sd_steps=count - 1,
            sd_memory_growth=memory_growth // unit,
        )

    def _transfer(self, tokens: int, hertz: float, efficiency: float) -> tuple[int, int]:
        """Return the seconds that tokens take over a link, γ L / (B R), as a fraction."""
        (bits, per_bit), (width, of), (each, per) = self.bits, ratio(hertz), ratio(efficiency)
        return bits * tokens * of * per, per_bit * width * each

    def accepted(self, acceptance_rate: float) -> tuple[int, int]:
        """Return a = A + A² + ... + A^(L^D), by Horner's scheme, as a fraction."""
        rate, unit = ratio(acceptance_rate)
        accepted, denominator = rate, unit
        for _ in range(self.drafts - 1):
            accepted, denominator = rate * (accepted + denominator), denominator * unit
        return accepted, denominator

    def allows_ad(self, row: Row) -> bool:
        """Whether the user fits AD alone, with all of the server."""
        time = row.ad_base + row.ad_slope * row.input_tokens + row.ad_prefill
        time += row.upload + self.ad_step * row.output_tokens
        memory = row.ad_memory + self.llm.cache * row.input_tokens
        return time <= row.deadline and memory <= self.most_room

    def allows_sd(self, row: Row) -> bool:
        """Whether the user fits SD alone, with all of the server."""
        time = row.sd_base + row.sd_slope * row.input_tokens + row.sd_prefill
        time += row.sd_pairs * row.sd_growth
        time += row.upload + self.ad_step + self.sd_step * row.iterations
        memory = row.sd_memory + self.kv_sd * row.input_tokens + row.sd_steps * row.sd_memory_growth
        return time <= row.deadline and memory <= self.both_room


def _iterations(law: Law, count: int, each: int) -> tuple[int, int, int]:
    """FLOP of `count` iterations of `each` tokens (one less in the first).

    Iteration n >= 2 starts from the prefix L3 + (n - 1)(L4 + 1) - 1, the first from L3. Summing
    4 D Σ_{l=1..each} (P_n + l) over n gives three parts: constant, per token of L3, and per pair
    (N(N - 1)/2 of them) and unit of L4.
    """
    later = count - 1
    tokens = each - 1 + later * each
    positions = _pairs(each) + later * _pairs(each + 1) + (_pairs(count) - later) * each
    return law.token * tokens + law.context * positions, law.context * tokens, law.context * each
