"""The MMKP on HiGHS, without a modelling layer: the MILP, and its LP's dual values."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import highspy
import numpy as np

from instances.mmkp import MMKP

from . import interruptible
from .grid import Limits as SolverLimits
from .highs import new_solver
from .mmkp_relaxation import Choice, relaxed, with_slack
from .mmkp_solvers import Limits, Optimum, round_down

#: Rows sum to less than this, so that an integrality tolerance of 1e-6 never hides half a unit.
LARGEST_SUM = 2**18

_STATUS = highspy.HighsModelStatus
#: Statuses after which solution and bound mean something, and why the run ended.
_ENDINGS: dict[Any, str | None] = {
    _STATUS.kOptimal: None,
    _STATUS.kTimeLimit: "time_limit",
    _STATUS.kInterrupt: "interrupt",
}
#: Statuses that prove that nothing is feasible (every column is bounded).
_IMPOSSIBLE = (_STATUS.kInfeasible, _STATUS.kUnboundedOrInfeasible)


class HighsEngine:
    """The MILP on highspy, one thread; each run passes it to a fresh solver."""

    def __init__(self, problem: MMKP) -> None:
        self._problem = with_slack(relaxed(problem, LARGEST_SUM))
        self._cuts: list[tuple[list[Choice], int]] = []

    @staticmethod
    def version() -> str:
        """Return the version of highspy."""
        return f"highspy {version('highspy')}"

    def add(self, left: list[Choice], right: int) -> None:
        """Add a cut."""
        self._cuts.append((left, right))

    def maximise(self, limits: Limits) -> Optimum:
        """Maximise the profit."""
        solver = new_solver(SolverLimits(limits.time_limit, None, limits.seed))
        solver.setOptionValue("presolve", "choose")  # safe here: no row comes near its tolerance
        columns = _columns(self._problem)
        solver.passModel(_model(self._problem, columns, self._cuts, integer=True))
        interruptible.run(solver.run, solver.cancelSolve)
        status, info = solver.getModelStatus(), solver.getInfo()
        if status in _IMPOSSIBLE:
            return Optimum(None, None)
        if status not in _ENDINGS:
            return Optimum(None, None, f"status: {solver.modelStatusToString(status)}")
        bound = round_down(info.mip_dual_bound)
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return Optimum(None, bound, _ENDINGS[status])
        values = np.rint(solver.getSolution().col_value)
        chosen: list[int | None] = [None] * len(self._problem.classes)
        for (i, j), value in zip(columns, values, strict=True):
            if value:
                chosen[i] = j
        return Optimum(tuple(chosen), bound, _ENDINGS[status])


def lp_duals(problem: MMKP) -> list[float]:
    """Return the resources' dual values in the LP relaxation, >= 0; zeros where it has none.

    Floats, good to solver tolerance; `mmkp_bounds` turns them into an exact bound.
    """
    columns = _columns(problem)
    if not columns or not problem.capacities:
        return [0.0] * len(problem.capacities)
    solver = new_solver(SolverLimits(None, None, 0))
    solver.passModel(_model(problem, columns, [], integer=False, unit_rows=True))
    interruptible.run(solver.run, solver.cancelSolve)
    if solver.getModelStatus() != _STATUS.kOptimal:
        return [0.0] * len(problem.capacities)
    duals = solver.getSolution().row_dual[len(problem.classes) :]
    return [
        max(0.0, dual) / max(1.0, float(capacity))
        for dual, capacity in zip(duals, problem.capacities, strict=True)
    ]


def _columns(problem: MMKP) -> list[Choice]:
    return [(i, j) for i, group in enumerate(problem.classes) for j in range(len(group.items))]


def _model(
    problem: MMKP,
    columns: list[Choice],
    cuts: list[tuple[list[Choice], int]],
    integer: bool,
    unit_rows: bool = False,
) -> Any:
    """Return the model: class rows, resource rows (divided by their capacities if asked), cuts."""
    items = [problem.classes[i].items[j] for i, j in columns]
    position = {choice: k for k, choice in enumerate(columns)}
    groups = np.array([i for i, _ in columns])
    ones = np.ones(len(columns))
    rows = [(np.flatnonzero(groups == i), ones) for i in range(len(problem.classes))]
    lower = [0.0 if group.optional else 1.0 for group in problem.classes]
    upper = [1.0] * len(problem.classes)
    for r, capacity in enumerate(problem.capacities):
        scale = max(1.0, float(capacity)) if unit_rows else 1.0
        weights = np.array([float(item.weights[r]) for item in items]) / scale
        used = np.flatnonzero(weights)
        rows.append((used, weights[used]))
        upper.append(float(capacity) / scale)
    for left, right in cuts:
        rows.append((np.array([position[choice] for choice in left]), ones))
        upper.append(float(right))
    lower += [-highspy.kHighsInf] * (len(rows) - len(lower))
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(columns), len(rows)
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_ = np.array([float(item.profit) for item in items])
    model.col_lower_, model.col_upper_ = np.zeros(len(columns)), ones
    model.row_lower_, model.row_upper_ = np.array(lower), np.array(upper)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.cumsum([0] + [len(index) for index, _ in rows])
    model.a_matrix_.index_ = np.concatenate([index for index, _ in rows])
    model.a_matrix_.value_ = np.concatenate([value[: len(index)] for index, value in rows])
    if integer:
        model.integrality_ = [highspy.HighsVarType.kInteger] * len(columns)
    return model
