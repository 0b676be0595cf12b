"""The MILPs: two independent writings of one model, their sizes, and their scaling."""

from __future__ import annotations

import random
from typing import Any

import highspy
import numpy as np
import pyomo.environ as pyo
import pytest

import formulations
from formulations.grid import Limits
from formulations.highs import highs_model, new_solver
from formulations.p1 import p1_model
from formulations.p3 import p3_model
from formulations.points import Point
from formulations.rows import Rows, build_rows
from formulations.rows.data import Row
from formulations.rows.scaled import MARGIN, scale
from instances import CostTables, build_tables
from instances.assignment import AD, SD, Assignment, fits
from instances.generators import generate
from tests.helpers import make_instance, make_user


def rows_optimum(rows: Rows) -> float:
    solver = new_solver(Limits())
    solver.passModel(highs_model(scale(rows, relaxed=True)))
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)


def pyomo_optimum(model: Any) -> float:
    options = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.99, "presolve": "off"}
    pyo.SolverFactory("highs").solve(model, options=options)
    return float(pyo.value(model.served))


@pytest.mark.parametrize("family", ["paper-4a", "paper-5a", "memory-tight", "ties"])
@pytest.mark.parametrize("lam_index", [None, 3])
def test_rows_and_pyomo_agree_on_random_objectives(family: str, lam_index: int | None) -> None:
    rng = random.Random(7)
    tables = build_tables(generate(family, 6, seed=2), rounded_up=False)
    for z_index in (3, 8):
        point = Point(z_index, lam_index)
        rows = build_rows(tables, point)
        model = (p1_model if lam_index is None else p3_model)(tables, point, MARGIN)
        assert set(rows.ad) == set(model.x)
        assert set(rows.sd) == set(model.y)
        expression = 0
        for columns, choices in ((rows.ad, model.x), (rows.sd, model.y)):
            for user, column in columns.items():
                rows.objective[column] = rng.randint(1, 9)
                expression += rows.objective[column] * choices[user]
        model.served.set_value(expression)
        assert round(rows_optimum(rows)) == round(pyomo_optimum(model))


@pytest.mark.parametrize("lam_index", [None, 4])
def test_rows_accept_what_the_tables_accept(lam_index: int | None) -> None:
    """Every choice of modes, fixed, against `fits`: the linearisation is exact."""
    rng = random.Random(3)
    tables = build_tables(generate("paper-5a", 5, seed=4), rounded_up=False)
    seen = set()
    for _ in range(60):
        point = Point(rng.randint(1, 9), lam_index)
        rows = build_rows(tables, point)
        modes = np.zeros(tables.users, np.int8)
        for mode, columns in ((AD, rows.ad), (SD, rows.sd)):
            for user in columns:
                if rng.random() < 0.4:
                    modes[user] = mode
        expected = fits(tables, Assignment(modes, point.z_index, lam_index))
        assert rows_feasible(rows, modes) == expected
        seen.add(expected)
    assert seen == {True, False}


def rows_feasible(rows: Rows, modes: np.ndarray) -> bool:
    for mode, columns in ((AD, rows.ad), (SD, rows.sd)):
        for user, column in columns.items():
            value = int(modes[user] == mode)
            rows.exactly([(column, 1)], value)
    solver = new_solver(Limits())
    solver.passModel(highs_model(scale(rows, relaxed=True)))
    solver.run()
    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def levels(tables: CostTables) -> int:
    inputs, ranks = np.unique(tables.input_tokens).size, np.unique(tables.accept_rank).size
    return 2 * inputs + ranks


def test_documented_sizes() -> None:
    users = [
        make_user(f"u{i}", input_tokens=1 + i, acceptance_rate=0.1 * i, output_tokens=20)
        for i in range(6)
    ]
    instance = make_instance(*users, alpha_llm=1e-6, alpha_slm=1e-6)
    tables = build_tables(instance, rounded_up=False)
    assert tables.ad_allowed.all()
    assert tables.sd_allowed.all()
    k, n = tables.users, levels(tables)
    for point, model, rows in (
        (Point(1), formulations.build_p1(instance, 0.5), 10 * k + 2 * n + 12),
        (Point(1, 1), formulations.build_p3(instance, 0.5, 0.5), 10 * k + 2 * n + 13),
    ):
        direct = build_rows(tables, point)
        assert sum(direct.integer) == 2 * k + n
        assert len(direct.integer) - sum(direct.integer) == 2 * n + 6
        assert len(direct.rows) == rows
        variables = list(model.component_data_objects(pyo.Var))
        assert sum(variable.is_binary() for variable in variables) == 2 * k + n
        assert len(variables) == 2 * k + 3 * n + 6
        assert len(list(model.component_data_objects(pyo.Constraint))) == rows


def test_pyomo_names_and_refusals() -> None:
    instance = make_instance(make_user("a b"), make_user("a_b"))
    model = formulations.build_p1(instance, 0.5)
    assert [variable.name for variable in model.x.values()] == ["x[0]", "x[1]"]
    with pytest.raises(ValueError, match=r"z = 0\.3 is not in"):
        formulations.build_p1(instance, 0.3)
    with pytest.raises(ValueError, match=r"lam = 0\.3 is not in"):
        formulations.build_p3(instance, 0.5, 0.3)


def test_scaling_relaxes_and_keeps_structure() -> None:
    rows = Rows(1)
    binary, big = rows.binary(1), rows.continuous(10**18)
    rows.rows = [
        Row(((binary, 1),), 1),
        Row(((binary, 10**9), (big, 1)), 10**18),
        Row(((big, 1), (binary, -1)), 0),
    ]
    relaxed, plain = scale(rows, relaxed=True), scale(rows, relaxed=False)
    assert relaxed.upper_limit[0] == 1.0
    assert relaxed.upper_limit[1] == pytest.approx(1 + MARGIN, abs=1e-12)
    assert plain.upper_limit[1] == 1.0
    assert plain.upper_limit[2] == pytest.approx(1e-18), "a dropped credit is granted in full"
    assert relaxed.start.tolist() == [0, 1, 2, 3]
    assert np.abs(relaxed.value).max() == 1.0


def test_unknown_formulation() -> None:
    tables = build_tables(make_instance(make_user()))
    known = "compact, levels, steps"
    with pytest.raises(ValueError, match=f"unknown formulation 'x'; choose from {known}"):
        build_rows(tables, Point(1), "x")
