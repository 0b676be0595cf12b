"""Exact latency and memory: by hand, against a token-by-token recount, and the paper's Figure 1."""

from __future__ import annotations

from fractions import Fraction
from statistics import mean

import numpy as np
import pytest
from helpers import UNIT, make_instance, make_user

from instances import Instance, Transformer, User, build_tables
from instances.assignment import ad_batch, sd_batch
from instances.catalog import hardware, model
from instances.exact import (
    accepted_drafts,
    ad_latency,
    ad_memory,
    download_time,
    remaining_budget,
    room,
    sd_iterations,
    sd_latency,
    sd_memory,
    sd_prefix,
    upload_time,
)
from instances.numbers import exact
from instances.randomness import Stream
from instances.workload import weight_bytes

LONG = make_user("long", input_tokens=2, output_tokens=3)
SHORT = make_user("short", input_tokens=1, output_tokens=1, acceptance_rate=0.0)
PAIR = make_instance(LONG, SHORT)


def test_transmission() -> None:
    user = make_user(output_tokens=5, deadline_s=2.0, downlink_hz=10.0, downlink_bps_per_hz=2.5)
    instance = make_instance(user, bits_per_token=4.0)
    assert upload_time(instance, user) == 2  # 4 bit * 2 tokens / 4 bit/s
    assert download_time(instance, user) == Fraction(4, 5)
    assert remaining_budget(instance, user) == Fraction(6, 5)


def test_ad_latency_by_hand() -> None:
    # Γp(2) = 24 + 16 = 40, Γa(2,1) = 24, Γa(2,2) = 28; upload 0.5, three passes of 0.125 s
    assert ad_latency(PAIR, PAIR.users, 0.5) == Fraction("0.5") + Fraction("0.375") + Fraction(
        (40 + 24 + 28) + 40, 500
    )


def test_sd_latency_by_hand() -> None:
    # Prefill 0.04 + 0.08 each; n = 1: Γv(2,1) = 24; n = 2 from P = 2.5: Γv(2.5,2) = 56, Γa = 26
    long, short = Fraction("0.252"), Fraction("0.144")
    fixed = Fraction("0.5") + 3 * Fraction("0.125") + 2 * Fraction("0.0625")
    assert sd_latency(PAIR, PAIR.users, 0.5) == fixed + 2 * (long + short)


def test_latency_until_part_of_the_answer_by_hand() -> None:
    # the numbers above, at z = 1/2: cut off after some tokens or iterations of each answer
    upload, share = Fraction("0.5"), Fraction(1, 2)
    for tokens, flops in ((1, 40 + 40), (2, (40 + 24) + 40), (3, (40 + 24 + 28) + 40)):
        end = upload + tokens * Fraction("0.125") + Fraction(flops, 1000) / share
        assert ad_latency(PAIR, PAIR.users, 0.5, tokens) == end
    for rounds, work in ((0, "0.240"), (1, "0.288"), (2, "0.396"), (3, "0.396")):
        passes = min(rounds, 2)
        fixed = upload + (passes + 1) * Fraction("0.125") + passes * Fraction("0.0625")
        assert sd_latency(PAIR, PAIR.users, 0.5, rounds) == fixed + Fraction(work) / share


def test_memory_by_hand() -> None:
    assert ad_memory(PAIR, PAIR.users) == 4 * ((2 + 3) + (2 + 1))  # (15)
    # (16): the long one's prefix is 2.5 tokens, the short one's 2
    assert sd_memory(PAIR, PAIR.users) == (4 * 3.5 + 4 * 4.5) + (4 * 3 + 4 * 4)
    assert ad_memory(PAIR, []) == sd_memory(PAIR, []) == 0


def test_room_counts_the_small_model_only_where_it_is_loaded() -> None:
    assert room(PAIR, 1.0) == 1000 - 12
    assert room(PAIR, 0.5) == room(PAIR, 0.0) == 1000 - 24
    assert room(make_instance(memory_bytes=11), 1.0) == -1


def test_grouped_heads_by_hand() -> None:
    # D = 2; the LLM's keys and values are 1 wide: 16 FLOP a token, 8 per context token, κ = 4 B
    whole = Transformer(layers=1, hidden_size=1, num_heads=2, head_dim=1, intermediate_size=1)
    instance = make_instance(LONG, llm=whole.model_copy(update={"kv_heads": 1}), slm=whole)
    waiting, alone = Fraction("0.5") + Fraction("0.375"), np.array([0])
    assert ad_latency(instance, [LONG], 1.0) == waiting + Fraction(64 + 40 + 48, 1000)
    assert ad_memory(instance, [LONG]) == 4 * (2 + 3)
    assert sd_memory(instance, [LONG]) == 8 * 3.5 + 4 * 4.5
    # weights: 2 B (2 (D + D_kv) + 2) and 2 B (4 D + 2)
    assert (room(instance, 1.0), room(instance, 0.5)) == (1000 - 16, 1000 - 16 - 20)
    tables = build_tables(instance)
    assert ad_batch(tables, alone) == (152 * 10**9, 20)
    assert sd_batch(tables, alone)[1] == 46
    assert tables.room.tolist() == [964, 964, 984]


def test_prefix_of_equation_10() -> None:
    assert [sd_prefix(n, 7, Fraction(3, 2)) for n in (1, 2, 3, 4)] == [7, 8.5, 11, 13.5]


