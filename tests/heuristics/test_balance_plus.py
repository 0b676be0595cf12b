"""Balance both ways: never worse than Algorithm 3, never infeasible, better where it should be."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.api import solve
from heuristics.balance import balance
from heuristics.balance_plus import improved
from heuristics.task import Task
from instances import generate
from instances.assignment import fits
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


def test_better_on_the_papers_instances() -> None:
    gains = []
    for seed in range(1, 11):
        task = Task(generate("paper-4a", users=30, seed=seed))
        gains.append(improved(task).served - balance(task.tables).served)
    assert sum(gains) >= 2


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
