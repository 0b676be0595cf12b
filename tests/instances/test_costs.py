"""Cost tables bracket the exact costs within the documented rounding, at every scale."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from helpers import make_instance, make_user

from instances import CostTables, Instance, User, build_tables, generate
from instances.assignment import ad_batch, ad_budget, sd_batch, sd_budget
from instances.costs import LARGEST_SUM
from instances.exact import (
    accepted_drafts,
    ad_latency,
    ad_memory,
    remaining_budget,
    room,
    sd_iterations,
    sd_latency,
    sd_memory,
    upload_time,
)
from instances.generators import Overrides
from instances.numbers import exact
from instances.pricing import Rounding, Server
from instances.workload import kv_bytes_per_token


def seconds(tables: CostTables, ticks: int) -> Fraction:
    return ticks * Fraction(10) ** tables.tick_exponent


def sets_of(allowed: np.ndarray, most: int) -> list[np.ndarray]:
    users = np.flatnonzero(allowed)
    sizes = range(1, min(len(users), 3) + 1)
    sets = itertools.chain.from_iterable(itertools.combinations(users, n) for n in sizes)
    return [np.array(chosen, np.intp) for chosen in itertools.islice(sets, most)]


def assert_row(
    instance: Instance,
    tables: dict[bool, CostTables],
    users: np.ndarray,
    mode: Mode,
    error: Fraction,
) -> None:
    """Check one batch's time row at every share, and how far its computing time is rounded."""
    batch = [instance.users[k] for k in users]
    left = min(remaining_budget(instance, user) for user in batch)
    for z in mode.shares(instance):
        share = mode.share(z)
        latency = mode.latency(instance, batch, z)
        slack = {
            up: share * seconds(t, mode.budget(t, users)) - seconds(t, mode.batch(t, users)[0])
            for up, t in tables.items()
        }
        assert slack[True] < 0 or latency <= left
        assert slack[False] >= 0 or latency > left
    computing = share * (latency - mode.fixed(instance, batch))
    high, low = (seconds(tables[up], mode.batch(tables[up], users)[0]) for up in (True, False))
    assert low <= computing <= high
    assert max(high - computing, computing - low) <= error * seconds(tables[True], 1)


class Mode(NamedTuple):
    """AD or SD: the exact functions and those of the tables."""

    latency: Callable[[Instance, list[User], float], Fraction]
    batch: Callable[[CostTables, np.ndarray], tuple[int, int]]
    budget: Callable[[CostTables, np.ndarray], int]
    fixed: Callable[[Instance, list[User]], Fraction]
    share: Callable[[float], Fraction]
    shares: Callable[[Instance], tuple[float, ...]]


def ad_fixed(instance: Instance, batch: list[User]) -> Fraction:
    passes = max(user.output_tokens for user in batch)
    upload = max(upload_time(instance, user) for user in batch)
    return upload + passes * exact(instance.hardware.beta_llm)


def sd_fixed(instance: Instance, batch: list[User]) -> Fraction:
    rounds = max(sd_iterations(user, instance.draft_length) for user in batch)
    drafting = rounds * instance.draft_length * exact(instance.hardware.beta_slm)
    upload = max(upload_time(instance, user) for user in batch)
    return upload + (rounds + 1) * exact(instance.hardware.beta_llm) + drafting


AD_MODE = Mode(ad_latency, ad_batch, ad_budget, ad_fixed, exact, lambda i: i.z_grid[1::4])
SD_MODE = Mode(
    sd_latency, sd_batch, sd_budget, sd_fixed, lambda z: 1 - exact(z), lambda i: i.z_grid[:-1:4]
)


