"""`formulations.solve`: requests refused, limits kept, starts checked; and its command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import formulations
from instances import Instance, Schedule, Status, save
from instances.generators import generate
from instances.kernels import NOTICE
from tests.helpers import make_instance, make_user
from tests.heuristics.samples import not_together

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def instance() -> Instance:
    return generate("paper-4a", 6, seed=1)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"problem": "P4"}, "unknown problem 'P4'"),
        ({"problem": "P3"}, "P3 needs both z and lam"),
        ({"problem": "P3", "z": 0.5}, "P3 needs both z and lam"),
        ({"lam": 0.5}, "P1 shares the memory and takes no lam"),
        ({"z": 0.55}, "z = 0.55 is not in the instance's grid"),
        ({"problem": "P2", "lam": 2.0}, "lam = 2.0 is not in the instance's grid"),
        ({"solver": "cplex"}, "unknown solver 'cplex'; choose from threshold, "),
        ({"time_limit": 0.0}, "time_limit must be positive"),
        ({"time_limit": float("nan")}, "time_limit must be positive"),
        ({"node_limit": 0}, "node_limit must be positive"),
        ({"modes": "none"}, "unknown modes 'none'"),
        ({"solver": "highs", "formulation": "best"}, "unknown formulation 'best'"),
        ({"solver": "cp-sat", "formulation": "best"}, "unknown formulation 'best'"),
        ({"solver": "highs", "speed": 3}, "solver 'highs' has no option 'speed'"),
        ({"solver": "threshold", "cuts": "pairs"}, "the MILP solvers have, such as 'highs'"),
        ({"solver": "cp-sat", "node_limit": 5}, "solver 'cp-sat' counts no nodes"),
    ],
)
def test_refusals(instance: Instance, request_: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        formulations.solve(instance, **request_)


def test_missing_solver_says_what_to_install(instance: Instance) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"'nosuch'.* install nosuch"):
        formulations.solve(instance, solver="pyomo:nosuch")


def test_exhaustive_refuses_seventeen_users() -> None:
    with pytest.raises(ValueError, match="at most 16 users, not 17"):
        formulations.solve(generate("paper-4a", 17, seed=0), solver="exhaustive")


@pytest.mark.parametrize(
    ("schedule", "request_", "message"),
    [
        (Schedule(z=0.5, ad=("ghost",)), {}, "start: user 'ghost' is not in the instance"),
        (Schedule(z=0.3), {}, "start: z = 0.3 is not in z_grid"),
        (Schedule(z=1.0, sd=("u0",)), {}, "start: violates an inequality of P1"),
        (Schedule(z=0.5), {"problem": "P2"}, "start: P2 needs a lambda"),
        (Schedule(z=0.5), {"z": 1.0}, "start: has z = 0.5, but z is fixed at 1.0"),
        (Schedule(z=0.5, ad=("u0",)), {"modes": "sd-only"}, "start: serves users in AD"),
        (Schedule(z=0.5, sd=("u0",)), {"modes": "ad-only"}, "start: serves users in SD"),
        (
            Schedule(z=0.5, lam=0.5),
            {"problem": "P2", "lam": 1.0},
            "start: has lambda = 0.5, but lambda is fixed at 1.0",
        ),
    ],
)
def test_bad_starts(schedule: Schedule, request_: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        formulations.solve(make_instance(make_user()), start=schedule, **request_)


@pytest.mark.parametrize("solver", ["threshold", "highs", "cp-sat", "scip", "exhaustive"])
def test_a_start_is_kept_or_improved(instance: Instance, solver: str) -> None:
    first = formulations.solve(instance, solver="exhaustive", start=False)
    again = formulations.solve(instance, solver=solver, start=first)
    assert (again.status, again.objective) == (Status.OPTIMAL, first.objective)
    improved = formulations.solve(instance, solver=solver, start=Schedule(z=0.5))
    assert improved.objective == first.objective


@pytest.mark.parametrize("solver", ["threshold", "highs", "cp-sat", "scip", "pyomo:highs"])
def test_time_out_keeps_bound(solver: str) -> None:
    large = generate("paper-5a", 60, seed=1)
    result = formulations.solve(large, solver=solver, time_limit=1e-3, start=False)
    assert result.stopped_by == "time_limit"
    assert result.bound is not None
    assert (result.objective or 0) < result.bound <= 60
    expected = Status.NO_INCUMBENT if result.schedule is None else Status.FEASIBLE
    assert result.status is expected


@pytest.mark.parametrize("solver", ["highs", "cp-sat", "scip"])
def test_time_out_keeps_the_start(solver: str) -> None:
    large = generate("paper-5a", 40, seed=1)
    result = formulations.solve(large, solver=solver, time_limit=1.5)
    assert result.status is Status.FEASIBLE
    assert result.objective is not None
    assert result.bound is not None
    assert 0 < result.objective < result.bound


@pytest.mark.parametrize("solver", ["threshold", "highs"])
def test_node_limit_keeps_bound(solver: str) -> None:
    large = generate("paper-5a", 30, seed=1)
    result = formulations.solve(large, solver=solver, z=0.5, node_limit=1, start=False)
    assert result.stopped_by == "node_limit"
    assert result.bound is not None
    assert (result.objective or 0) < result.bound <= 30


def test_result_tells_what_was_asked(instance: Instance) -> None:
    result = formulations.solve(
        instance, "P2", "highs", z=0.5, seed=3, time_limit=60, formulation="compact"
    )
    assert result.options == {
        "z": 0.5, "modes": "both", "time_limit": 60, "formulation": "compact"
    }  # fmt: skip
    assert (result.seed, result.problem, result.solver) == (3, "P2", "highs")
    assert result.solver_version.startswith("highspy ")
    assert {"build_s", "solve_s", "certify_s", "start_s"} <= result.statistics.keys()


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "formulations.solve", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_command_prints_json_alone(instance: Instance, tmp_path: Path) -> None:
    """HiGHS prints a banner on its first use, which must not reach stdout."""
    file, copy = tmp_path / "instance.json", tmp_path / "result.json"
    save(instance, file)
    run = command(str(file), "--json", "--solver", "highs", "--no-start", "--output", str(copy))
    assert run.returncode == 0
    assert run.stderr in ("", f"{NOTICE}\n"), "only a first run has something to say"
    result = json.loads(run.stdout)
    assert result["status"] == "optimal"
    assert json.loads(copy.read_text(encoding="utf-8")) == result
    again = command(str(file), "--start", str(copy), "--problem", "P1", "--z", "0.55")
    assert again.returncode == 2
    started = command(str(file), "--start", str(copy))
    assert started.returncode == 0
    assert "P1, threshold: optimal:" in started.stdout


def test_command_says_that_rounding_leaves_it_undecided(tmp_path: Path) -> None:
    file = tmp_path / "instance.json"
    save(not_together(), file)
    run = command(str(file))
    assert run.returncode == 3
    assert "feasible (less than a microsecond decides): 1 of 2 users" in run.stdout


def test_command_is_undecided_at_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "instance.json"
    save(generate("paper-5a", 60, seed=1), file)
    limit = ("--time-limit", "0.001", "--no-start", "--solver", "cp-sat")
    run = command(str(file), *limit)
    assert run.returncode == 3
    assert "stopped by time_limit" in run.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("missing.json",),
        (".",),
        ("FILE", "--solver", "nosuch"),
        ("FILE", "--solver", "pyomo:nosuch"),
        ("FILE", "--problem", "P9"),
        ("FILE", "--problem", "P3"),
        ("FILE", "--start", "FILE"),
        ("FILE", "--start", "missing.json"),
        ("FILE", "--time-limit", "-1"),
        ("FILE", "--output", "."),
    ],
)
def test_command_refuses_in_one_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "instance.json"
    save(make_instance(make_user()), file)
    run = command(*(str(file) if part == "FILE" else part for part in arguments))
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.startswith("error: ")
    assert run.stderr.count("\n") == 1
