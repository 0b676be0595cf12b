"""P1 and P3 at fixed thresholds as MMKPs: there and back."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from formulations.mmkp_exact import dynamic_programme
from formulations.mmkp_mapping import mmkp, mmkp_schedule, mmkp_selection
from formulations.mmkp_thresholds import (
    AdThresholds,
    SdThresholds,
    Thresholds,
    all_ad_thresholds,
    all_sd_thresholds,
    tight_thresholds,
)
from instances import Instance, Schedule, exact, generate
from instances.mmkp import MMKP, Item, ItemClass
from verify.judge import check

FAMILIES = ("tiny", "paper-4a", "memory-tight", "deadline-tight", "ties", "wide")
POINTS = [(0.5, None), (0.3, 0.6), (0.0, None), (1.0, 1.0)]


def schedules(instance: Instance, z: float, lam: float | None) -> list[Schedule]:
    """Every schedule at one point, feasible or not."""
    ids = [user.id for user in instance.users]
    return [
        Schedule(
            z=z,
            lam=lam,
            ad=tuple(name for name, mode in zip(ids, modes, strict=True) if mode == 1),
            sd=tuple(name for name, mode in zip(ids, modes, strict=True) if mode == 2),
        )
        for modes in itertools.product(range(3), repeat=len(ids))
    ]


@pytest.mark.parametrize(("z", "lam"), POINTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_feasible_schedule_is_a_selection_at_its_own_thresholds(
    family: str, z: float, lam: float | None
) -> None:
    """ "At least" of the claim, and more: at tight thresholds both sides have the same rows."""
    instance = generate(family, users=4, seed=2)
    for schedule in schedules(instance, z, lam):
        feasible = check(instance, schedule, "P1" if lam is None else "P3").feasible
        thresholds = tight_thresholds(instance, schedule)
        for rounded_up in (True, False):
            problem = mmkp(instance, z, lam, thresholds, rounded_up)
            try:
                selection = mmkp_selection(instance, problem, schedule)
            except ValueError:  # no share or no room for a mode, or no budget
                assert not feasible
                continue
            assert problem.feasible(selection) == feasible
            assert problem.profit(selection) == schedule.served
            assert mmkp_schedule(instance, z, lam, problem, selection) == schedule


@pytest.mark.parametrize("family", FAMILIES)
def test_what_an_mmkp_selects_under_random_thresholds_is_feasible(family: str) -> None:
    """ "At most" of the claim."""
    rng, served = random.Random(family), 0
    for seed in range(4):
        instance = generate(family, users=6, seed=seed)
        ads, sds = list(all_ad_thresholds(instance)), list(all_sd_thresholds(instance))
        for _ in range(40):
            z, lam = rng.choice(instance.z_grid), rng.choice([*instance.lambda_grid, None])
            problem = mmkp(instance, z, lam, Thresholds(rng.choice(ads), rng.choice(sds)))
            found = dynamic_programme(problem)
            assert found.selection is not None
            schedule = mmkp_schedule(instance, z, lam, problem, found.selection)
            assert check(instance, schedule, "P1" if lam is None else "P3").feasible
            assert schedule.served == found.bound
            served += schedule.served
    assert served > 0


def test_thresholds_are_the_users_values() -> None:
    instance = generate("paper-4a", users=3, seed=1)
    everyone = Schedule(z=0.5, ad=tuple(u.id for u in instance.users[:2]), sd=())
    tight = tight_thresholds(instance, everyone)
    users = instance.users[:2]
    assert tight.sd is None
    assert tight.ad == AdThresholds(
        max(user.input_tokens for user in users),
        max(user.output_tokens for user in users),
        min(exact.remaining_budget(instance, user) for user in users),
        max(exact.upload_time(instance, user) for user in users),
    )
    assert len(list(all_ad_thresholds(instance))) == 3**4
    assert len(list(all_sd_thresholds(instance))) == 3**5


def test_who_breaks_a_threshold_has_no_item() -> None:
    instance = generate("paper-4a", users=4, seed=1)
    names = tuple(user.id for user in instance.users)
    ad = tight_thresholds(instance, Schedule(z=0.5, ad=names)).ad
    sd = tight_thresholds(instance, Schedule(z=0.5, sd=names)).sd
    assert ad is not None
    assert sd is not None

    def labels(changed_ad: AdThresholds | None, changed_sd: SdThresholds | None) -> set[str | None]:
        problem = mmkp(instance, 0.5, 0.5, Thresholds(changed_ad, changed_sd))
        return {item.label for item in problem.classes[worst].items}

    uploads = [exact.upload_time(instance, user) for user in instance.users]
    worst = uploads.index(max(uploads))
    second = sorted(uploads)[-2]
    assert "AD" not in labels(replace(ad, upload=second), sd)
    assert "SD" not in labels(ad, replace(sd, upload=second))
    counts = [exact.sd_iterations(user, instance.draft_length) for user in instance.users]
    worst = counts.index(max(counts))
    assert "SD" not in labels(ad, replace(sd, iterations=max(counts) - 1))


def test_a_mode_without_share_room_or_thresholds_has_no_items() -> None:
    instance = generate("tiny", users=4, seed=0)
    names = tuple(user.id for user in instance.users)
    both = Thresholds(
        tight_thresholds(instance, Schedule(z=0.5, ad=names)).ad,
        tight_thresholds(instance, Schedule(z=0.5, sd=names)).sd,
    )

    def labels(instance: Instance, z: float, thresholds: Thresholds) -> set[str | None]:
        classes = mmkp(instance, z, None, thresholds).classes
        return {item.label for group in classes for item in group.items}

    assert "AD" not in labels(instance, 0.0, both)
    assert "SD" not in labels(instance, 1.0, both)
    assert labels(instance, 0.5, Thresholds(None, None)) == set()
    poor = instance.hardware.model_copy(update={"memory_bytes": 0})
    assert labels(instance.model_copy(update={"hardware": poor}), 0.5, both) == set()


def test_refusals() -> None:
    instance = generate("tiny", users=2, seed=0)
    ad = AdThresholds(10**8, 1, Fraction(0), Fraction(0))
    with pytest.raises(ValueError, match="no user has L1 = 100000000"):
        mmkp(instance, 0.5, None, Thresholds(ad, None))
    sd = SdThresholds(instance.users[0].input_tokens, Fraction(5), 1, Fraction(0), Fraction(0))
    with pytest.raises(ValueError, match="no user has L4 = 5"):
        mmkp(instance, 0.5, None, Thresholds(None, sd))
    with pytest.raises(ValueError, match="shares must lie"):
        mmkp(instance, 1.5, None, Thresholds(None, None))


@pytest.mark.parametrize("position", [-1, 2])
def test_an_item_that_does_not_exist_is_named(position: int) -> None:
    instance = generate("paper-4a", users=1, seed=0)
    user = instance.users[0].id
    problem = MMKP((ItemClass((Item(1, (0,), "AD"), Item(1, (0,), "SD")), True),), (1,))
    with pytest.raises(ValueError, match=f"user '{user}' has no item at position {position}"):
        mmkp_schedule(instance, 0.5, None, problem, (position,))
