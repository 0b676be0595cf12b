"""Every registered solver against exhaustive enumeration and against exact rationals."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

import formulations
from instances import Instance, Problem, Schedule, Status, load
from instances.feasible import is_feasible
from instances.generators import generate
from tests.helpers import make_instance, make_user

#: Each registered solver must be here, and is then in every cross-solver test.
SOLVERS = ("threshold", "highs", "exhaustive", "scip", "cp-sat", "pyomo:highs")

CASES: list[tuple[str, int]] = [
    ("paper-4a", 6),
    ("paper-5a", 5),
    ("memory-tight", 5),
    ("deadline-tight", 6),
    ("ties", 6),
    ("no-sd", 5),
    ("no-ad", 5),
    ("wide", 5),
]


def test_every_registered_solver_is_tested() -> None:
    assert set(SOLVERS) == set(formulations.solver_names())


def exact_brute_force(
    instance: Instance, problem: Problem, ad: bool = True, sd: bool = True
) -> int:
    """The optimum by trying every schedule in rational arithmetic."""
    ids = [user.id for user in instance.users]
    choices = "n" + "a" * ad + "s" * sd
    lams = (None,) if problem == "P1" else instance.lambda_grid
    best = 0
    for modes in itertools.product(choices, repeat=len(ids)):
        if len(ids) - modes.count("n") <= best:
            continue
        batches = {
            "ad": tuple(name for name, mode in zip(ids, modes, strict=True) if mode == "a"),
            "sd": tuple(name for name, mode in zip(ids, modes, strict=True) if mode == "s"),
        }
        points = itertools.product(instance.z_grid, lams)
        schedules = (Schedule(z=z, lam=lam, **batches) for z, lam in points)
        if any(is_feasible(instance, schedule, problem) for schedule in schedules):
            best = len(ids) - modes.count("n")
    return best


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("family", [family for family, _ in CASES])
def test_agrees_with_exhaustive(family: str, solver: str) -> None:
    for seed in range(2):
        instance = generate(family, dict(CASES)[family], seed=seed)
        for problem in ("P1", "P2"):
            optimum = formulations.solve(instance, problem, "exhaustive", start=False).objective
            result = formulations.solve(instance, problem, solver, start=False)
            assert result.status is Status.OPTIMAL
            assert (result.objective, result.bound) == (optimum, optimum)
            assert result.schedule is not None
            assert is_feasible(instance, result.schedule, problem)


@pytest.mark.parametrize("family", ["paper-4a", "ties", "memory-tight"])
def test_exhaustive_agrees_with_rational_brute_force(family: str) -> None:
    instance = generate(family, 4, seed=3).model_copy(update={"z_grid": (0.0, 0.4, 1.0)})
    instance = instance.model_copy(update={"lambda_grid": (0.0, 0.5, 1.0)})
    for problem in ("P1", "P2"):
        found = formulations.solve(instance, problem, "exhaustive", start=False).objective
        assert found == exact_brute_force(instance, problem)


@pytest.mark.parametrize("problem", ["P1", "P2"])
def test_points_apart_are_all_solved(problem: Problem) -> None:
    """The reference solves every z, though the start is optimal and most bounds are too low."""
    instance = generate("paper-4a", 6, seed=1)
    optimum = formulations.solve(instance, problem)
    asked = {"formulation": "compact", "start": optimum}
    apart, together = (
        formulations.solve(instance, problem, "highs", apart=apart, **asked)  # type: ignore[arg-type]
        for apart in (True, False)
    )
    assert apart.objective == together.objective == apart.bound == optimum.objective
    assert apart.statistics["solves"] >= len(instance.z_grid) > together.statistics["solves"]
    with pytest.raises(ValueError, match="apart must be true or false"):
        formulations.solve(instance, problem, "highs", apart="yes")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("modes", ["ad-only", "sd-only"])
def test_one_mode(modes: str, solver: str) -> None:
    instance = generate("paper-4a", 4, seed=5).model_copy(update={"z_grid": (0.0, 0.6, 1.0)})
    result = formulations.solve(instance, solver=solver, modes=modes, start=False)
    allowed = {"ad": modes == "ad-only", "sd": modes == "sd-only"}
    assert result.objective == result.bound == exact_brute_force(instance, "P1", **allowed)
    assert result.schedule is not None
    assert not (result.schedule.sd if allowed["ad"] else result.schedule.ad)


@pytest.mark.parametrize("solver", SOLVERS)
def test_fixed_shares(solver: str) -> None:
    instance = generate("paper-4a", 6, seed=1)
    z, lam = instance.z_grid[5], instance.lambda_grid[4]
    for problem, shares in (("P1", {"z": z}), ("P2", {"lam": lam}), ("P3", {"z": z, "lam": lam})):
        expected = formulations.solve(instance, problem, "exhaustive", start=False, **shares)
        result = formulations.solve(instance, problem, solver, start=False, **shares)
        assert result.objective == result.bound == expected.objective
        assert result.schedule is not None
        assert result.schedule.z == shares.get("z", result.schedule.z)
        assert result.schedule.lam == shares.get("lam", result.schedule.lam)


@pytest.mark.parametrize("solver", SOLVERS)
def test_e1_counterexample(solver: str, shared_data: Path) -> None:
    result = formulations.solve(
        load(shared_data / "e1_counterexample.json"), solver=solver, start=False
    )
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 10, 10)


def e1_instance() -> Instance:
    """Erratum E1's instance: the printed Algorithm 3 serves 4 of its 10 users."""
    near = {"deadline_s": 1.0, "acceptance_rate": 0.0, "uplink_bps_per_hz": 1e9, "input_tokens": 1}
    far = near | {"deadline_s": 4.0, "uplink_bps_per_hz": 0.5}
    users = [make_user(f"short{i}", output_tokens=1, **near) for i in range(3)]
    users += [make_user(f"long{i}", output_tokens=1001, **near) for i in range(3)]
    users += [make_user(f"far{i}", output_tokens=1, **far) for i in range(4)]
    shares = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
    speed = {"alpha_llm": 1e-12, "beta_llm": 1e-6, "alpha_slm": 1e-12, "beta_slm": 1.5}
    return make_instance(*users, memory_bytes=16012, lambda_grid=shares, **speed)