@pytest.mark.parametrize("drafts", [1, 2, 5])
def test_every_draft_is_accepted_at_rate_one(drafts: int) -> None:
    # Erratum E5: the paper's closed form is 0/0 here.
    user = make_user(acceptance_rate=1.0, output_tokens=2 * (drafts + 1))
    assert accepted_drafts(user, drafts) == drafts
    assert sd_iterations(user, drafts) == 2


def test_no_draft_is_accepted_at_rate_zero() -> None:
    user = make_user(acceptance_rate=0.0, output_tokens=9)
    assert accepted_drafts(user, 4) == 0
    assert sd_iterations(user, 4) == 9


def test_accepted_drafts_are_a_power_sum() -> None:
    assert accepted_drafts(make_user(acceptance_rate=0.5), 3) == Fraction(7, 8)
    assert sd_iterations(make_user(acceptance_rate=0.5, output_tokens=3), 1) == 2


def recount_ad(instance: Instance, users: tuple[User, ...], z: float) -> Fraction:
    """AD latency by decoding token by token on the unit model (12 FLOP, 4 per context token)."""
    padded, flops = max(u.input_tokens for u in users), 0
    for user in users:
        flops += sum(12 + 4 * padded for _ in range(padded))  # the paper's 4 L², not causal
        context = padded
        for _ in range(user.output_tokens - 1):
            context += 1
            flops += 12 + 4 * context
    passes = max(u.output_tokens for u in users)
    late = max(Fraction(u.input_tokens, 4) for u in users)
    speed = exact(instance.hardware.alpha_llm) / exact(z)
    return late + passes * exact(instance.hardware.beta_llm) + speed * flops


def recount_sd(instance: Instance, users: tuple[User, ...], z: float) -> Fraction:
    """SD latency by walking through the iterations, keeping the prefix as it grows."""
    server, drafts = instance.hardware, instance.draft_length
    rates = [exact(u.acceptance_rate) for u in users]
    kept = [sum((rate**p for p in range(1, drafts + 1)), Fraction(0)) for rate in rates]
    padded, most = max(u.input_tokens for u in users), max(kept)
    large = small = Fraction(0)
    passes = 0
    for user, accepted in zip(users, kept, strict=True):
        large += padded * (12 + 4 * padded)
        small += padded * (12 + 4 * padded)
        prefix, made, rounds = Fraction(padded), Fraction(0), 0
        while made < user.output_tokens:
            first = rounds == 0
            for position in range(1, drafts + (not first) + 1):
                large += 12 + 4 * (prefix + position)
            for position in range(1, drafts + (not first)):
                small += 12 + 4 * (prefix + position)
            prefix += most if first else most + 1
            made += accepted + 1
            rounds += 1
        passes = max(passes, rounds)
    work = exact(server.alpha_llm) * large + exact(server.alpha_slm) * small
    late = max(Fraction(u.input_tokens, 4) for u in users)
    fixed = exact(server.beta_llm) * (passes + 1) + passes * drafts * exact(server.beta_slm)
    return late + fixed + work / (1 - exact(z))


def random_users(stream: Stream) -> tuple[User, ...]:
    return tuple(
        make_user(
            f"u{k}",
            input_tokens=stream.integer(1, 9),
            output_tokens=stream.integer(1, 12),
            acceptance_rate=stream.choice((0.0, 1.0, 0.25, 0.7, stream.uniform(0, 1))),
        )
        for k in range(stream.integer(1, 4))
    )


@pytest.mark.parametrize("seed", range(25))
def test_latency_equals_a_token_by_token_recount(seed: int) -> None:
    stream = Stream("recount", seed)
    users = random_users(stream)
    instance = make_instance(*users, draft_length=stream.integer(1, 4))
    z = stream.choice((0.1, 0.3, 0.5, 0.9))
    assert ad_latency(instance, users, z) == recount_ad(instance, users, z)
    assert sd_latency(instance, users, z) == recount_sd(instance, users, z)


def figure_1(output_tokens: int, drafts: int) -> tuple[float, float]:
    """Return SD's extra memory and saved latency over AD for the paper's single user."""
    user = make_user(input_tokens=500, output_tokens=output_tokens, acceptance_rate=0.7)
    instance = make_instance(
        user,
        llm=model("Llama-2-7B"),
        slm=model("TinyLlama-1.1B"),
        draft_length=drafts,
        **hardware("RTX 4090").model_dump(exclude={"name"}),
    )
    large = weight_bytes(instance.llm, 2)
    ad_bytes = large + ad_memory(instance, [user])
    sd_bytes = large + weight_bytes(instance.slm, 2) + sd_memory(instance, [user])
    wait = upload_time(instance, user)  # the figure starts when the prompt is in
    ad_s = ad_latency(instance, [user], 1.0) - wait
    sd_s = sd_latency(instance, [user], 0.0) - wait
    return float(sd_bytes / ad_bytes) - 1, 1 - float(sd_s / ad_s)


def test_figure_1_memory() -> None:
    extra = [figure_1(tokens, 1)[0] for tokens in range(100, 1001, 100)]
    assert mean(extra) == pytest.approx(0.183, abs=0.0005)
    assert 0.1785 <= min(extra) <= max(extra) <= 0.1875


@pytest.mark.parametrize(("drafts", "low", "high"), [(1, 30, 32), (2, 38, 40), (3, 40, 42)])
def test_figure_1_latency(drafts: int, low: int, high: int) -> None:
    for tokens in (100, 500, 1000):
        assert low - 0.5 <= 100 * figure_1(tokens, drafts)[1] <= high + 0.5


def test_unit_model_is_what_the_hand_computations_assume() -> None:
    assert weight_bytes(UNIT, 2) == 12
