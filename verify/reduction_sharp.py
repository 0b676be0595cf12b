"""Instances on a knife's edge: batches just on time, or just not, in just enough memory."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from instances import Instance, User, exact
from instances.numbers import exact as rational
from instances.workload import weight_bytes


def sharpened(instance: Instance, z: float, lam: float | None, rng: random.Random) -> Instance:
    """Return an instance whose deadlines and memory are those that some schedule needs.

    A random half of the users form an AD batch, the others an SD batch. Each batch's users get a
    remaining budget that its latency at z meets, or misses, by little more than what tables in
    picoseconds round; the memory is what both batches take, or just too little. So every term of
    every row decides something.

    Parameters
    ----------
    instance : Instance
    z : float
        Strictly between 0 and 1.
    lam : float or None
        Memory is set for P3 at this share (strictly between 0 and 1), or for P1.
    rng : random.Random
    """
    users = list(instance.users)
    rng.shuffle(users)
    ad, sd = users[: len(users) // 2], users[len(users) // 2 :]
    budgets: dict[str, Fraction] = {}
    share = rational(z)
    for batch, latency, part in ((ad, exact.ad_latency, share), (sd, exact.sd_latency, 1 - share)):
        if batch:
            margin = _margin(instance, batch) / part
            due = latency(instance, batch, z) + rng.choice([1, 1, -1]) * margin
            budgets |= dict.fromkeys((user.id for user in batch), due)
    made = [_with_budget(instance, user, budgets[user.id]) for user in instance.users]
    bytes_ = _weights(instance) + _room(instance, ad, sd, lam, rng.choice([1, 1, 1, -1]))
    hardware = instance.hardware.model_copy(update={"memory_bytes": bytes_})
    changed = instance.model_copy(update={"users": tuple(made), "hardware": hardware})
    return Instance.model_validate(changed.model_dump(by_alias=True))


def _margin(instance: Instance, batch: list[User]) -> Fraction:
    """Return seconds beyond what rounding to picoseconds may move (`instances.build_tables`)."""
    longest = max(user.input_tokens for user in batch)
    counts = [exact.sd_iterations(user, instance.draft_length) for user in batch]
    ticks = sum(4 + longest + count * count for count in counts)
    return Fraction(ticks, 10**12) + Fraction(4, 10**9)


def _with_budget(instance: Instance, user: User, budget: Fraction) -> User:
    """Return the user with a deadline that leaves it so many seconds, to the nanosecond."""
    nanoseconds = math.floor((budget + exact.download_time(instance, user)) * 10**9)
    return user.model_copy(update={"deadline_s": max(1, nanoseconds) / 10**9})


def _room(instance: Instance, ad: list[User], sd: list[User], lam: float | None, sign: int) -> int:
    """Return just enough bytes for both batches' caches, or (sign -1) just too few.

    SD's caches are fractions of bytes, which tables round by less than a byte per iteration.
    """
    one, other = Fraction(exact.ad_memory(instance, ad)), exact.sd_memory(instance, sd)
    other += sign * sum(exact.sd_iterations(user, instance.draft_length) for user in sd)
    if lam is None:
        return max(0, math.ceil(one + other) - (sign < 0))
    share = rational(lam)
    return max(0, math.ceil(max(one / share, other / (1 - share))) - (sign < 0))


def _weights(instance: Instance) -> int:
    width = instance.hardware.bytes_per_value
    return weight_bytes(instance.llm, width) + weight_bytes(instance.slm, width)
