"""P1 and P3 under thresholds without any MMKP: every batch, priced by the paper's equations."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache

from formulations.mmkp_thresholds import AdThresholds, SdThresholds, Thresholds
from instances import Instance, Schedule, exact
from instances.mmkp import Number
from instances.numbers import exact as rational
from instances.workload import (
    decode_flops,
    kv_bytes_per_token,
    prefill_flops,
    verify_flops,
)

#: The batches that a mode can serve: users as a bit mask, and the bytes of their caches.
Batches = tuple[tuple[int, Number], ...]
_EMPTY: Batches = ((0, 0),)


class Thresholded:
    """An instance's batches when every user is charged for thresholds instead of maxima.

    Stands on `instances.exact` and `instances.workload` alone; up to a dozen users.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.users = range(len(instance.users))
        drafts = instance.draft_length
        self._upload = [exact.upload_time(instance, user) for user in instance.users]
        self._deadline = [exact.remaining_budget(instance, user) for user in instance.users]
        self._accepted = [exact.accepted_drafts(user, drafts) for user in instance.users]
        self._iterations = [exact.sd_iterations(user, drafts) for user in instance.users]
        self._ad_price = cache(self._ad_price_of)
        self._sd_price = cache(self._sd_price_of)

    def all_ad(self) -> Iterator[AdThresholds]:
        """Yield thresholds of AD: every combination of the users' values."""
        users = self.instance.users
        values: tuple[set[int | Fraction], ...] = (
            {user.input_tokens for user in users},
            {user.output_tokens for user in users},
            set(self._deadline),
            set(self._upload),
        )
        for combination in itertools.product(*values):
            yield AdThresholds(*combination)  # type: ignore[arg-type]

    def all_sd(self) -> Iterator[SdThresholds]:
        """Yield thresholds of SD: every combination of the users' values."""
        values: tuple[set[int | Fraction], ...] = (
            {user.input_tokens for user in self.instance.users},
            set(self._accepted),
            set(self._iterations),
            set(self._deadline),
            set(self._upload),
        )
        for combination in itertools.product(*values):
            yield SdThresholds(*combination)  # type: ignore[arg-type]

    def tight(self, schedule: Schedule) -> Thresholds:
        """Return the schedule's own maxima and minima."""
        ad = [self.instance.index[name] for name in schedule.ad]
        sd = [self.instance.index[name] for name in schedule.sd]
        users = self.instance.users
        return Thresholds(
            AdThresholds(
                max(users[k].input_tokens for k in ad),
                max(users[k].output_tokens for k in ad),
                min(self._deadline[k] for k in ad),
                max(self._upload[k] for k in ad),
            )
            if ad
            else None,
            SdThresholds(
                max(users[k].input_tokens for k in sd),
                max(self._accepted[k] for k in sd),
                max(self._iterations[k] for k in sd),
                min(self._deadline[k] for k in sd),
                max(self._upload[k] for k in sd),
            )
            if sd
            else None,
        )

    def ad(self, z: float, limits: AdThresholds | None) -> Batches:
        """Return the AD batches that are on time when charged for the thresholds."""
        if limits is None or z == 0 or exact.room(self.instance, z) < 0:
            return _EMPTY
        beta = rational(self.instance.hardware.beta_llm)
        left = limits.deadline - limits.upload - limits.longest_output * beta
        users = [
            k
            for k in self.users
            if self.instance.users[k].input_tokens <= limits.longest_input
            and self.instance.users[k].output_tokens <= limits.longest_output
            and self._deadline[k] >= limits.deadline
            and self._upload[k] <= limits.upload
        ]
        prices = {k: self._ad_price(k, limits.longest_input) for k in users}
        return batches_within(users, prices, left * rational(z))

    def sd(self, z: float, limits: SdThresholds | None) -> Batches:
        """Return the SD batches that are on time when charged for the thresholds."""
        if limits is None or z == 1 or exact.room(self.instance, z) < 0:
            return _EMPTY
        hardware, drafts = self.instance.hardware, self.instance.draft_length
        passes = (limits.iterations + 1) * rational(hardware.beta_llm)
        passes += limits.iterations * drafts * rational(hardware.beta_slm)
        left = limits.deadline - limits.upload - passes
        users = [
            k
            for k in self.users
            if self.instance.users[k].input_tokens <= limits.longest_input
            and self._accepted[k] <= limits.most_accepted
            and self._iterations[k] <= limits.iterations
            and self._deadline[k] >= limits.deadline
            and self._upload[k] <= limits.upload
        ]
        prices = {k: self._sd_price(k, limits.longest_input, limits.most_accepted) for k in users}
        return batches_within(users, prices, left * (1 - rational(z)))

    def _ad_price_of(self, k: int, longest_input: int) -> tuple[Fraction, Fraction]:
        """Seconds of the whole GPU and bytes of one AD user."""
        instance, steps = self.instance, self.instance.users[k].output_tokens
        flops = prefill_flops(instance.llm, longest_input) + sum(
            decode_flops(instance.llm, longest_input, step) for step in range(1, steps)
        )
        cache_ = kv_bytes_per_token(instance.llm, instance.hardware.bytes_per_value)
        seconds = rational(instance.hardware.alpha_llm) * flops
        return seconds, Fraction(cache_ * (longest_input + steps))

    def _sd_price_of(
        self, k: int, longest_input: int, most_accepted: Fraction
    ) -> tuple[Fraction, Fraction]:
        """Seconds of the whole GPU and bytes of one SD user."""
        instance, drafts = self.instance, self.instance.draft_length
        large, small = Fraction(0), Fraction(0)
        for n in range(1, self._iterations[k] + 1):
            prefix = exact.sd_prefix(n, longest_input, most_accepted)
            large += verify_flops(instance.llm, prefix, drafts + (n > 1))
            small += sum(
                decode_flops(instance.slm, prefix, step) for step in range(1, drafts + (n > 1))
            )
        large += prefill_flops(instance.llm, longest_input)
        small += prefill_flops(instance.slm, longest_input)
        hardware, width = instance.hardware, instance.hardware.bytes_per_value
        seconds = rational(hardware.alpha_llm) * large + rational(hardware.alpha_slm) * small
        last = exact.sd_prefix(self._iterations[k], longest_input, most_accepted) + drafts
        memory = kv_bytes_per_token(instance.slm, width) * last
        return seconds, memory + kv_bytes_per_token(instance.llm, width) * (last + 1)

    def best(self, z: float, lam: float | None, ad: Batches, sd: Batches) -> int:
        """Return the most users that two disjoint batches serve within the memory."""
        room = max(0, exact.room(self.instance, z))
        fits = _fits(room, lam)
        best = 0
        for left, ad_bytes in ad:
            for right, sd_bytes in sd:
                served = (left | right).bit_count()
                if served > best and not left & right and fits(ad_bytes, sd_bytes):
                    best = served
        return best


def _fits(room: int, lam: float | None) -> Callable[[Number, Number], bool]:
    if lam is None:
        return lambda ad, sd: ad + sd <= room
    share = rational(lam)
    return lambda ad, sd: ad <= share * room and sd <= (1 - share) * room


def batches_within(
    users: Sequence[int], prices: Mapping[int, tuple[Number, Number]], left: Number
) -> Batches:
    """Return the sets of users whose seconds (or ticks) fit into `left`, the empty one always.

    Parameters
    ----------
    users : sequence of int
    prices : mapping of int to (time, bytes)
    left : int or Fraction
    """
    sets: list[tuple[int, Number, Number]] = [(0, 0, 0)]
    for k in users:
        time, memory = prices[k]
        sets += [
            (mask | 1 << k, spent + time, used + memory)
            for mask, spent, used in sets
            if spent + time <= left
        ]
    return tuple(sorted((mask, used) for mask, _, used in sets))
