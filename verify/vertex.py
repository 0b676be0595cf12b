"""A vertex of an MMKP's linear relaxation, in rationals: HiGHS finds the basis, we solve it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from instances.mmkp import MMKP

from .optima import NotProven

#: Value of each item, class by class.
Vertex = list[list[Fraction]]
Row = dict[int, Fraction]


def vertex(problem: MMKP) -> Vertex:
    """Return a basic optimal solution of the linear relaxation.

    Parameters
    ----------
    problem : MMKP
        All classes optional.

    Raises
    ------
    NotProven
        If HiGHS has no basis, or its basis, within HiGHS's tolerance, is infeasible in rationals.
    """
    rows, sides = _rows(problem)
    columns = sum(len(group.items) for group in problem.classes)
    if not columns:
        return [[] for _ in problem.classes]
    basic, tight = _basis(problem, rows, sides)
    solution = _solved([rows[i] for i in tight], [sides[i] for i in tight], basic)
    values = [solution.get(j, Fraction(0)) for j in range(columns)]
    used = [sum((w * values[j] for j, w in row.items()), Fraction(0)) for row in rows]
    if min(values, default=0) < 0 or any(u > s for u, s in zip(used, sides, strict=True)):
        raise NotProven("HiGHS's basis is infeasible in exact arithmetic")
    entries = iter(values)
    return [[next(entries) for _ in group.items] for group in problem.classes]


def _rows(problem: MMKP) -> tuple[list[Row], list[Fraction]]:
    """Return the rows Σ w x <= side: one for each class, then one for each resource.

    A resource's row is divided by its capacity, or by its largest weight where that is 0.
    """
    rows: list[Row] = []
    items = [item for group in problem.classes for item in group.items]
    column = 0
    for group in problem.classes:
        rows.append({column + j: Fraction(1) for j in range(len(group.items))})
        column += len(group.items)
    sides = [Fraction(1)] * len(rows)
    for r, capacity in enumerate(problem.capacities):
        largest = max((item.weights[r] for item in items), default=Fraction(0))
        scale = Fraction(capacity or largest or 1)
        rows.append({j: item.weights[r] / scale for j, item in enumerate(items) if item.weights[r]})
        sides.append(capacity / scale)
    return rows, sides


def _basis(problem: MMKP, rows: list[Row], sides: list[Fraction]) -> tuple[list[int], list[int]]:
    """Return the basic columns and the rows whose slack is not basic, as simplex leaves them."""
    import highspy

    from formulations.highs import _greeted

    _greeted()
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("solver", "simplex")
    solver.setOptionValue("presolve", "off")
    profits = [float(item.profit) for group in problem.classes for item in group.items]
    solver.addVars(len(profits), np.zeros(len(profits)), np.full(len(profits), highspy.kHighsInf))
    solver.changeColsCost(len(profits), np.arange(len(profits), dtype=np.int32), np.array(profits))
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    for row, side in zip(rows, sides, strict=True):
        indices = np.array(list(row), np.int32)
        weights = np.array([float(weight) for weight in row.values()])
        solver.addRow(-highspy.kHighsInf, float(side), len(row), indices, weights)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise NotProven(f"HiGHS: {solver.modelStatusToString(solver.getModelStatus())}")
    basis, kind = solver.getBasis(), highspy.HighsBasisStatus.kBasic
    basic = [j for j, status in enumerate(basis.col_status) if status == kind]
    return basic, [i for i, status in enumerate(basis.row_status) if status != kind]


def _solved(rows: list[Row], sides: list[Fraction], columns: list[int]) -> dict[int, Fraction]:
    """Return the solution of a square system over some columns, by Gauss-Jordan elimination.

    Raises
    ------
    NotProven
        If the system is singular or not square.
    """
    wanted = set(columns)
    system = [
        ({j: w for j, w in row.items() if j in wanted}, side)
        for row, side in zip(rows, sides, strict=True)
    ]
    solution: dict[int, tuple[Row, Fraction]] = {}
    if len(system) != len(columns):
        raise NotProven("HiGHS's basis is not square")
    for column in columns:
        pivot = next((p for p, (row, _) in enumerate(system) if row.get(column)), None)
        if pivot is None:
            raise NotProven("HiGHS's basis is singular")
        row, side = system.pop(pivot)
        factor = row[column]
        chosen = {j: w / factor for j, w in row.items()}, side / factor
        system = [_without(entry, chosen, column) for entry in system]
        solution = {j: _without(entry, chosen, column) for j, entry in solution.items()}
        solution[column] = chosen
    return {j: side for j, (_, side) in solution.items()}


def _without(
    entry: tuple[Row, Fraction], pivot: tuple[Row, Fraction], column: int
) -> tuple[Row, Fraction]:
    """Return a row less the multiple of the pivot row that clears a column."""
    row, side = entry
    factor = row.get(column)
    if not factor:
        return entry
    cleared = dict(row)
    for j, weight in pivot[0].items():
        cleared[j] = cleared.get(j, Fraction(0)) - factor * weight
    return {j: w for j, w in cleared.items() if w}, side - factor * pivot[1]
