"""The hardness reduction: exact numbers, and both directions against brute force in rationals."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest

from instances import Instance, User, build_tables, dumps, exact, loads
from instances.partition import equal_cardinality_partition, equal_half


def subsets(users: Sequence[User]) -> Iterator[frozenset[str]]:
    for size in range(len(users) + 1):
        for chosen in itertools.combinations(users, size):
            yield frozenset(user.id for user in chosen)


def on_time(instance: Instance, names: frozenset[str], latency: Fraction) -> bool:
    users = [instance.users[instance.index[name]] for name in names]
    return all(latency <= exact.remaining_budget(instance, user) for user in users)


def all_served(instance: Instance) -> list[frozenset[str]]:
    """Return every AD batch with which all users are served: each z, each subset, in rationals."""
    everyone = frozenset(user.id for user in instance.users)
    found = []
    for z in instance.z_grid:
        for ad in subsets(instance.users):
            sd = everyone - ad
            if (ad and z == 0) or (sd and z == 1):
                continue
            x = [user for user in instance.users if user.id in ad]
            y = [user for user in instance.users if user.id in sd]
            if exact.ad_memory(instance, x) + exact.sd_memory(instance, y) > exact.room(
                instance, z
            ):
                continue
            if x and not on_time(instance, ad, exact.ad_latency(instance, x, z)):
                continue
            if y and not on_time(instance, sd, exact.sd_latency(instance, y, z)):
                continue
            found.append(ad)
    return found


def agrees(integers: list[int]) -> bool:
    """Check one question both ways; return its answer."""
    batches = all_served(equal_cardinality_partition(integers))
    for ad in batches:
        assert "ad-only" in ad
        assert "sd-only" not in ad
        chosen = [integers[int(name.removeprefix("item-")) - 1] for name in ad - {"ad-only"}]
        assert 2 * len(chosen) == len(integers)
        assert 2 * sum(chosen) == sum(integers)
    assert bool(batches) == (equal_half(integers) is not None)
    return bool(batches)


@pytest.mark.parametrize(
    ("integers", "yes"),
    [
        ([1, 1], True),
        ([1, 2], False),
        ([1, 3], False),
        ([7, 7, 7, 7], True),
        ([1, 2, 3, 4], True),
        ([1, 2, 3, 5], False),
        ([1, 2, 3, 6], False),
        ([1, 1, 1, 3], False),  # half of the sum exists, but not with half of the integers
        ([-5, 4, 0, -1], True),
        ([-3, 4, 0, 1], True),
        ([3, 1, 1, 2, 2, 1], True),
        ([5, 1, 1, 2, 2, 1], False),
    ],
)
def test_both_directions(integers: list[int], yes: bool) -> None:
    assert agrees(integers) == yes


@pytest.mark.parametrize("size", [2, 4])
def test_both_directions_on_random_integers(size: int) -> None:
    rng = random.Random(size)
    answers = [agrees([rng.randint(1, 6) for _ in range(size)]) for _ in range(25)]
    assert any(answers)
    assert not all(answers)


@pytest.mark.slow
def test_both_directions_up_to_six_and_large_sums() -> None:
    rng = random.Random(6)
    answers = [agrees([rng.randint(1, 9) for _ in range(6)]) for _ in range(20)]
    answers += [agrees([1, 332, 333, 334]), agrees([1, 331, 333, 335]), agrees([1, 999])]
    assert any(answers)
    assert not all(answers)


def test_equal_half() -> None:
    assert equal_half([1, 2, 3, 4]) == (0, 3)
    assert equal_half([1, 1, 1, 3]) is None
    assert equal_half([1, 2]) is None


def extremes() -> list[list[int]]:
    """Twelve positive integers with a sum of 1000: all close, all far, and in between."""
    return [
        [1] * 11 + [989],
        [83] * 8 + [84] * 4,
        [1] * 6 + [165] * 4 + [167] * 2,
        [1] * 10 + [495, 495],
        [1, 999],
        [1, 1, 499, 499],
    ]


@pytest.mark.parametrize("integers", extremes())
def test_sums_of_a_thousand_are_exact_in_files_and_tables(integers: list[int]) -> None:
    """Up and down tables agree (no cost was rounded), and one unit is thousands of ticks."""
    instance = equal_cardinality_partition(integers)
    assert loads(dumps(instance)) == instance
    up, down = build_tables(instance), build_tables(instance, rounded_up=False)
    assert up.tick_exponent == -12
    for name, costs in up._asdict().items():
        if name != "rounded_up":
            np.testing.assert_array_equal(costs, getattr(down, name))
    assert up.ad_slope.min() >= 0
    fraction = exact.remaining_budget(instance, instance.users[-1]) * 10**12
    assert fraction.denominator == 1


def test_a_constant_added_to_all_changes_nothing() -> None:
    near, far = [1, 2, 3, 5], [10**12 + value for value in (1, 2, 3, 5)]
    assert equal_cardinality_partition(near).users == equal_cardinality_partition(far).users


@pytest.mark.parametrize("integers", [[], [1], [1, 2, 3], [10**5, 1], [10**12, 1]])
def test_refuses_what_it_cannot_write_exactly(integers: list[int]) -> None:
    with pytest.raises(ValueError, match=r"even number|too far apart"):
        equal_cardinality_partition(integers)
    with pytest.raises(TypeError):
        equal_cardinality_partition([0.5, 1.5])  # type: ignore[list-item]
