"""What each family promises: hard, tight, tied or a trap."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from helpers import brute_force, printed_balance

from instances import (
    build_tables,
    generate,
)
from instances.exact import (
    ad_latency,
    ad_memory,
    download_time,
    remaining_budget,
    room,
    sd_memory,
    upload_time,
)
from instances.numbers import exact

#: Families whose optimum must be neither nobody nor everybody, at K = 7, in most instances.
HARD = ("memory-tight", "deadline-tight", "no-sd", "no-ad", "wide", "ties")


@pytest.mark.parametrize("family", HARD)
def test_stress_families_are_hard(family: str) -> None:
    optima = [brute_force(build_tables(generate(family, 7, seed))) for seed in range(8)]
    assert sum(0 < optimum < 7 for optimum in optima) >= 6
    assert len(set(optima)) > 1


def test_memory_binds_where_it_is_tight() -> None:
    for seed in range(6):
        instance = generate("memory-tight", 7, seed)
        everyone = ad_memory(instance, instance.users)
        assert Fraction(1, 10) <= Fraction(room(instance, 0.5) + 1, everyone)
        assert Fraction(room(instance, 0.5), everyone) <= Fraction(45, 100)


def test_the_small_model_does_not_fit_in_no_sd() -> None:
    for seed in range(6):
        tables = build_tables(generate("no-sd", 7, seed), rounded_up=False)
        assert not tables.sd_allowed.any()
        assert (tables.room[:-1] < 0).all()
        assert tables.ad_allowed.any()


def test_ad_is_hopeless_in_no_ad() -> None:
    for seed in range(6):
        tables = build_tables(generate("no-ad", 7, seed), rounded_up=False)
        assert not tables.ad_allowed.any()
        assert tables.sd_allowed.any()


def test_deadlines_are_near_what_ad_needs_alone() -> None:
    instance = generate("deadline-tight", 40, 1)
    for user in instance.users:
        alone = ad_latency(instance, [user], 1.0) + download_time(instance, user)
        assert 0.799 <= user.deadline_s / float(alone) <= 1.601


def test_wide_spans_the_scales() -> None:
    drawn = [generate("wide", 8, seed) for seed in range(60)]
    deadlines = [user.deadline_s for instance in drawn for user in instance.users]
    memory = [instance.hardware.memory_bytes for instance in drawn]
    assert min(deadlines) < 1e-2
    assert max(deadlines) > 3600
    assert min(memory) < 1e4
    assert max(memory) > 1e12


def test_tiny_has_none_to_three() -> None:
    assert {len(generate("tiny", None, seed).users) for seed in range(40)} == {0, 1, 2, 3}


@pytest.mark.parametrize("seed", range(6))
def test_ties_are_ties_to_the_tick(seed: int) -> None:
    instance = generate("ties", 8, seed)
    up, down = build_tables(instance), build_tables(instance, rounded_up=False)
    for name, above, below in zip(up._fields, up, down, strict=True):
        if name != "rounded_up":  # nothing was rounded
            assert (above == below).all() if hasattr(above, "all") else above == below
    budgets = {remaining_budget(instance, user) for user in instance.users}
    assert len(budgets) <= 2
    assert len({(u.input_tokens, u.output_tokens, u.acceptance_rate) for u in instance.users}) <= 8


def test_ties_fill_time_and_memory_exactly() -> None:
    full = 0
    for seed in range(6):
        instance = generate("ties", 6, seed)
        for modes in itertools.product("-as", repeat=6):
            ad, sd = (
                [u for u, mode in zip(instance.users, modes, strict=True) if mode == m]
                for m in "as"
            )
            if not ad or ad_memory(instance, ad) + sd_memory(instance, sd) != room(instance, 0.5):
                continue
            budget = min(remaining_budget(instance, user) for user in ad)
            full += any(ad_latency(instance, ad, z) == budget for z in (0.2, 0.5, 0.8))
    assert full > 0


@pytest.mark.parametrize(("users", "seed"), [(7, 0), (8, 1), (9, 2), (10, 3)])
def test_the_printed_algorithm_falls_below_half(users: int, seed: int) -> None:
    instance = generate(
        "printed-trap", users, seed, z_grid=(0.0, 0.5, 1.0), lambda_grid=(0.0, 0.1, 0.5, 0.9, 1.0)
    )
    tables = build_tables(instance)
    optimum = sum(not user.id.startswith("hopeless") for user in instance.users)
    assert optimum >= 7
    if users == 7:
        assert brute_force(tables) == optimum
    assert 2 * printed_balance(tables) < optimum
    assert 2 * printed_balance(tables, padded=False) >= optimum


@pytest.mark.parametrize("users", [2, 3, 6, 7])
@pytest.mark.parametrize("seed", range(3))
def test_half_is_tight(users: int, seed: int) -> None:
    tables = build_tables(generate("tight-half", users, seed, z_grid=(0.0, 0.3, 1.0)))
    assert printed_balance(tables, padded=False) == users // 2
    assert brute_force(tables) == 2 * (users // 2)


def test_hopeless_users_upload_past_their_deadline() -> None:
    instance = generate("tight-half", 7, 0)
    user = next(user for user in instance.users if user.id.startswith("hopeless"))
    assert upload_time(instance, user) > exact(user.deadline_s)
