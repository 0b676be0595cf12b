"""Theorem 2: the counter is the printed algorithm, and it sees an algorithm that does more."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest

from heuristics.printed import algorithm1, algorithm2
from instances import build_tables, generate
from instances.commandline import Exit
from verify import propositions
from verify.operations_count import (
    ad_mode,
    count_operations,
    enumerate_tuples,
    grows,
    sd_mode,
    worst_instance,
)
from verify.reduction_sharp import sharpened


@pytest.mark.parametrize("family", ["memory-tight", "ties", "printed-trap", "deadline-tight"])
def test_counted_algorithms_serve_what_the_printed_ones_serve(family: str) -> None:
    tables = build_tables(generate(family, 7, 1))
    operations, nobody = np.zeros(2, np.int64), np.zeros(7, np.bool_)
    whole = tables.z_denominator
    for z, lam in ((0, 5), (3, 2), (5, 7), (9, 10), (10, 4)):
        share = int(tables.z_numerator[z])
        ad_room, sd_room = int(tables.ad_room[z, lam]), int(tables.sd_room[z, lam])
        ad = enumerate_tuples(ad_mode(tables), share, whole, ad_room)[1]
        sd = enumerate_tuples(sd_mode(tables), whole - share, whole, sd_room)[1]
        assert ad == len(algorithm1(tables, z, ad_room, True, operations))
        assert sd == len(algorithm2(tables, z, sd_room, nobody, True, operations))


FAMILIES = ("paper-4a", "memory-tight", "deadline-tight", "ties", "no-ad", "wide")


def test_both_transcriptions_of_the_printed_loops_agree_on_random_instances() -> None:
    """`operations_count` and `heuristics.printed` serve as many, on a knife's edge too."""
    rng, shown = random.Random(2), set()
    for seed, family in enumerate(FAMILIES * 2):
        users = rng.randint(4, 8 if seed % 2 else 6)
        instance = generate(family, users, seed)
        if rng.random() < 0.7:
            instance = sharpened(instance, 0.5, 0.5, rng)
        tables, nobody = build_tables(instance), np.zeros(users, np.bool_)
        whole, points = tables.z_denominator, list(np.ndindex(tables.ad_room.shape))
        for z, lam in rng.sample(points, 3):
            share, operations = int(tables.z_numerator[z]), np.zeros(2, np.int64)
            ad_room, sd_room = int(tables.ad_room[z, lam]), int(tables.sd_room[z, lam])
            ad = enumerate_tuples(ad_mode(tables), share, whole, ad_room)[1]
            sd = enumerate_tuples(sd_mode(tables), whole - share, whole, sd_room)[1]
            assert ad == len(algorithm1(tables, z, ad_room, True, operations))
            assert sd == len(algorithm2(tables, z, sd_room, nobody, True, operations))
            shown |= {("ad", ad), ("sd", sd)}
    assert len(shown) > 6


def test_one_user_can_be_counted_by_hand() -> None:
    tables = build_tables(worst_instance(1))
    # 2^4 tuples. L1 = 0 (8 of them): one comparison. L1 = 1, L2 = 0 (4): two. The deadline -T and 0
    # admit (T < 0 never binds), so of the last four two fail at the upload after four comparisons,
    # and two admit the user: four comparisons, a price and four steps of the sum.
    operations, served = enumerate_tuples(ad_mode(tables), 1, 2, int(tables.room[1]))
    assert operations == 16 + 8 * 1 + 4 * 2 + 2 * 4 + 2 * (4 + 1 + 4)
    assert served == 1


def test_quotients_do_not_grow() -> None:
    counts = [count_operations(users) for users in (4, 6, 8, 10)]
    assert all(count.served == (count.users, count.users) for count in counts)
    assert grows(counts) == (False, False)


def test_one_more_loop_is_seen() -> None:
    counts = [count_operations(users) for users in (4, 6, 8, 10)]
    longer = [
        dataclasses.replace(c, operations=(c.operations[0], c.operations[1] * (c.users + 1) ** 2))
        for c in counts
    ]
    assert grows(longer) == (False, True)


def test_growth_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(propositions, "SIZES", (4, 6))
    monkeypatch.setattr(propositions, "grows", lambda counts: (True, False))
    assert propositions.main(claim=["theorem2"]) is Exit.VIOLATION
    assert "FAIL" in capsys.readouterr().out


def test_theorem_2_alone_passes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(propositions, "SIZES", (4, 6))
    assert propositions.main(claim=["theorem2"]) is Exit.HELD
    assert "quotient never rises" in capsys.readouterr().out
