"""Nothing that the threshold search cuts off holds an answer: boxes around a known schedule.

Dominance keeps one schedule of those that serve `goal` users at a (z, λ): one with the least
Σ_X L^O + Σ_Y N. Random boxes around such a schedule must never be called empty, whatever the
prices, and must still hold it after counting and pegging.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from heuristics import threshold_bound as bd
from heuristics import threshold_levels as ix
from heuristics import threshold_peg as peg
from heuristics.threshold_count import tighten
from heuristics.threshold_levels import Integers, Levels, Shares, build_levels, trees
from heuristics.threshold_search import new_space
from instances import CostTables, build_tables
from instances.assignment import AD, SD, Assignment, fits
from instances.generators import generate


@njit(cache=True, error_model="numpy")
def probe(lv, sh, space, box, prices, goal, rounds, steps):  # type: ignore[no-untyped-def]
    """Tighten, bound at each row of prices, improve the last one, and peg.

    Returns whether the box survived, the least S / margin, the two pegging states, and the number
    of improvements that made S larger.
    """
    users = len(lv.options)
    c, r, scratch = space.costs, space.rewards, space.price[1:]
    if not tighten(lv, sh, c, box[0], box[1], goal, rounds):
        return False, 0.0, 0, 0, 0
    least, worse = np.inf, 0
    states = (0, 0)
    for i in range(len(prices)):
        price = prices[i]
        slack = bd.lagrangian(c, users, price, goal, sh.joint, scratch[1])
        least = min(least, slack / bd.margin(price, users))
        better = bd.improve(c, users, price, goal, sh.joint, steps, scratch)
        worse += int(better > slack)
        least = min(least, better / bd.margin(price, users))
        peg.reward(c, users, price, r)
        first = peg.peg_users(lv, c, r, box[0], box[1], price, better)
        second = peg.peg_levels(lv, sh, c, r, box[0], box[1], price, better, goal)
        states = (min(states[0], first), min(states[1], second))
    return True, least, states[0], states[1], worse


class Known(NamedTuple):
    """A schedule that the search must keep."""

    modes: Integers
    z: int
    lam: int
    goal: int


def least_schedules(tables: CostTables, sh: Shares, rng: np.random.Generator) -> list[Known]:
    """The dominance's schedule for each number of users, at one random z and λ of the tree."""
    z = int(rng.integers(len(sh.z)))
    lam = int(rng.integers(sh.room.shape[1]))
    best: dict[int, tuple[int, Integers]] = {}
    for choice in itertools.product((0, 1, 2), repeat=tables.users):
        modes = np.array(choice, np.int8)
        goal = int(np.count_nonzero(modes))
        weight = int(tables.output_tokens[modes == AD].sum() + tables.iterations[modes == SD].sum())
        if goal and (goal not in best or weight < best[goal][0]):
            point = Assignment(modes, int(sh.z[z]), None if sh.joint else int(sh.lam[lam]))
            if fits(tables, point):
                best[goal] = weight, modes
    return [Known(modes, z, lam, goal) for goal, (_, modes) in best.items()]


def thresholds(lv: Levels, known: Known) -> tuple[Integers, Integers]:
    """The levels of the schedule's batches (0 if empty) and whether each dimension binds it."""
    level, bound = np.zeros(ix.DIMENSIONS, np.int64), np.ones(ix.DIMENSIONS, np.bool_)
    for d in range(ix.THRESHOLDS):
        users = np.flatnonzero(known.modes == (AD if d < ix.SIDE else SD))
        bound[d] = users.size > 0
        level[d] = lv.rank[d, users].max(initial=0)
    level[ix.SHARE :] = known.z, known.lam, np.count_nonzero(known.modes == AD)
    return level, bound


def random_box(
    lv: Levels, sh: Shares, known: Known, rng: np.random.Generator
) -> tuple[Integers, Integers, Integers]:
    level, bound = thresholds(lv, known)
    most = np.empty(ix.DIMENSIONS, np.int64)
    most[: ix.THRESHOLDS] = lv.ordered.max(axis=1, initial=0)
    most[ix.SHARE :] = len(sh.z) - 1, sh.room.shape[1] - 1, known.goal
    low, high = np.zeros(ix.DIMENSIONS, np.int64), most.copy()
    for d in range(ix.DIMENSIONS):
        if bound[d] and rng.random() < 0.7:
            low[d] = rng.integers(level[d] + 1)
            high[d] = rng.integers(level[d], most[d] + 1)
    return level, bound, np.array([low, high])


def random_prices(goal: int, joint: bool, rng: np.random.Generator) -> np.ndarray:
    prices = np.zeros((6, bd.PRICES))
    prices[:, :3] = rng.dirichlet(np.ones(3), 6)
    prices[:, bd.SD_BYTES] = prices[:, bd.AD_BYTES]
    if not joint:
        prices[:, :4] = rng.dirichlet(np.ones(4), 6)
    prices[:, bd.AD_MOST :] = rng.exponential(1 / goal, (6, 3))
    prices[rng.random(6) < 0.5, bd.AD_MOST : bd.USER] = 0
    return prices


@pytest.mark.parametrize(
    "family", ["paper-4a", "paper-5a", "memory-tight", "deadline-tight", "ties", "wide"]
)
def test_no_box_around_a_schedule_is_called_empty(family: str) -> None:
    rng = np.random.default_rng(3)
    boxes = 0
    for seed in range(4):
        tables = build_tables(generate(family, 6, seed), bool(seed % 2))
        full = build_levels(tables)
        for lam in (None, tuple(range(tables.ad_room.shape[1]))):
            for sh in trees(tables, tuple(range(len(tables.room))), lam):
                quiet = sh._replace(least_ad=0, least_sd=0)  # these move schedules to other z
                for known in least_schedules(tables, sh, rng):
                    for _ in range(3):
                        lv = full._replace(options=full.options.copy())
                        space = new_space(lv, [quiet])
                        level, bound, box = random_box(lv, sh, known, rng)
                        prices = random_prices(known.goal, sh.joint, rng)
                        alive, least, users, levels, worse = probe(
                            lv, quiet, space, box, prices, known.goal, int(rng.integers(1, 4)), 10
                        )
                        assert alive
                        assert least >= -1
                        assert users != peg.EMPTY
                        assert levels != peg.EMPTY
                        assert worse == 0
                        assert (box[0] <= level)[bound].all()
                        assert (level <= box[1])[bound].all()
                        bit = np.array([ix.MAY_WAIT, ix.MAY_AD, ix.MAY_SD])[known.modes]
                        assert (lv.options & bit > 0).all()
                        boxes += 1
    assert boxes > 50
