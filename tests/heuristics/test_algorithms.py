"""`heuristics.solve`: every algorithm, what it fixes, what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import free_work, printed_balance

import formulations
import heuristics
from heuristics.api import ALGORITHMS
from heuristics.task import Found, Task
from instances import Instance, Schedule, Status, build_tables, load
from instances.feasible import is_feasible
from tests.heuristics.samples import (
    ad_without_work,
    drawn,
    instance,
    not_together,
    third,
    tight_half,
    trap,
    user,
)


def everyone_in_ad(problem: Instance) -> Schedule:
    """An algorithm of a user's own."""
    return Schedule(z=1.0, ad=tuple(person.id for person in problem.users))


def a_list(problem: Instance) -> list[str]:
    return [person.id for person in problem.users]


@pytest.mark.parametrize("algorithm", heuristics.algorithms())
def test_every_algorithm_is_feasible_and_counts_what_it_serves(algorithm: str) -> None:
    for seed in range(0, 60, 4):
        problem = drawn(seed, 5)
        result = heuristics.solve(problem, algorithm)
        assert result.schedule is not None
        assert result.objective == result.schedule.served
        assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
        assert is_feasible(problem, result.schedule, result.problem)
        assert result.solver == f"heuristics.{algorithm}"


def test_one_mode_alone_serves_no_more_than_both() -> None:
    gains = 0
    for seed in range(0, 80, 2):
        problem = drawn(seed, 6)
        both, ad, sd = (
            heuristics.solve(problem, name).objective or 0
            for name in ("balance", "ad-only", "sd-only")
        )
        assert both >= max(ad, sd)
        gains += both - max(ad, sd)
    assert gains > 0


def test_baselines_keep_to_their_modes_and_shares() -> None:
    problem = trap().model_copy(update={"z_grid": (0, 0.3, 1), "lambda_grid": (0, 0.2, 1)})
    schedules = {
        name: heuristics.solve(problem, name).schedule or Schedule(z=0.1)
        for name in heuristics.algorithms()
    }
    assert not schedules["ad-only"].sd
    assert (schedules["ad-only"].z, schedules["ad-only"].lam) == (1, 1)
    assert not schedules["sd-only"].ad
    assert (schedules["sd-only"].z, schedules["sd-only"].lam) == (0, 0)
    assert schedules["ecra"].z == 0.5
    assert schedules["ema"].lam == 0.5
    assert (schedules["ecrma"].z, schedules["ecrma"].lam) == (0.5, 0.5)


def test_single_modes_serve_what_fits_them() -> None:
    # Short in time for AD (10.5 s for 10 passes), N = 5 for SD; long ones only fit AD.
    assert heuristics.solve(tight_half(2), "ad-only").objective == 2
    assert heuristics.solve(tight_half(3), "sd-only").objective == 3


def test_fixed_shares_are_kept() -> None:
    result = heuristics.solve(trap(), z=0.5, lam=0.99)
    assert result.schedule is not None
    assert (result.schedule.z, result.schedule.lam) == (0.5, 0.99)
    assert result.problem == "P3"
    assert heuristics.solve(trap(), z=0.5).problem == "P2"


def test_optimal_only_where_everybody_who_fits_is_served() -> None:
    hopeless = user("late", deadline_s=0.1)
    easy = heuristics.solve(instance([user("a"), hopeless]))
    assert (easy.status, easy.objective, easy.bound) == (Status.OPTIMAL, 1, 1)
    half = heuristics.solve(tight_half(2))
    assert (half.status, half.objective, half.bound) == (Status.FEASIBLE, 2, None)


@pytest.mark.parametrize("algorithm", ["balance", "printed", "balance+", "additive", "ad-only"])
def test_rounding_alone_refuses_nobody(algorithm: str) -> None:
    exact = heuristics.solve(ad_without_work([third(name) for name in "abc"]), algorithm)
    assert (exact.status, exact.objective, exact.bound) == (Status.OPTIMAL, 3, 3)
    assert "restricted" not in exact.statistics


@pytest.mark.parametrize("algorithm", ["balance", "balance+", "additive", "ad-only"])
def test_who_is_late_alone_takes_nobody_along(algorithm: str) -> None:
    """One of four is late by 3 fs, so that rounding down lets all enter, rounding up nobody."""
    users = [*(third(name) for name in "abc"), third("late", deadline_s=1.199999999999997)]
    result = heuristics.solve(ad_without_work(users), algorithm)
    assert result.schedule is not None
    assert result.schedule.ad == ("a", "b", "c")
    assert "restricted" not in result.statistics


