"""Propositions 4 and 5: Algorithms 1 and 2 against the exact optima of P3.1 and P3.2.

The optimum is found without the algorithms. Up to `MOST_TRIED` users it is also found without their
tables: by trying sets of users in rationals (`instances.exact`). Above, HiGHS solves a model of the
same tables; the judge accepts its schedule, but that no more can be served rests on the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import heuristics
from instances import Instance, Schedule, User
from instances.exact import (
    ad_latency,
    ad_memory,
    remaining_budget,
    room,
    sd_latency,
    sd_memory,
)
from instances.numbers import exact
from instances.randomness import Stream

from .claims import Case, Claim
from .judge import check
from .optima import optimum

#: Up to so many users, sets are tried one by one.
MOST_TRIED = 8

EXACT, LOOPS, PADDED = "exact memory", "exact memory, as printed", "printed memory"
_RUNS: dict[str, dict[str, str]] = {
    EXACT: {"algorithm": "balance", "memory": "exact"},
    LOOPS: {"algorithm": "printed", "memory": "exact"},
    PADDED: {"algorithm": "printed", "memory": "padded"},
}


def ad_optimum(instance: Instance, z: float, lam: float) -> int:
    """Return P3.1's optimum: the most users in AD at one (z, λ)."""
    if len(instance.users) > MOST_TRIED:
        return optimum(instance, "P3", z=z, lam=lam, modes="ad-only", solver="highs")
    bytes_ = exact(lam) * room(instance, z)

    def fits(users: Sequence[User]) -> bool:
        budget = min(remaining_budget(instance, user) for user in users)
        return ad_memory(instance, users) <= bytes_ and ad_latency(instance, users, z) <= budget

    return largest(instance.users, fits) if z > 0 else 0


def sd_optimum(instance: Instance, z: float, lam: float) -> int:
    """Return P3.2's optimum: the most users of the instance in SD at one (z, λ)."""
    if len(instance.users) > MOST_TRIED:
        return optimum(instance, "P3", z=z, lam=lam, modes="sd-only", solver="highs")
    bytes_ = (1 - exact(lam)) * room(instance, z)

    def fits(users: Sequence[User]) -> bool:
        budget = min(remaining_budget(instance, user) for user in users)
        return sd_memory(instance, users) <= bytes_ and sd_latency(instance, users, z) <= budget

    return largest(instance.users, fits) if z < 1 else 0


def largest(users: Sequence[User], fits: Callable[[Sequence[User]], bool]) -> int:
    """Return the size of the largest set that fits.

    Sets are extended user by user while they fit: without one of its users a batch has smaller
    maxima and sums and no earlier deadline, so every part of a set that fits does too.
    """
    best = 0

    def extend(chosen: list[User], rest: Sequence[User]) -> None:
        nonlocal best
        best = max(best, len(chosen))
        for position, user in enumerate(rest):
            if len(chosen) + len(rest) - position <= best:
                return
            if fits([*chosen, user]):
                extend([*chosen, user], rest[position + 1 :])

    extend([], users)
    return best


def examine_ad(instance: Instance, stream: Stream) -> list[Case]:
    """Compare Algorithm 1, in three versions, with P3.1 at a random (z, λ)."""
    z, lam = _point(instance, stream)
    best = ad_optimum(instance, z, lam)
    cases = []
    for group in _RUNS:
        schedule = _run(group, instance, z, lam)
        fault = "" if group == PADDED else _fault(instance, schedule, "ad", best)
        cases.append(Case(group, len(schedule.ad), best, fault))
    return cases


def examine_sd(instance: Instance, stream: Stream) -> list[Case]:
    """Compare Algorithm 2 with P3.2 on the users that Algorithm 1 left, at a random (z, λ)."""
    z, lam = _point(instance, stream)
    cases = []
    for group in (EXACT, LOOPS):
        schedule = _run(group, instance, z, lam)
        left = tuple(user for user in instance.users if user.id not in schedule.ad)
        best = sd_optimum(instance.model_copy(update={"users": left}), z, lam)
        cases.append(Case(group, len(schedule.sd), best, _fault(instance, schedule, "sd", best)))
    return cases


def _point(instance: Instance, stream: Stream) -> tuple[float, float]:
    return stream.choice(instance.z_grid), stream.choice(instance.lambda_grid)


def _run(group: str, instance: Instance, z: float, lam: float) -> Schedule:
    options: dict[str, Any] = _RUNS[group]
    schedule = heuristics.solve(instance, z=z, lam=lam, **options).schedule
    assert schedule is not None, "Algorithm 3 always has a schedule"
    return schedule


def _fault(instance: Instance, schedule: Schedule, mode: Literal["ad", "sd"], best: int) -> str:
    """Return what is wrong with a batch that should be optimal and feasible."""
    served = len(getattr(schedule, mode))
    alone = schedule.model_copy(update={"ad" if mode == "sd" else "sd": ()})
    broken = check(instance, alone, "P3").violations
    if broken:
        return f"breaks {', '.join(broken)} at z = {schedule.z:g}, λ = {schedule.lam:g}"
    if served != best:
        return f"serves {served} of {best} at z = {schedule.z:g}, λ = {schedule.lam:g}"
    return ""


_FAMILIES = ("paper-4a", "memory-tight", "printed-trap", "deadline-tight", "ties", "no-ad")

PROPOSITION_4 = Claim(
    "prop4", "Prop. 4: Algorithm 1 = P3.1", examine_ad, _FAMILIES, (1, 16), (PADDED,)
)
PROPOSITION_5 = Claim("prop5", "Prop. 5: Algorithm 2 = P3.2", examine_sd, _FAMILIES, (1, 16))
