"""The reduction from EQUAL-CARDINALITY PARTITION holds, and a broken one is caught."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

import formulations
from instances import Instance, Result, partition
from verify.reduction_checks import draw_hardness, draw_mapping
from verify.reduction_hardness import check_partition, draw_integers


def p1(instance: Instance) -> Result:
    return formulations.solve(instance, "P1", "exhaustive")


def hardness_kinds(reduce: Any = partition.equal_cardinality_partition) -> set[str]:
    found: set[str] = set()
    for integers in ([1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 6], [2, 2, 3, 1, 1, 3], [5, 1]):
        found |= check_partition(integers, p1, reduce)["faults"].keys()
    return found


def test_hardness_holds() -> None:
    assert hardness_kinds() == set()


def moved(name: str, seconds: float) -> Any:
    """A reduction with one special user's deadline moved by about one unit of s."""

    def reduce(integers: Sequence[int]) -> Instance:
        instance = partition.equal_cardinality_partition(integers)
        unit = 1e-12 * 8 * instance.llm.intermediate_size
        users = tuple(
            user.model_copy(update={"deadline_s": user.deadline_s + seconds * unit})
            if user.id == name
            else user
            for user in instance.users
        )
        return instance.model_copy(update={"users": users})

    return reduce


@pytest.mark.parametrize("name", ["ad-only", "sd-only"])
def test_a_deadline_off_by_about_one_unit_is_caught(name: str) -> None:
    assert "hard_if" in hardness_kinds(moved(name, -4))


def test_both_deadlines_one_unit_late_is_caught() -> None:
    def reduce(integers: Sequence[int]) -> Instance:
        first = moved("ad-only", 4)(integers)
        second = moved("sd-only", 6)(integers)
        return first.model_copy(update={"users": (*first.users[:-1], second.users[-1])})

    assert "hard_only_if" in hardness_kinds(reduce)


def test_special_users_that_may_change_modes_are_caught() -> None:
    """Without ad-only's deadline everyone can be served where no half exists."""

    def reduce(integers: Sequence[int]) -> Instance:
        instance = partition.equal_cardinality_partition(integers)
        free = [u.model_copy(update={"deadline_s": 1e6}) for u in instance.users]
        return instance.model_copy(update={"users": tuple(free)})

    assert "hard_only_if" in hardness_kinds(reduce)


def test_a_solver_that_misses_the_half_is_caught_and_one_that_gives_up_is_open() -> None:
    def misses(instance: Instance) -> Result:
        return p1(instance).model_copy(update={"bound": len(instance.users) - 1, "schedule": None})

    def gives_up(instance: Instance) -> Result:
        return p1(instance).model_copy(update={"bound": len(instance.users), "schedule": None})

    assert "hard_if" in check_partition([1, 2, 3, 4], misses)["faults"]
    answer = check_partition([1, 2, 3, 5], gives_up)
    assert (answer["faults"], answer["open"]) == ({}, True)


def test_drawn_integers_are_of_both_kinds_and_all_sizes() -> None:
    rng = random.Random(0)
    drawn = [draw_integers(rng) for _ in range(200)]
    yes = [partition.equal_half(integers) is not None for integers in drawn]
    assert 60 < sum(yes) < 140
    assert {len(integers) for integers in drawn} == {2, 4, 6, 8, 10, 12}
    assert max(map(sum, drawn)) > 500
    assert any(sum(d) % 2 == 0 and not y for d, y in zip(drawn, yes, strict=True))


def test_a_seed_draws_the_same_again() -> None:
    assert draw_mapping(5) == draw_mapping(5)
    assert draw_hardness(5) == draw_hardness(5)
    assert draw_mapping(5) != draw_mapping(6)
