"""Back end ``highs``: the rows of `formulations.rows` on HiGHS, without a modelling layer."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any

import highspy
import numpy as np

from . import interruptible
from .grid import GridBackend, Limits, PointAnswer, absolute_gap, integer_bound
from .quiet import STDOUT, quiet
from .row_solver import RowModel, RowSolver
from .rows.scaled import ScaledRows

_STATUS = highspy.HighsModelStatus
#: Statuses after which solution and bound mean something, and why the run ended.
_ENDINGS: dict[Any, str | None] = {
    _STATUS.kOptimal: None,
    _STATUS.kTimeLimit: "time_limit",
    _STATUS.kSolutionLimit: "node_limit",
    _STATUS.kInterrupt: "interrupt",
}
#: Statuses that prove that no choice reaches the cutoff (every column is bounded).
_IMPOSSIBLE = (_STATUS.kInfeasible, _STATUS.kUnboundedOrInfeasible)


class HighsModel(RowModel):
    """One point's rows on highspy."""

    def _ask(self, rows: ScaledRows, at_least: int, limits: Limits) -> PointAnswer:
        solver, most = new_solver(limits, self._gap), self._rows.most
        solver.passModel(highs_model(rows))
        _run(solver)
        status = solver.getModelStatus()
        if status in _IMPOSSIBLE:
            return PointAnswer(None, at_least - 1)
        info = solver.getInfo()
        nodes = max(0, int(info.mip_node_count))
        if status not in _ENDINGS:
            return PointAnswer(None, most, f"status: {solver.modelStatusToString(status)}", nodes)
        bound = integer_bound(info.mip_dual_bound, most)
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return PointAnswer(None, bound, _ENDINGS[status], nodes)
        values = solver.getSolution().col_value
        return self._found(values, bound, at_least, _ENDINGS[status], nodes)


class HighsSolver(RowSolver):
    """Solver of single points on highspy."""

    model = HighsModel

    def version(self) -> str:
        """Return the version of highspy."""
        return f"highspy {version('highspy')}"


@cache
def _greeted() -> None:
    """Let HiGHS print its banner, which it does once a process, where nobody parses it."""
    with quiet(STDOUT):
        highspy.Highs().setOptionValue("output_flag", False)


def new_solver(limits: Limits, gap: float = absolute_gap(weighted=False)) -> Any:
    """Return a silent HiGHS on one thread with no relative, this absolute gap and these limits."""
    _greeted()
    solver = highspy.Highs()
    options: dict[str, Any] = {
        "output_flag": False,
        "threads": 1,
        "random_seed": limits.seed % 2**31,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": gap,
        # HiGHS 1.16's presolve (probing) has cut off optima where coefficients come near its
        # tolerance; these models are solved as fast without.
        "presolve": "off",
    }
    if limits.time_limit is not None:
        options["time_limit"] = float(limits.time_limit)
    if limits.node_limit is not None:
        options["mip_max_nodes"] = limits.node_limit
    for name, value in options.items():
        if solver.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise RuntimeError(f"HiGHS refuses option {name} = {value}")
    return solver


def highs_model(rows: ScaledRows) -> Any:
    """Return scaled rows as a model of HiGHS."""
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(rows.upper), len(rows.upper_limit)
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_, model.col_upper_ = rows.objective, rows.upper
    model.col_lower_ = np.zeros(len(rows.upper))
    model.row_lower_, model.row_upper_ = rows.lower_limit, rows.upper_limit
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = rows.start, rows.index
    model.a_matrix_.value_ = rows.value
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    model.integrality_ = [kinds[whole] for whole in rows.integer.tolist()]
    return model


def _run(solver: Any) -> None:
    """Run to the end; Ctrl-C stops the solver, which keeps its incumbent and bound."""
    solver.HandleUserInterrupt = True
    interruptible.run(solver.run, solver.cancelSolve)


def backend() -> GridBackend:
    """Return the back end."""
    return GridBackend("highs", HighsSolver())