def assert_brackets(instance: Instance, most_sets: int = 9) -> int:
    """Check time and memory rows of small sets in both modes; return how many were checked."""
    tables = {up: build_tables(instance, rounded_up=up) for up in (True, False)}
    up, down = tables[True], tables[False]
    assert not (up.ad_allowed & ~down.ad_allowed).any()
    assert not (up.sd_allowed & ~down.sd_allowed).any()
    ad_sets = sets_of(up.ad_allowed, most_sets)
    for users in ad_sets:
        batch = [instance.users[k] for k in users]
        longest = max(user.input_tokens for user in batch)
        assert_row(instance, tables, users, AD_MODE, Fraction(len(users) * (2 + longest)))
        memory = ad_memory(instance, batch)
        assert ad_batch(up, users)[1] == ad_batch(down, users)[1] == memory
    sd_sets = sets_of(up.sd_allowed, most_sets)
    for users in sd_sets:
        batch = [instance.users[k] for k in users]
        longest = max(user.input_tokens for user in batch)
        counts = [sd_iterations(user, instance.draft_length) for user in batch]
        error = sum((2 + longest + Fraction(n * n, 2) for n in counts), Fraction(0))
        assert_row(instance, tables, users, SD_MODE, error)
        above, below = (sd_batch(t, users)[1] for t in (up, down))
        assert below <= sd_memory(instance, batch) <= above <= below + sum(counts)
    return len(ad_sets) + len(sd_sets)


@pytest.mark.parametrize("drafts", [1, 2, 3, 8])
@pytest.mark.parametrize("family", ["paper-4a", "paper-5a", "memory-tight", "trace"])
def test_tables_bracket_the_paper_families(family: str, drafts: int) -> None:
    assert assert_brackets(generate(family, 4, 3, draft_length=drafts)) >= 5


def test_tables_bracket_grouped_heads() -> None:
    models: Overrides = {"llm": "Mistral-7B", "slm": "Qwen2.5-0.5B", "true_kv_heads": True}
    assert assert_brackets(generate("paper-5a", 4, 3, **models)) >= 5


@pytest.mark.parametrize("seed", range(8))
def test_tables_bracket_wide_scales(seed: int) -> None:
    assert assert_brackets(generate("wide", 5, seed), most_sets=6) >= 1


@pytest.mark.parametrize("rate", [0.0, 1.0, 0.3])
@pytest.mark.parametrize("output_tokens", [1, 2, 3, 7])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.7e-7])
def test_tables_bracket_the_corner_cases(rate: float, output_tokens: int, alpha: float) -> None:
    # α = 0; A = 0 and 1; one, two and more iterations
    users = [
        make_user(f"u{k}", acceptance_rate=rate, output_tokens=output_tokens, input_tokens=k + 1)
        for k in range(3)
    ]
    instance = make_instance(*users, draft_length=2, alpha_llm=alpha, alpha_slm=alpha)
    assert assert_brackets(instance) == 14


@pytest.mark.parametrize("rounded_up", [False, True])
@pytest.mark.parametrize("drafts", [1, 3, 8])
def test_prices_in_integer_ratios_are_those_in_fractions(drafts: int, rounded_up: bool) -> None:
    """`pricing` never reduces a fraction; here every number is one, rounded once."""
    instance = generate("paper-5a", 12, drafts).model_copy(update={"draft_length": drafts})
    server = Server(instance, Rounding(-12, rounded_up))
    up, down = (math.ceil, math.floor) if rounded_up else (math.floor, math.ceil)
    per_step = Fraction(kv_bytes_per_token(instance.llm, 2) + kv_bytes_per_token(instance.slm, 2))
    for user in instance.users:
        row, accepted = server.row(user), accepted_drafts(user, drafts)
        assert row.deadline == down(remaining_budget(instance, user) * 10**12)
        assert row.upload == up(upload_time(instance, user) * 10**12)
        assert row.iterations == math.ceil(user.output_tokens / (accepted + 1))
        assert row.sd_memory_growth == up(per_step * accepted)
        assert Fraction(*server.accepted(user.acceptance_rate)) == accepted
    ranks = build_tables(instance, rounded_up).accept_rank
    drafts_of = [accepted_drafts(user, drafts) for user in instance.users]
    assert [sorted(set(drafts_of)).index(a) for a in drafts_of] == ranks.tolist()


