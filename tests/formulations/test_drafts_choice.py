"""The draft length as a choice: the best of all lengths, by every way that solves an instance."""

from __future__ import annotations

from typing import Any

import pytest

import formulations
import heuristics
import verify
from formulations.proof import prove
from instances import Instance, Result, Schedule, Status, drafts
from instances.generators import generate
from verify.brute import Brute
from verify.guarantee import Guarantee
from verify.sources import from_files


def choosing(family: str, users: int, seed: int, *lengths: int) -> Instance:
    instance = generate(family, users, seed, draft_length=lengths[0])
    return instance.model_copy(update={"draft_lengths": lengths})


@pytest.mark.parametrize("problem", ["P1", "P2"])
def test_the_optimum_is_the_best_of_all_lengths(problem: Any) -> None:
    chosen = set()
    for seed in range(3):
        instance = choosing("paper-5a", 6, seed, 1, 2, 4)
        grid = None if problem == "P1" else instance.lambda_grid
        best = max(Brute(drafts.at(instance, n)).most_served(grid) for n in (1, 2, 4))
        result = formulations.solve(instance, problem)
        assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, best, best)
        assert result.schedule is not None
        chosen.add(result.schedule.draft_length)
        assert verify.check(instance, result.schedule, problem).feasible
        balance = heuristics.solve(instance)
        assert balance.schedule is not None
        report = verify.check(instance, balance.schedule, "P2")
        assert report.feasible
        assert balance.objective == report.served <= best <= 2 * report.served
    assert chosen - {1}, "a longer draft pays somewhere"


def test_the_judge_minds_the_set() -> None:
    instance = choosing("paper-4a", 4, 1, 1, 2)
    report = verify.check(instance, Schedule(z=0.5, draft_length=5))
    assert report.violations == {"draft_lengths": 1}
    assert verify.check(instance, Schedule(z=0.5, draft_length=2)).feasible


def test_bound_counts_instances_with_a_choice() -> None:
    row = Guarantee(from_files([])).examine(choosing("paper-4a", 6, 2, 1, 3))
    assert row["faults"] == {}
    assert 2 * row["served"] >= row["p1"][1]


def test_starts_and_limits() -> None:
    instance = choosing("paper-5a", 8, 1, 1, 3)
    best = formulations.solve(instance, time_limit=60)
    assert formulations.solve(instance, start=best).objective == best.objective
    assert set(best.statistics["draft_lengths"]) == {"1", "3"}
    with pytest.raises(ValueError, match="draft length 2 is not one of"):
        formulations.solve(instance, start=Schedule(z=0.5, draft_length=2))
    with pytest.raises(ValueError, match="its draft length 3 is not the instance's"):
        formulations.solve(drafts.at(instance, 1), start=Schedule(z=0.5, draft_length=3))
    with pytest.raises(ValueError, match="choice of draft lengths"):
        prove(instance, 3)
    brief = formulations.solve(instance, solver="highs", time_limit=1e-4, start=False)
    assert brief.stopped_by == "time_limit"
    assert brief.bound is not None
    assert brief.bound >= (best.objective or 0)


def all_in_sd(instance: Instance) -> Schedule:
    return Schedule(z=0.0, sd=(instance.users[0].id,), draft_length=4)


def test_own_algorithms_name_their_length() -> None:
    instance = choosing("paper-5a", 3, 1, 1, 4)
    own: Result = heuristics.solve(instance, f"{__name__}:all_in_sd")
    assert own.schedule is not None
    assert own.status is Status.FEASIBLE
    assert verify.check(instance, own.schedule).feasible
    with pytest.raises(ValueError, match="draft length 4 is not the instance's"):
        heuristics.solve(drafts.at(instance, 1), f"{__name__}:all_in_sd")
