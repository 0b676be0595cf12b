"""The optima in rationals: they are the judge's, and see what the shared prices get wrong."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable

import pytest

from instances import Instance, Problem, Schedule, User, generate, pricing
from instances.pricing import Row
from verify import campaign
from verify.brute import Brute
from verify.judge import check
from verify.reduction_checks import Reduction
from verify.reduction_sharp import sharpened


def judged(instance: Instance, z: float, lams: Iterable[float | None]) -> int:
    """Return the most users of any schedule at z that the judge accepts."""
    best = 0
    for lam, modes in itertools.product(lams, itertools.product(range(3), repeat=3)):
        pairs = list(zip((user.id for user in instance.users), modes, strict=True))
        ad, sd = (tuple(name for name, mode in pairs if mode == code) for code in (1, 2))
        schedule = Schedule(z=z, lam=lam, ad=ad, sd=sd)
        problem: Problem = "P1" if lam is None else "P3"
        if schedule.served > best and check(instance, schedule, problem).feasible:
            best = schedule.served
    return best


@pytest.mark.parametrize("family", ["paper-4a", "memory-tight", "deadline-tight", "no-ad"])
def test_optima_are_those_of_judging_every_schedule(family: str) -> None:
    rng, seen = random.Random(family), set()
    for seed in range(2):
        drawn = generate(family, users=3, seed=seed)
        for instance in (drawn, sharpened(drawn, 0.5, 0.4, rng)):
            for z in (0.0, 0.5, 0.9, 1.0):
                brute = Brute(instance, [z])
                assert brute.most_served() == judged(instance, z, [None])
                for grid in ([0.4], [0.0, 1.0]):
                    assert brute.most_served(grid) == judged(instance, z, grid)
                    seen.add(brute.most_served(grid))
    assert len(seen) > 1


def test_nobody_is_served_without_memory_for_the_models() -> None:
    instance = generate("paper-4a", users=2, seed=0)
    hardware = instance.hardware.model_copy(update={"memory_bytes": 1})
    assert Brute(instance.model_copy(update={"hardware": hardware})).most_served() == 0


@pytest.fixture
def overpriced(monkeypatch: pytest.MonkeyPatch) -> None:
    """AD's work costs twice as much wherever tables or MMKPs are priced."""
    row = pricing.Server.row

    def double(server: pricing.Server, user: User) -> Row:
        made = row(server, user)
        names = ("ad_base", "ad_slope", "ad_prefill")
        return made._replace(**{name: 2 * getattr(made, name) for name in names})

    monkeypatch.setattr(pricing.Server, "row", double)


@pytest.mark.parametrize(("claim", "seed"), [("theorem1", 59), ("prop2", 39)])
@pytest.mark.usefixtures("overpriced")
def test_prices_wrong_for_all_sides_are_a_fault_of_a_claim(claim: str, seed: int) -> None:
    fault = campaign.examine((claim, seed))["cases"][0]["fault"]
    assert re.fullmatch(r"P1: certified (\d), in rationals (?!\1)\d can be served", fault)


@pytest.mark.usefixtures("overpriced")
def test_prices_wrong_for_all_sides_are_a_fault_of_the_reduction() -> None:
    fault = Reduction(1)("7")["faults"]["maximum"]
    assert fault == "P1's certified optimum lies in [1, 1], in rationals 2 can be served"
