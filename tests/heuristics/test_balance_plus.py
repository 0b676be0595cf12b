"""Balance both ways: never worse than Algorithm 3, never infeasible, better where it should be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from heuristics.api import solve
from heuristics.balance import balance
from heuristics.balance_plus import improved
from heuristics.task import Task
from heuristics.walk import walk
from instances import generate
from instances.assignment import Assignment, fits
from instances.families import find, names
from verify import check


@pytest.mark.parametrize("family", names())
def test_never_worse_than_algorithm_3(family: str) -> None:
    for seed in range(5):
        instance = generate(family, users=max(24, find(family).fewest), seed=seed)
        task = Task(instance)
        found = improved(task)
        assert fits(task.tables, found)
        assert found.served >= balance(task.tables).served


#: Certified optima of seeds 1, 2, ...
OPTIMA = {"paper-4a": [24, 26, 24, 29, 26, 25, 22, 25, 23, 26], "paper-5a": [18, 18, 20, 20, 21]}


@pytest.mark.parametrize("family", OPTIMA)
def test_enough_effort_proves_the_optimum(family: str) -> None:
    for seed, optimum in enumerate(OPTIMA[family][:4], 1):
        result = solve(generate(family, users=30, seed=seed), "balance+", effort=30)
        assert (result.objective, result.bound, result.status) == (optimum, optimum, "optimal")
        assert result.options["effort"] == 30


def test_close_to_the_optimum_without() -> None:
    served = [
        solve(generate("paper-4a", users=30, seed=seed), "balance+").objective
        for seed in range(1, 11)
    ]
    assert served == OPTIMA["paper-4a"]


def test_a_walk_never_loses_a_user_and_finds_the_same_again() -> None:
    gained = 0
    for family, lam in itertools.product(("paper-4a", "paper-5a", "memory-tight"), (None, 0.5)):
        task = Task(generate(family, users=70, seed=13), lam=lam)
        index = None if lam is None else task.lam_indices[0]
        start = balance(task.tables, task.z_indices, task.lam_indices)
        start = Assignment(start.modes, start.z_index, index)
        found = walk(task, start, 3_000)
        assert fits(task.tables, found)
        assert found.served >= start.served
        assert (found.modes == walk(task, start, 3_000).modes).all()
        gained += found.served - start.served
    assert gained > 0


def test_effort_is_an_option_of_balance_plus_only() -> None:
    instance = generate("tiny", users=3, seed=0)
    with pytest.raises(ValueError, match="balance: knows no effort"):
        solve(instance, effort=2)
    with pytest.raises(ValueError, match="at least 1"):
        solve(instance, "balance+", effort=0)


@pytest.mark.parametrize("users", [4, 6, 8])
def test_everybody_is_served_where_algorithm_3_is_tight(users: int) -> None:
    instance = generate("tight-half", users=users, seed=1)
    result = solve(instance, "balance+")
    assert result.objective == users
    assert result.schedule is not None
    assert check(instance, result.schedule).feasible


def test_a_fixed_split_is_kept() -> None:
    instance = generate("paper-5a", users=30, seed=4)
    result = solve(instance, "balance+", z=0.5, lam=0.4)
    assert result.schedule is not None
    assert (result.schedule.z, result.schedule.lam, result.problem) == (0.5, 0.4, "P3")
    assert check(instance, result.schedule, "P3").feasible
    least = solve(instance, "balance", z=0.5, lam=0.4).objective
    assert least is not None
    assert np.greater_equal(result.objective, least)


def test_padded_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="padded"):
        solve(generate("tiny", users=3, seed=0), "balance+", memory="padded")
