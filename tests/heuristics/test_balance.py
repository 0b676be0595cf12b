"""The fast algorithms against the paper's enumeration, user by user, and against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from heuristics import printed as literal
from heuristics.balance import balance
from heuristics.baselines import most_ad, most_sd
from instances import CostTables, Instance, build_tables
from instances.assignment import AD, SD, Assignment, fits
from instances.feasible import is_feasible
from tests.heuristics.samples import drawn, instance, tight_half, trap, user

SAMPLES = [(seed, seed % 8) for seed in range(400)]


def printed(
    tables: CostTables, z_indices: list[int] | None = None, padded: bool = False
) -> Assignment:
    return literal.printed(tables, z_indices, padded=padded)[0]


def assert_same(found: Assignment, expected: Assignment, story: object) -> None:
    assert (found.z_index, found.lam_index) == (expected.z_index, expected.lam_index), story
    assert found.modes.tolist() == expected.modes.tolist(), story


def test_equals_the_printed_enumeration_user_by_user() -> None:
    for seed, users in SAMPLES:
        tables = build_tables(drawn(seed, users))
        for padded in (False, True):
            found = balance(tables, padded=padded)
            assert_same(found, printed(tables, padded=padded), (seed, users, padded))


def test_sub_problems_equal_the_printed_ones() -> None:
    for seed, users in SAMPLES[::4]:
        tables = build_tables(drawn(seed, users))
        nobody = np.zeros(users, np.bool_)
        for z, lam in np.ndindex(tables.ad_room.shape):
            for padded in (False, True):
                count = np.zeros(2, np.int64)
                ad = literal.algorithm1(tables, z, tables.ad_room[z, lam], padded, count)
                sd = literal.algorithm2(tables, z, tables.sd_room[z, lam], nobody, padded, count)
                assert most_ad(tables, z, lam, padded).tolist() == ad.tolist()
                assert most_sd(tables, z, lam, padded).tolist() == sd.tolist()


def subsets(tables: CostTables, mode: int, z: int, lam: int) -> int:
    """The largest set of users that fits one mode at a grid point."""
    for size in range(tables.users, 0, -1):
        for chosen in itertools.combinations(range(tables.users), size):
            modes = np.zeros(tables.users, np.int8)
            modes[list(chosen)] = mode
            if fits(tables, Assignment(modes, z, lam)):
                return size
    return 0


def test_sub_problems_are_solved_to_optimality() -> None:
    served = set()
    for seed in range(0, 120, 3):
        tables = build_tables(drawn(seed, 6))
        for z, lam in np.ndindex(tables.ad_room.shape):
            best = subsets(tables, AD, z, lam), subsets(tables, SD, z, lam)
            assert len(most_ad(tables, z, lam, False)) == best[0]
            assert len(most_sd(tables, z, lam, False)) == best[1]
            served |= set(best)
    assert served >= {0, 1, 2, 3, 4}


def test_every_schedule_is_exactly_feasible() -> None:
    for seed, users in SAMPLES[::3]:
        problem = drawn(seed, users)
        found = balance(build_tables(problem))
        assert fits(build_tables(problem), found)
        assert is_feasible(problem, found.to_schedule(problem), "P2")


def test_larger_instances_equal_the_printed_enumeration_at_a_few_points() -> None:
    tuples = 0
    for seed in range(8):
        tables = build_tables(drawn(seed, 14))
        points = [len(tables.room) // 2], [0, 1]
        expected, counters = literal.printed(tables, *points, padded=False)
        assert_same(balance(tables, *points), expected, seed)
        assert counters["users_scanned"] >= counters["tuples"]
        tuples += counters["tuples"]
    assert tuples > 10**5


def test_the_trap_serves_ten_exactly_and_four_as_printed() -> None:
    tables = build_tables(trap())
    assert balance(tables).served == 10
    assert balance(tables, padded=True).served == 4
    assert printed(tables, padded=True).served == 4


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_half_is_tight_in_the_printed_order(count: int) -> None:
    tables = build_tables(tight_half(count))
    found = balance(tables)
    assert found.modes.tolist() == [SD] * count + [0] * count
    modes = np.array([SD] * count + [AD] * count, np.int8)
    assert fits(tables, Assignment(modes, 1, 1))


def test_lengths_tie_by_position() -> None:
    # Room for two of three equal users: the first two of the file are served.
    users = [user(name, output_tokens=3, deadline_s=4.0) for name in "abc"]
    tables = build_tables(instance(users, memory_bytes=12 + 4 * (1 + 3) * 2))
    assert balance(tables, [2]).modes.tolist() == [AD, AD, 0]


EMPTY: dict[str, Instance] = {
    "nobody": instance([]),
    "no room for the LLM": instance([user("a")], memory_bytes=11),
    "nobody in time": instance([user("a", deadline_s=0.5)]),
    "nobody in time, shares 0 and 1": instance([user("a", deadline_s=0.5)], z_grid=(0, 1)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_where_nobody_can_be_served(name: str) -> None:
    tables = build_tables(EMPTY[name])
    assert balance(tables).served == printed(tables).served == 0


def test_room_to_the_byte() -> None:
    # Weights 12 B, one cache of 4 (1 + 1) B: 20 B serve one user, 19 B none.
    for memory, served in ((20, 1), (19, 0)):
        tables = build_tables(instance([user("a"), user("b")], memory_bytes=memory))
        assert balance(tables).served == served


def test_time_row_without_overflow_at_a_fine_share() -> None:
    # 10^9 times hours in picoseconds exceeds int64: the products would be wrong.
    users = [user(f"u{k}", output_tokens=k + 1, deadline_s=40000.0) for k in range(5)]
    slow = {"alpha_llm": 30.0, "alpha_slm": 1.0, "beta_llm": 1000.0}
    tables = build_tables(instance(users, z_grid=(0, 0.123456789, 1), **slow))
    assert tables.z_denominator * int(tables.deadline.max()) > 2**63
    found = balance(tables, [1])
    assert_same(found, printed(tables, [1]), "fine share")
    assert len(most_ad(tables, 1, 2, False)) == subsets(tables, AD, 1, 2) == 3
