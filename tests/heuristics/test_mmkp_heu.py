"""HEU: feasible always, near the published quality on the real files."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from heuristics.mmkp import heu
from instances.mmkp import MMKP, Item, ItemClass
from instances.mmkp_files import load_mmkp
from tests.mmkp_cases import random_mmkp

#: Upper bounds of I01-I13 (LP), certified or published.
UPPER = [182.72, 365.58, 1626.6, 3631.37, 3905.91, 4812.82]
UPPER += [24607.96, 36904.42, 49193.88, 61486.31, 73797.75, 86100.46, 98448.65]
#: What HEU reached in Khan et al.'s files.
PUBLISHED = [167, 354, 1533, 3437, 3899.1, 4799.3]
PUBLISHED += [23912, 35979, 47901, 59811, 71760, 84141, 96003]


@pytest.mark.parametrize("number", range(1, 14))
def test_real_instances(shared_data: Path, number: int) -> None:
    problem = load_mmkp(shared_data / "mmkp" / "khan" / f"I{number:02}")
    selection = heu(problem)
    assert selection is not None
    assert problem.feasible(selection)
    profit = float(problem.profit(selection))
    assert profit <= UPPER[number - 1]
    assert profit >= (0.88 if number == 1 else 0.97) * PUBLISHED[number - 1]


def test_what_it_returns_is_feasible() -> None:
    rng = random.Random(1)
    found = [(p, heu(p)) for p in (random_mmkp(rng, optional=k % 2 == 0) for k in range(200))]
    assert all(problem.feasible(s) for problem, s in found if s is not None)
    assert sum(s is not None for _, s in found) > 150


def test_downgrades_make_room_for_a_better_upgrade() -> None:
    """Step 3: both cheap upgrades fill the knapsack, but one big item beats them."""
    small = ItemClass((Item(0, (0,)), Item(5, (5,))))
    big = ItemClass((Item(0, (0,)), Item(100, (6,))))
    problem = MMKP((small, big), (10,))
    assert heu(problem) == (0, 1)


def test_none_when_nothing_fits_and_nothing_to_choose() -> None:
    assert heu(MMKP((ItemClass((Item(1, (2,)),)),), (1,))) is None
    assert heu(MMKP((ItemClass((Item(1, (2,)),), optional=True),), (1,))) == (None,)
    assert heu(MMKP((), (1,))) == ()


def test_numbers_beyond_int64() -> None:
    huge = 2**70
    group = ItemClass((Item(1, (huge,)), Item(2, (huge + 1,))))
    assert heu(MMKP((group, group), (2 * huge + 1,))) in {(0, 1), (1, 0)}
