"""The reduction from EQUAL-CARDINALITY PARTITION, both directions, on drawn integers."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from instances import Instance, Result, Schedule
from instances.partition import equal_cardinality_partition, equal_half

from .judge import check

#: Up to so many integers, with sums up to about so much.
MOST_INTEGERS = 12
LARGEST_TOTAL = 1000

Solve = Callable[[Instance], Result]


def draw_integers(rng: random.Random) -> list[int]:
    """Return 2 to 12 integers with or without a partition into equal halves, about evenly.

    Small and large ones, planted halves, and planted halves with two integers moved apart, so that
    the sum stays even and the answer hangs on single units.
    """
    half = rng.randint(1, MOST_INTEGERS // 2)
    most = rng.choice([3, 20, max(3, LARGEST_TOTAL // (2 * half))])
    left = [rng.randint(1, most) for _ in range(half)]
    right = [rng.randint(1, most) for _ in range(half)]
    kind = rng.choice(["random", "planted", "moved"])
    if kind != "random":
        gap = sum(left) - sum(right)
        side = right if gap > 0 else left
        side[rng.randrange(half)] += abs(gap)
    if kind == "moved":
        left[0] += rng.randint(1, 2)
        right[-1] += rng.randint(1, 2)
    values = left + right
    rng.shuffle(values)
    return values


def check_partition(
    integers: Sequence[int],
    solve: Solve | None = None,
    reduce: Callable[[Sequence[int]], Instance] = equal_cardinality_partition,
) -> dict[str, Any]:
    """Check that all users can be served iff the partition exists.

    *Only if:* the certified bound of a no-instance lies below the number of users; the schedule
    that serves everyone in a yes-instance reads back as a half. *If:* the schedule made from the
    referee's half passes the judge.

    Parameters
    ----------
    integers : sequence of int
    solve : callable, optional
        Returns P1's certified result; `formulations.solve` if left out.
    reduce : callable
        The reduction; the tests break it on purpose.

    Returns
    -------
    dict
        ``yes``: whether the partition exists; ``faults``: kind to sentence; ``open``: whether the
        solver left it undecided.
    """
    instance, half = reduce(integers), equal_half(integers)
    faults: dict[str, str] = {}
    if half is not None:
        report = check(instance, schedule_of(instance, half))
        if not report.feasible:
            kinds = ", ".join(report.violations)
            faults["hard_if"] = f"{list(integers)}: the half's schedule violates {kinds}"
    result = (solve or _certified)(instance)
    everyone = len(instance.users)
    served = 0 if result.schedule is None else result.schedule.served
    bound = everyone if result.bound is None else result.bound
    if half is None and served == everyone:
        faults["hard_only_if"] = f"{list(integers)}: everyone is served, yet no half exists"
    if half is not None and bound < everyone:
        faults["hard_if"] = f"{list(integers)}: a half exists, yet at most {bound} are served"
    if served == everyone and result.schedule is not None:
        faults |= _not_a_half(integers, result.schedule)
    undecided = bound == everyone and served < everyone
    return {"yes": half is not None, "faults": faults, "open": undecided}


def schedule_of(instance: Instance, half: Sequence[int]) -> Schedule:
    """Return the schedule that a half stands for: it in AD, the others in SD."""
    items = [user.id for user in instance.users[:-2]]
    ad = [items[k] for k in half]
    sd = [name for name in items if name not in ad]
    return Schedule(z=0.5, ad=(*ad, "ad-only"), sd=(*sd, "sd-only"))


def _not_a_half(integers: Sequence[int], schedule: Schedule) -> dict[str, str]:
    items = [name for name in schedule.ad if name.startswith("item-")]
    chosen = [int(name.removeprefix("item-")) - 1 for name in items]
    in_place = "ad-only" in schedule.ad and "sd-only" in schedule.sd
    halves = in_place and 2 * len(chosen) == len(integers)
    if halves and 2 * sum(integers[k] for k in chosen) == sum(integers):
        return {}
    return {"hard_only_if": f"{list(integers)}: everyone is served, but {chosen} is no half"}


def _certified(instance: Instance) -> Result:
    import formulations

    return formulations.solve(instance, "P1")