@pytest.mark.parametrize("algorithm", ["balance", "balance+", "additive"])
def test_what_only_the_relaxation_serves_is_no_answer_and_no_bound(algorithm: str) -> None:
    late = not_together()
    result = heuristics.solve(late, algorithm)
    assert result.schedule is not None
    assert is_feasible(late, result.schedule)
    assert (result.objective, result.statistics["restricted"]) == (1, True)
    assert result.status is Status.FEASIBLE
    assert result.bound in (None, 2)


@pytest.mark.parametrize(("stopped_by", "tries"), [(None, 3), ("interrupt", 1)])
def test_where_rounding_decides_additive_is_no_worse_than_balance(
    stopped_by: str | None, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here its relaxed schedule does not hold, and on tables built up it finds none."""
    asked: list[Task] = []

    def found(task: Task) -> Found:
        asked.append(task)
        everybody = ("early", "slow") if task.relaxed else ()
        return Found(Schedule(z=1, ad=everybody), {}, 2, stopped_by)

    monkeypatch.setitem(ALGORITHMS, "additive", found)
    result = heuristics.solve(not_together(), "additive")
    assert (result.problem, result.objective, result.bound) == ("P1", 1, 2)
    assert (result.stopped_by, len(asked)) == (stopped_by, tries)


def test_padded_memory_is_the_printed_accounting() -> None:
    for algorithm in ("balance", "printed"):
        assert heuristics.solve(trap(), algorithm).objective == 10
        assert heuristics.solve(trap(), algorithm, memory="padded").objective == 4


def test_the_shared_counterexample(shared_data: Path) -> None:
    problem = load(shared_data / "e1_counterexample.json")
    assert heuristics.solve(problem).objective == 10
    assert heuristics.solve(problem, memory="padded").objective == 4


def test_printed_sd_memory_can_break_the_room() -> None:
    # E2: one token an answer, so N = 1; eq. (16) charges 4 B more than eq. (31) per user.
    users = [user("a"), user("b")]
    room = 2 * (4 * (1 + 1) + 4 * (1 + 1 + 1))
    problem = instance(users, memory_bytes=24 + room - 1)
    exact, padded = (
        heuristics.solve(problem, "sd-only", z=0.0, memory=memory) for memory in ("exact", "padded")
    )
    assert (exact.objective, exact.status) == (1, Status.FEASIBLE)
    assert (padded.objective, padded.status) == (2, Status.VIOLATED)


def test_an_algorithm_of_your_own() -> None:
    problem = instance([user("a"), user("b", deadline_s=0.5)])
    result = heuristics.solve(problem, f"{__name__}:everyone_in_ad")
    assert (result.objective, result.status) == (2, Status.VIOLATED)
    fine = heuristics.solve(instance([user("a")]), f"{__name__}:everyone_in_ad")
    assert (fine.objective, fine.status, fine.problem) == (1, Status.OPTIMAL, "P1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": "simplex"}, "choose from balance"),
        ({"algorithm": "no_such_module:f"}, "cannot be loaded"),
        ({"algorithm": f"{__name__}:__doc__"}, "__doc__ is not a function"),
        ({"algorithm": f"{__name__}:a_list"}, "must return an instances.Schedule"),
        ({"algorithm": f"{__name__}:everyone_in_ad", "z": 0.5}, "takes no z"),
        ({"algorithm": "ecra", "z": 0.5}, "fixes z"),
        ({"algorithm": "ema", "lam": 0.5}, "fixes lam"),
        ({"z": 0.3}, "z = 0.3 is not in the instance's grid"),
        ({"lam": 0.3}, "lambda = 0.3 is not in the instance's grid"),
        ({"memory": "rounded"}, "choose from exact, padded"),
    ],
)
def test_refusals(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        heuristics.solve(trap(), **arguments)  # type: ignore[arg-type]


def test_a_function_that_takes_no_instance_is_refused() -> None:
    with pytest.raises(ValueError, match="os:system: must take one instance"):
        heuristics.solve(instance([user("a")]), "os:system")


def test_what_costs_nothing_needs_no_budget() -> None:
    """Algorithm 3 tuple by tuple, and what no optimum exceeds, where the work takes no time."""
    for seed in range(12):
        instance = free_work(seed)
        optimum = formulations.solve(instance, solver="exhaustive").objective
        served = heuristics.solve(instance, "balance").objective
        assert served == printed_balance(build_tables(instance), padded=False), seed
        assert served <= optimum <= 2 * served
        additive = heuristics.solve(instance, "additive")
        assert additive.bound is not None
        assert additive.objective <= optimum <= additive.bound <= additive.objective + 3