@pytest.mark.parametrize("solver", SOLVERS)
def test_e1_built_by_hand(solver: str) -> None:
    """pyomo:highs once proved 7: HiGHS's probing cut the optimum off near its tolerance."""
    result = formulations.solve(e1_instance(), solver=solver, start=False)
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 10, 10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_users(solver: str) -> None:
    result = formulations.solve(make_instance(), solver=solver)
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 0, 0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_user(solver: str) -> None:
    served = formulations.solve(make_instance(make_user()), solver=solver, start=False)
    assert (served.status, served.objective) == (Status.OPTIMAL, 1)
    late = make_instance(make_user(deadline_s=0.1))
    refused = formulations.solve(late, solver=solver, start=False)
    assert (refused.status, refused.objective, refused.bound) == (Status.OPTIMAL, 0, 0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_llm_that_does_not_fit(solver: str) -> None:
    instance = make_instance(make_user(), memory_bytes=11)
    for problem in ("P1", "P2"):
        result = formulations.solve(instance, problem, solver, start=False)
        assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 0, 0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_grid_without_inner_shares(solver: str) -> None:
    """At z = 0 nobody is in AD and at z = 1 nobody in SD, even where computing costs nothing."""
    free = {"alpha_llm": 0.0, "alpha_slm": 0.0, "beta_llm": 1.0, "beta_slm": 0.0}
    ad_only = make_user("ad", output_tokens=2, acceptance_rate=0.0, deadline_s=2.6)
    sd_only = make_user("sd", output_tokens=4, acceptance_rate=1.0, deadline_s=3.6)
    instance = make_instance(ad_only, sd_only, z_grid=(0.0, 1.0), **free)
    assert formulations.solve(instance, solver=solver, start=False).objective == 1
    inner = instance.model_copy(update={"z_grid": (0.0, 0.5, 1.0)})
    assert formulations.solve(inner, solver=solver, start=False).objective == 2


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("spare", "served"), [(0, 3), (-1, 2)])
def test_memory_full_to_the_byte(solver: str, spare: int, served: int) -> None:
    """Three AD users of 5 tokens and 4 B a token need 60 B beside 24 B of weights."""
    users = [make_user(f"u{i}", acceptance_rate=0.0) for i in range(3)]
    instance = make_instance(*users, memory_bytes=84 + spare, z_grid=(0.0, 0.9, 1.0))
    z_fixed = formulations.solve(instance, z=0.9, solver=solver, modes="ad-only", start=False)
    assert (z_fixed.status, z_fixed.objective) == (Status.OPTIMAL, served)


@pytest.mark.parametrize("order", [("highspy", "ortools"), ("ortools", "highspy")])
def test_both_wheels_with_highs_live_together(order: tuple[str, str]) -> None:
    solvers = {"highspy": "highs", "ortools": "scip"}
    code = (
        "import formulations; from instances.generators import generate;"
        "instance = generate('paper-4a', 5, seed=1);"
        f"names = {[solvers[name] for name in order]!r};"
        "print([formulations.solve(instance, solver=n, start=False).objective for n in names])"
    )
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    expected = formulations.solve(generate("paper-4a", 5, seed=1), start=False).objective
    assert run.stdout.strip() == f"[{expected}, {expected}]"
