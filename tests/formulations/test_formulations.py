"""All formulations: one optimum, the documented order of LP bounds, and proofs box by box."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import formulations
from formulations.grid import Limits
from formulations.highs import new_solver
from formulations.points import Point, groups
from formulations.proof import prove
from formulations.rows import build_rows, names
from formulations.rows.box import eligible, setting_at, tighten, whole_box
from formulations.rows.chains import BOTH, build_point
from formulations.rows.relaxation import Relaxation
from formulations.rows.weights import refutes
from instances import CostTables, build_tables
from instances.assignment import AD, SD, Assignment, fits
from instances.generators import generate
from verify.formulation_sizes import lp_bound

FAMILIES = ("paper-4a", "paper-5a", "memory-tight", "deadline-tight", "ties", "no-sd", "wide")
ALL = [(solver, name) for solver in ("highs", "scip") for name in names()]


def agree(family: str, users: int, seed: int, problem: Any, solver: str, name: str) -> None:
    instance = generate(family, users, seed=seed)
    expected = formulations.solve(instance, problem, "exhaustive", start=False).objective
    result = formulations.solve(instance, problem, solver, start=False, formulation=name)
    assert (result.objective, result.bound) == (expected, expected)


@pytest.mark.parametrize(("solver", "name"), ALL)
@pytest.mark.parametrize("family", FAMILIES[:3])
def test_formulations_agree_with_exhaustive(family: str, solver: str, name: str) -> None:
    agree(family, 5, seed=11, problem="P1", solver=solver, name=name)


@pytest.mark.parametrize("family", FAMILIES)
def test_boxed_agrees_with_exhaustive(family: str) -> None:
    for problem in ("P1", "P2"):
        agree(family, 7, seed=5, problem=problem, solver="highs", name="boxed")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300))
def test_all_agree_on_300_instances(seed: int) -> None:
    family = FAMILIES[seed % len(FAMILIES)]
    for solver, name in ALL:
        agree(family, 4 + seed % 6, seed, ("P1", "P2")[seed % 2], solver, name)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_threshold_agrees_with_highs(seed: int) -> None:
    instance = generate(("paper-4a", "paper-5a")[seed % 2], 12 + seed % 13, seed=seed)
    threshold = formulations.solve(instance)
    for name in ("compact", "boxed"):
        found = formulations.solve(instance, solver="highs", formulation=name)
        assert (found.objective, found.bound) == (threshold.objective, threshold.objective)


@pytest.mark.parametrize("lam_index", [None, 5])
@pytest.mark.parametrize("family", ["paper-4a", "paper-5a", "memory-tight"])
def test_lp_bounds_in_the_documented_order(family: str, lam_index: int | None) -> None:
    tables = build_tables(generate(family, 12, seed=3), rounded_up=False)
    gained = 0.0
    for z_index in (0, 2, 5, 8, 10):
        point = Point(z_index, lam_index)
        compact = lp_bound(build_rows(tables, point))
        levels, steps = (lp_bound(build_rows(tables, point, n)) for n in ("levels", "steps"))
        both = lp_bound(build_point(tables, point, BOTH))
        assert max(levels, steps) <= compact + 1e-6
        assert both <= min(levels, steps) + 1e-6
        gained += compact - both
    assert gained > 1e-3, "the tighter models are tighter somewhere"


def schedules(tables: CostTables, point: Point, goal: int) -> list[np.ndarray]:
    """Every feasible choice of modes that serves exactly `goal` users."""
    choices = product((0, AD, SD), repeat=tables.users)
    modes = (np.array(choice, np.int8) for choice in choices)
    return [
        m
        for m in modes
        if np.count_nonzero(m) == goal and fits(tables, Assignment(m, point.z_index))
    ]


@pytest.mark.parametrize("family", ["paper-4a", "paper-5a", "memory-tight", "ties"])
def test_counting_keeps_every_schedule(family: str) -> None:
    """Tightening and weights lose no schedule that serves the goal; brute force knows them all."""
    relaxation, closed = Relaxation(new_solver(Limits())), 0
    for seed, z_index in product(range(3), (2, 5, 8)):
        tables, point = build_tables(generate(family, 6, seed=seed), False), Point(z_index)
        for goal in range(1, 7):
            kept, setting = schedules(tables, point, goal), setting_at(tables, point, goal)
            box = tighten(setting, whole_box(setting))
            if box is None:
                assert not kept
                closed += 1
                continue
            weights = relaxation.weights(setting, box)
            assert not (kept and refutes(setting.query, box, weights))
            for side, code in enumerate((AD, SD)):
                users = setting.modes[side].users
                may = set(users[eligible(setting, box, side)].tolist())
                size = (box.ad, box.sd)[side].size
                for modes in kept:
                    members = set(np.flatnonzero(modes == code).tolist())
                    assert members <= may
                    assert size[0] <= len(members) <= size[1]
    assert closed > 0


def test_a_proof_holds_exactly_at_the_optimum() -> None:
    for family, users in (("paper-4a", 14), ("paper-5a", 14), ("memory-tight", 12)):
        instance = generate(family, users, seed=1)
        optimum = formulations.solve(instance).objective
        assert optimum is not None
        proof = prove(instance, optimum)
        assert (proof.verdict, proof.open) == ("proven", 0)
        assert prove(instance, optimum - 1).verdict == "refuted"


def test_a_proof_without_time_is_open() -> None:
    proof = prove(generate("paper-4a", 12, seed=1), 3, time_limit=1e-9)
    assert proof.verdict == "open"
    assert proof.open > 0


def test_groups_of_z() -> None:
    tables = build_tables(generate("paper-4a", 3, seed=1), rounded_up=False)
    assert groups(tables, tuple(range(11))) == [(0,), (10,), tuple(range(1, 10))]
    assert groups(tables, (4,)) == [(4,)]
