"""Users with values of their own: every proven solver against brute force, the others refuse."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import formulations
import heuristics
import verify
from formulations.flow import flow_bound
from formulations.points import Point
from formulations.proof import prove
from formulations.rows import FORMULATIONS
from instances import InputError, Instance, Schedule, Status, build_tables, load_schedule, worth
from instances.generators import generate
from instances.randomness import Stream
from tests.helpers import brute_force, make_instance, make_user
from verify.brute import Brute
from verify.guarantee import Guarantee
from verify.sources import from_files

#: What maximises values: problem, solver and formulation.
PROVEN = [("P1", solver, None) for solver in ("exhaustive", "cp-sat", "pyomo:highs")]
PROVEN += [("P1", "highs", name) for name in FORMULATIONS] + [("P1", "scip", "compact")]
PROVEN += [("P2", solver, None) for solver in ("exhaustive", "cp-sat", "highs")]


def valued(family: str, users: int, seed: int, most: int = 9) -> Instance:
    """Return an instance whose users are worth 1 to `most`."""
    instance, stream = generate(family, users, seed), Stream("values", seed)
    worths = [user.model_copy(update={"value": stream.integer(1, most)}) for user in instance.users]
    return instance.model_copy(update={"users": tuple(worths)})


@cache
def best_of(family: str, seed: int, problem: str) -> tuple[int, int]:
    """Return the best worth in rationals, and what the schedule with the most users is worth."""
    instance = sample(family, seed)
    brute = Brute(instance).most_served(None if problem == "P1" else instance.lambda_grid)
    plain = generate(family, 5, seed)
    counted = formulations.solve(plain, "P1" if problem == "P1" else "P2", "exhaustive").schedule
    assert counted is not None
    return brute, worth(instance, counted)


def sample(family: str, seed: int) -> Instance:
    return valued(family, 5, seed, most=(9, 3, 10_000)[seed])


@pytest.mark.parametrize(("problem", "solver", "formulation"), PROVEN)
def test_proven_solvers_find_the_most_valuable_schedule(
    problem: Any, solver: str, formulation: str | None
) -> None:
    options = {} if formulation is None else {"formulation": formulation}
    better = 0
    for seed, family in enumerate(("paper-5a", "memory-tight", "ties")):
        instance, (best, of_most_users) = sample(family, seed), best_of(family, seed, problem)
        result = formulations.solve(instance, problem, solver, start=False, **options)
        assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, best, best)
        assert result.schedule is not None
        assert worth(instance, result.schedule) == best
        report = verify.check(instance, result.schedule, problem)
        assert (report.feasible, report.value) == (True, best)
        better += best > of_most_users
    assert better > 0, "values change who is served"


def test_the_default_solver_is_one_that_maximises_values() -> None:
    instance = valued("paper-4a", 7, 4)
    result = formulations.solve(instance)
    tables = build_tables(instance, rounded_up=False)
    assert (result.solver, result.status) == ("highs", Status.OPTIMAL)
    assert result.objective == result.bound == brute_force(tables)
    assert formulations.solve(generate("paper-4a", 7, 4)).solver == "threshold"


def two_of_three() -> Instance:
    """Return an instance whose memory holds two AD users: 24 B of weights, 20 B each; no SD."""
    users = [make_user(f"u{value}", value=value) for value in (2, 7, 4)]
    return make_instance(*users, memory_bytes=24 + 40, beta_slm=100.0)


def test_valuable_users_go_first_by_hand() -> None:
    result = formulations.solve(two_of_three())
    assert result.schedule is not None
    assert sorted(result.schedule.ad) == ["u4", "u7"]
    assert (result.objective, result.bound) == (11, 11)


@pytest.mark.parametrize("solver", formulations.solver_names())
def test_users_who_are_worth_the_same_are_counted_by_all(solver: str) -> None:
    plain = generate("paper-5a", 5, seed=1)
    users = [user.model_copy(update={"value": 6}) for user in plain.users]
    instance = plain.model_copy(update={"users": tuple(users)})
    result, expected = formulations.solve(instance, solver=solver), formulations.solve(plain)
    assert expected.objective is not None
    assert result.objective == result.bound == 6 * expected.objective
    assert heuristics.solve(instance).objective == 6 * (heuristics.solve(plain).objective or 0)


def test_those_who_count_users_refuse() -> None:
    instance = valued("paper-4a", 5, 1)
    says = "counts users, but in this instance their values differ; .* highs, scip, cp-sat"
    with pytest.raises(ValueError, match=f"solver 'threshold' {says}"):
        formulations.solve(instance, solver="threshold")
    with pytest.raises(ValueError, match="formulation 'boxed' counts users"):
        formulations.solve(instance, solver="highs", formulation="boxed")
    with pytest.raises(ValueError, match=f"this proof {says}"):
        prove(instance, 3)
    for algorithm in heuristics.algorithms():
        with pytest.raises(ValueError, match=f"{re.escape(algorithm)} {says}"):
            heuristics.solve(instance, algorithm)
    row = Guarantee(from_files([])).examine(instance)
    assert "counts users" in row["skipped"]


def test_own_algorithms_are_judged_by_value() -> None:
    instance = valued("paper-4a", 5, 1)
    result = heuristics.solve(instance, f"{__name__}:most_valuable")
    assert result.objective == max(user.value for user in instance.users)


def most_valuable(instance: Instance) -> Schedule:
    best = max(instance.users, key=lambda user: user.value)
    return Schedule(z=1.0, ad=(best.id,))


def test_the_flow_bound_is_a_bound_on_values() -> None:
    for seed in range(2):
        instance = valued("memory-tight", 6, seed)
        tables = build_tables(instance, rounded_up=False)
        for z_index in (0, 5, 10):
            z = instance.z_grid[z_index]
            best = formulations.solve(instance, solver="exhaustive", z=z, start=False).objective
            assert best is not None
            assert flow_bound(tables, Point(z_index)) >= best
    crowded = build_tables(two_of_three(), rounded_up=False)
    assert [flow_bound(crowded, Point(z_index)) for z_index in range(3)] == [0, 11, 11]


def test_at_fixed_thresholds_values_are_profits() -> None:
    instance = valued("paper-5a", 6, 3)
    best = formulations.solve(instance)
    assert best.schedule is not None
    limits = formulations.tight_thresholds(instance, best.schedule)
    problem = formulations.mmkp(instance, best.schedule.z, None, limits)
    assert formulations.solve_mmkp(problem).objective == best.objective


def test_a_result_is_read_by_its_instances_values(tmp_path: Path) -> None:
    instance = valued("paper-4a", 6, 2)
    path, result = tmp_path / "result.json", formulations.solve(instance)
    path.write_text(result.to_json())
    assert load_schedule(path, instance) == result.schedule
    with pytest.raises(InputError, match="objective: claims"):
        load_schedule(path)
    stranger = make_instance(make_user("else"))
    with pytest.raises(InputError, match=r"schedule: user 'u\d+' is not in the instance"):
        load_schedule(path, stranger)


def test_a_start_counts_by_value() -> None:
    instance = valued("paper-5a", 8, 5)
    best = formulations.solve(instance)
    again = formulations.solve(instance, start=best, node_limit=1)
    assert again.objective == best.objective
    assert np.array_equal(build_tables(instance).value, [user.value for user in instance.users])
