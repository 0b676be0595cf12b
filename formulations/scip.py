"""Back end ``scip``: the rows of `formulations.rows` on the SCIP inside OR-Tools (MathOpt)."""

from __future__ import annotations

from datetime import timedelta
from importlib.metadata import version
from typing import Any

from ortools.math_opt.python import mathopt
from ortools.util.python.solve_interrupter import SolveInterrupter

from . import interruptible
from .grid import GridBackend, Limits, PointAnswer, integer_bound
from .quiet import STDERR, quiet
from .row_solver import RowModel, RowSolver
from .rows.scaled import ScaledRows

_REASON = mathopt.TerminationReason
#: Terminations after which solution and bound mean something.
_ENDINGS = (_REASON.OPTIMAL, _REASON.FEASIBLE, _REASON.NO_SOLUTION_FOUND)
#: Terminations that prove that no choice reaches the cutoff (every column is bounded).
_IMPOSSIBLE = (_REASON.INFEASIBLE, _REASON.INFEASIBLE_OR_UNBOUNDED)
_LIMITS = {
    mathopt.Limit.TIME: "time_limit",
    mathopt.Limit.NODE: "node_limit",
    mathopt.Limit.INTERRUPTED: "interrupt",
}


class ScipModel(RowModel):
    """One point's rows on MathOpt."""

    def _ask(self, rows: ScaledRows, at_least: int, limits: Limits) -> PointAnswer:
        (model, columns), most = _model(rows), self._rows.most
        stop = SolveInterrupter()
        with quiet(STDERR):  # each solve with an interrupter reports two errors that are none
            result = interruptible.run(
                lambda: mathopt.solve(
                    model,
                    mathopt.SolverType.GSCIP,
                    params=_parameters(limits, self._gap),
                    interrupter=stop,
                ),
                stop.interrupt,
            )
        reason = result.termination.reason
        nodes = max(0, int(result.solve_stats.node_count))
        if reason in _IMPOSSIBLE:
            return PointAnswer(None, at_least - 1, nodes=nodes)
        if reason not in _ENDINGS:
            return PointAnswer(None, most, f"status: {reason.name.lower()}", nodes)
        stopped_by = None
        if reason is not _REASON.OPTIMAL:
            limit = result.termination.limit
            stopped_by = _LIMITS.get(limit, f"status: {limit.name.lower() if limit else 'none'}")
        bound = integer_bound(result.dual_bound(), most)
        if not result.solutions:
            return PointAnswer(None, bound, stopped_by, nodes)
        return self._found(result.variable_values(columns), bound, at_least, stopped_by, nodes)


class ScipSolver(RowSolver):
    """Solver of single points on OR-Tools' SCIP."""

    model = ScipModel

    def version(self) -> str:
        """Return the version of OR-Tools, which contains SCIP."""
        return f"ortools {version('ortools')} (SCIP)"


def _parameters(limits: Limits, gap: float) -> Any:
    seconds = limits.time_limit
    return mathopt.SolveParameters(
        time_limit=None if seconds is None else timedelta(seconds=seconds),
        node_limit=limits.node_limit,
        threads=1,
        random_seed=limits.seed % 2**31,
        relative_gap_tolerance=0.0,
        absolute_gap_tolerance=gap,
    )


def _model(rows: ScaledRows) -> tuple[Any, list[Any]]:
    """Return the MathOpt model and its columns in order."""
    model = mathopt.Model()
    columns = [
        model.add_variable(lb=0.0, ub=float(upper), is_integer=bool(whole))
        for upper, whole in zip(rows.upper, rows.integer, strict=True)
    ]
    for i, (lower, upper) in enumerate(zip(rows.lower_limit, rows.upper_limit, strict=True)):
        row = model.add_linear_constraint(lb=float(lower), ub=float(upper))
        for entry in range(rows.start[i], rows.start[i + 1]):
            row.set_coefficient(columns[rows.index[entry]], float(rows.value[entry]))
    model.objective.is_maximize = True
    for column, factor in zip(columns, rows.objective, strict=True):
        if factor:
            model.objective.set_linear_coefficient(column, float(factor))
    return model, columns


def backend() -> GridBackend:
    """Return the back end."""
    return GridBackend("scip", ScipSolver())