def test_costs_of_whole_ticks_are_exact() -> None:
    # α = 1e-3 and 2e-3 s/FLOP, L3 = L1 = 2: see test_exact for the FLOP
    instance = make_instance(make_user("long"), make_user("short", output_tokens=1))
    up, down = build_tables(instance), build_tables(instance, rounded_up=False)
    for tables in (up, down):
        assert ad_batch(tables, np.array([0, 1])) == ((92 + 40) * 10**9, 32)
        assert sd_batch(tables, np.array([0])) == (252 * 10**9, 32)
        assert tables.deadline.tolist() == up.deadline.tolist()
        assert tables.upload.tolist() == [5 * 10**11] * 2
        assert (tables.ad_step, tables.sd_step) == (125 * 10**9, 1875 * 10**8)


def test_room_and_shares() -> None:
    instance = make_instance(memory_bytes=101, lambda_grid=(0.0, 0.3, 1.0))
    tables = build_tables(instance)
    assert tables.room.tolist() == [room(instance, z) for z in instance.z_grid] == [77, 77, 89]
    assert tables.ad_room.tolist() == [[0, 23, 77], [0, 23, 77], [0, 26, 89]]
    assert tables.sd_room.tolist() == [[77, 53, 0], [77, 53, 0], [89, 62, 0]]
    assert tables.z_numerator.tolist() == [0, 1, 2]
    assert tables.z_denominator == 2


def test_a_server_too_small_for_the_models_serves_nobody() -> None:
    tables = build_tables(make_instance(make_user(), memory_bytes=11))
    assert (tables.room < 0).all()
    assert not tables.ad_allowed.any()
    assert not tables.sd_allowed.any()


def test_no_users() -> None:
    tables = build_tables(make_instance())
    assert tables.users == 0
    assert tables.ad_room.shape == (3, 3)


def test_ticks_grow_only_where_the_horizon_would_overflow() -> None:
    quick = make_instance(make_user())
    assert build_tables(quick).tick_exponent == -12
    slow = [
        make_user(f"u{k}", input_tokens=100, output_tokens=1000, deadline_s=1e12) for k in range(40)
    ]
    instance = make_instance(*slow, alpha_llm=1.0, memory_bytes=10**9)
    for tables in (build_tables(instance), build_tables(instance, rounded_up=False)):
        assert tables.tick_exponent > -12
        everyone = np.arange(40)
        assert tables.ad_allowed.all()
        assert tables.sd_allowed.all()
        assert 0 < ad_batch(tables, everyone)[0] <= LARGEST_SUM
        assert 0 < sd_batch(tables, everyone)[0] <= LARGEST_SUM
        assert tables.deadline.max() <= LARGEST_SUM + 1
        exact_s = Fraction(ad_latency(instance, instance.users, 1.0))
        fixed = upload_time(instance, slow[0]) + 1000 * exact(0.125)
        ratio = float(seconds(tables, ad_batch(tables, everyone)[0]) / (exact_s - fixed))
        assert math.isclose(ratio, 1, rel_tol=1e-9)


def test_extreme_magnitudes_do_not_overflow() -> None:
    users = [
        make_user("eternal", deadline_s=1e300),
        make_user("hopeless", deadline_s=1e-300),
        make_user("mute", uplink_hz=1e-300),
        make_user("deaf", downlink_hz=1e-300),
        make_user("endless", input_tokens=10**7, output_tokens=10**6, deadline_s=1e300),
    ]
    tables = build_tables(make_instance(*users, alpha_llm=1e9, memory_bytes=2**50))
    assert tables.ad_allowed.tolist()[1:4] == [False, False, False]
    for value in tables:
        if isinstance(value, np.ndarray) and value.dtype == np.int64:
            assert abs(value).max() <= 2**62
