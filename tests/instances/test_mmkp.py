"""The MMKP's data: validation, exact evaluation, multiplying up to integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from instances.mmkp import MMKP, Item, ItemClass, to_integers


def two_classes() -> MMKP:
    first = ItemClass((Item(3, (1, 0)), Item(Fraction(9, 2), (2, Fraction(1, 3)))))
    second = ItemClass((Item(1, (1, Fraction(1, 2))),), optional=True)
    return MMKP((first, second), (3, Fraction(5, 6)))


def test_evaluates_exactly_and_accepts_a_full_resource() -> None:
    problem = two_classes()
    assert problem.profit((1, 0)) == Fraction(11, 2)
    assert problem.usage((1, 0)) == (3, Fraction(5, 6))
    assert problem.feasible((1, 0))


def test_one_grain_beyond_the_capacity_is_infeasible_and_measured() -> None:
    problem = two_classes()
    grain = Fraction(1, 10**30)
    tight = MMKP(problem.classes, (3, Fraction(5, 6) - grain))
    assert not tight.feasible((1, 0))
    assert tight.excess((1, 0)) == (0, grain)
    assert tight.feasible((1, None))


def test_only_an_optional_class_may_go_without() -> None:
    problem = two_classes()
    assert problem.feasible((0, None))
    assert not problem.feasible((None, 0))


@pytest.mark.parametrize("selection", [(0,), (0, 0, 0), (2, 0), (-1, 0), (0, 1)])
def test_a_malformed_selection_is_refused(selection: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"choices|position"):
        two_classes().feasible(selection)


@pytest.mark.parametrize("value", [0.5, "1", True, float("nan"), None])
def test_only_exact_numbers_are_taken(value: object) -> None:
    with pytest.raises(ValueError, match="int or a Fraction"):
        Item(value, (1,))  # type: ignore[arg-type]


def test_bad_data_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="weight must not be negative"):
        Item(1, (-1,))
    with pytest.raises(ValueError, match="capacity must not be negative"):
        MMKP((), (-1,))
    with pytest.raises(ValueError, match="class 1, item 2: has 2 weights for 1"):
        MMKP((ItemClass((Item(1, (1,)), Item(1, (1, 2)))),), (5,))
    with pytest.raises(ValueError, match="must have items"):
        ItemClass(())


def test_numpy_integers_and_whole_fractions_become_int() -> None:
    item = Item(np.int64(3), (Fraction(4, 2),))  # type: ignore[arg-type]
    assert type(item.profit) is int
    assert type(item.weights[0]) is int


def test_integers_keep_selections_and_their_order() -> None:
    problem = two_classes()
    integers, scale = to_integers(problem)
    assert scale == 2
    assert integers.capacities == (3, 5)
    for selection in [(0, None), (0, 0), (1, None), (1, 0)]:
        assert integers.profit(selection) == scale * problem.profit(selection)
        assert integers.feasible(selection) == problem.feasible(selection)
