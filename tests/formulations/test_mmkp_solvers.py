"""All exact methods of the MMKP against brute force, each other and published values."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

from formulations.mmkp_bounds import lagrangian_bound, lp_bound
from formulations.mmkp_models import build_mmkp
from formulations.mmkp_relaxation import choices, cover, relaxed
from formulations.mmkp_solvers import mmkp_solvers, solve_mmkp
from heuristics.mmkp import heu
from instances import Status
from instances.mmkp import MMKP, Item, ItemClass, to_integers
from instances.mmkp_files import load_mmkp
from tests.mmkp_cases import brute_force, random_mmkp, selections

OPTIMA = {1: 173, 2: 364, 3: 1602, 4: 3597, 5: Fraction(39057, 10), 6: Fraction(47993, 10)}
BEST_KNOWN = {7: 24592, 8: 36877, 9: 49181, 10: 61437, 11: 73791, 12: 86093, 13: 98441}
UPPER = {7: 24607.95, 8: 36904.41, 9: 49193.87, 10: 61486.30, 11: 73797.74, 12: 86100.45}
UPPER |= {13: 98448.64}


def khan(shared_data: Path, number: int) -> MMKP:
    return load_mmkp(shared_data / "mmkp" / "khan" / f"I{number:02}")


def check(problem: MMKP, solver: str) -> None:
    optimum, _ = brute_force(problem)
    result = solve_mmkp(problem, solver)
    assert result.stopped_by is None
    if optimum is None:
        assert (result.status, result.selection, result.bound) == (Status.INFEASIBLE, None, None)
        return
    assert result.selection is not None
    assert problem.feasible(result.selection)
    assert problem.profit(result.selection) == result.objective == result.bound == optimum
    assert result.status is Status.OPTIMAL


@pytest.mark.parametrize("solver", mmkp_solvers())
@pytest.mark.parametrize("kind", ["plain", "optional", "fractions", "large"])
def test_brute_force(solver: str, kind: str) -> None:
    """``large``: weights of 1e13, off by 1 to 3: only exact arithmetic tells what fits."""
    rng = random.Random(kind)
    for _ in range(25):
        unit = 10**13 if kind == "large" else 1
        problem = random_mmkp(rng, kind != "plain", kind == "fractions", unit)
        check(problem, solver)


@pytest.mark.parametrize("solver", mmkp_solvers())
def test_a_capacity_one_short_of_a_huge_need(solver: str) -> None:
    """In doubles 2^60 and 2^60 - 1 are one number; the row must still refuse the pair."""
    group = ItemClass((Item(1, (0,)), Item(3, (2**59,))))
    assert solve_mmkp(MMKP((group, group), (2**60,)), solver).objective == 6
    assert solve_mmkp(MMKP((group, group), (2**60 - 1,)), solver).objective == 4


@pytest.mark.parametrize("solver", mmkp_solvers())
def test_degenerate(solver: str) -> None:
    item = Item(2, (1,))
    none = ItemClass((), optional=True)
    check(MMKP((), (1,)), solver)
    check(MMKP((none, none), (0,)), solver)
    check(MMKP((none, ItemClass((item,))), (1,)), solver)
    check(MMKP((ItemClass((item,)),), (0,)), solver)
    check(MMKP((ItemClass((Item(-3, (0,)), Item(-2, (1,)))),), (0,)), solver)
    check(MMKP((ItemClass((Item(-3, ()), Item(-2, ()))),), ()), solver)


@pytest.mark.parametrize("solver", ["highs", "cp-sat", "pyomo", "bnb"])
@pytest.mark.parametrize("number", [1, 2, 5, 6])
def test_certified_optima(shared_data: Path, solver: str, number: int) -> None:
    result = solve_mmkp(khan(shared_data, number), solver, time_limit=60)
    assert (result.status, result.objective) == (Status.OPTIMAL, OPTIMA[number])


def test_dynamic_programme_on_a_real_instance(shared_data: Path) -> None:
    assert solve_mmkp(khan(shared_data, 1), "dp").objective == OPTIMA[1]


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["highs", "cp-sat", "pyomo"])
def test_a_harder_certified_optimum(shared_data: Path, solver: str) -> None:
    result = solve_mmkp(khan(shared_data, 3), solver, time_limit=600)
    assert (result.status, result.objective) == (Status.OPTIMAL, OPTIMA[3])


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["highs", "cp-sat", "bnb"])
def test_the_hardest_of_the_small_ones(shared_data: Path, solver: str) -> None:
    """Proving I04 takes too long for a test; the interval must hold its optimum all the same."""
    result = solve_mmkp(khan(shared_data, 4), solver, time_limit=60)
    assert result.objective is not None
    assert result.bound is not None
    assert 3500 <= result.objective <= OPTIMA[4] <= result.bound <= 3631


def consistent(problem: MMKP, solver: str, number: int, seconds: float) -> None:
    result = solve_mmkp(problem, solver, time_limit=seconds)
    assert result.objective is not None
    assert result.bound is not None
    assert result.selection is not None
    assert problem.feasible(result.selection)
    assert 0.95 * BEST_KNOWN[number] <= result.objective <= UPPER[number]
    assert BEST_KNOWN[number] <= result.bound <= UPPER[number] + 0.01


@pytest.mark.parametrize(("solver", "number"), [("highs", 7), ("cp-sat", 8), ("bnb", 9)])
def test_interval_holds_the_best_known(shared_data: Path, solver: str, number: int) -> None:
    consistent(khan(shared_data, number), solver, number, seconds=2)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["highs", "cp-sat", "bnb"])
@pytest.mark.parametrize("number", range(7, 14))
def test_every_interval_holds_the_best_known(shared_data: Path, solver: str, number: int) -> None:
    consistent(khan(shared_data, number), solver, number, seconds=20)


@pytest.mark.parametrize("number", range(7, 14))
def test_lp_bound_is_the_published_one(shared_data: Path, number: int) -> None:
    problem = khan(shared_data, number)
    bound = lp_bound(problem)
    assert float(bound) == pytest.approx(UPPER[number], abs=0.02)
    assert bound >= BEST_KNOWN[number]


def test_any_multipliers_bound_the_optimum() -> None:
    rng = random.Random(5)
    for _ in range(60):
        problem = random_mmkp(rng, optional=True, fractions=True)
        optimum, _ = brute_force(problem)
        multipliers = [Fraction(rng.randint(0, 40), 10) for _ in problem.capacities]
        assert optimum is None or lagrangian_bound(problem, multipliers) >= optimum
        assert optimum is None or lp_bound(problem) >= optimum
    with pytest.raises(ValueError, match="negative"):
        lagrangian_bound(problem, [Fraction(-1)] * len(problem.capacities))


@pytest.mark.parametrize("largest", [2, 5, 30, 10**6])
def test_relaxation_loses_no_feasible_selection_and_keeps_rows_small(largest: int) -> None:
    rng, lost = random.Random(largest), 0
    for _ in range(30):
        problem, _ = to_integers(random_mmkp(rng, optional=True))
        coarse = relaxed(problem, largest)
        for r in range(len(coarse.capacities)):
            assert sum(i.weights[r] for g in coarse.classes for i in g.items) <= largest
        for selection in selections(problem):
            assert coarse.feasible(selection) or not problem.feasible(selection)
            lost += coarse.feasible(selection) and not problem.feasible(selection)
    assert (lost > 0) == (largest < 10**6)


def test_cover_cuts_off_its_selection_and_nothing_feasible() -> None:
    rng, seen = random.Random(3), 0
    for _ in range(40):
        problem = random_mmkp(rng, optional=True)
        for selection in selections(problem):
            if not any(problem.excess(selection)):
                continue
            seen += 1
            left, right = choices(cover(problem, selection))
            assert sum(c in left for c in enumerate(selection)) > right
            for other in selections(problem):
                if problem.feasible(other):
                    assert sum(c in left for c in enumerate(other)) <= right
    assert seen > 100
    with pytest.raises(ValueError, match="overuses no resource"):
        cover(MMKP((), (1,)), ())


def test_the_pyomo_model_says_what_the_problem_says() -> None:
    """Objective and every row at random 0-1 points, against the data."""
    rng = random.Random(11)
    for _ in range(30):
        problem = random_mmkp(rng, optional=True)
        model = build_mmkp(problem)
        values = {pair: rng.randint(0, 1) for pair in model.x}
        for pair, value in values.items():
            model.x[pair].set_value(value)
        items = {(i, j): problem.classes[i].items[j] for i, j in values}
        assert model.profit() == sum(items[p].profit * v for p, v in values.items())
        for r, row in model.resource.items():
            assert row.body() == sum(items[p].weights[r] * v for p, v in values.items())
            assert row.upper() == problem.capacities[r]
        for i, row in model.one.items():
            assert row.body() == sum(v for p, v in values.items() if p[0] == i)
            assert row.equality == (not problem.classes[i].optional)


def test_time_limit_keeps_the_heuristic_selection(shared_data: Path) -> None:
    problem = khan(shared_data, 9)
    start = heu(problem)
    assert start is not None
    for solver in ("highs", "cp-sat", "bnb"):
        result = solve_mmkp(problem, solver, time_limit=0.5)
        assert result.stopped_by == "time_limit"
        assert result.status is Status.FEASIBLE
        assert result.objective is not None
        assert result.objective >= problem.profit(start)
    assert solve_mmkp(problem, "dp", time_limit=0.5).status is Status.NO_INCUMBENT


@pytest.mark.parametrize("solver", ["highs", "cp-sat", "pyomo"])
def test_no_time_at_all_gives_no_made_up_bound(shared_data: Path, solver: str) -> None:
    """CP-SAT stopped before its first bound said 0, below a selection that was known."""
    for seconds in (1e-9, 1e-3, 0.02):
        result = solve_mmkp(khan(shared_data, 3), solver, time_limit=seconds)
        assert result.bound is not None
        assert result.bound >= OPTIMA[3]


def test_refusals() -> None:
    with pytest.raises(ValueError, match="unknown MMKP solver 'x'; choose from highs, cp-sat"):
        solve_mmkp(MMKP((), ()), "x")
    with pytest.raises(ValueError, match="must sum to at most"):
        solve_mmkp(MMKP((ItemClass((Item(2**31, ()),)),), ()))
