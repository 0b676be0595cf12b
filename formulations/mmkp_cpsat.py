"""The MMKP on CP-SAT."""

from __future__ import annotations

from importlib.metadata import version

from ortools.sat.python import cp_model

from instances.mmkp import MMKP

from .mmkp_relaxation import Choice, relaxed
from .mmkp_solvers import Limits, Optimum, round_down

#: CP-SAT has certified wrong optima on rows whose coefficients sum to more.
LARGEST_SUM = 2**31 - 1


class CpSatEngine:
    """The 0-1 model on CP-SAT, one worker."""

    def __init__(self, problem: MMKP) -> None:
        problem = relaxed(problem, LARGEST_SUM)
        model = cp_model.CpModel()
        self._x = [[model.new_bool_var("") for _ in group.items] for group in problem.classes]
        for group, x in zip(problem.classes, self._x, strict=True):
            if group.optional:
                model.add_at_most_one(x)
            else:
                model.add_exactly_one(x)
        pairs = [
            (x, item)
            for group, row in zip(problem.classes, self._x, strict=True)
            for x, item in zip(row, group.items, strict=True)
        ]
        for r, capacity in enumerate(problem.capacities):
            model.add(sum(int(item.weights[r]) * x for x, item in pairs) <= int(capacity))
        model.maximize(sum(int(item.profit) * x for x, item in pairs))
        self._model = model

    @staticmethod
    def version() -> str:
        """Return the version of OR-Tools."""
        return f"ortools {version('ortools')}"

    def add(self, left: list[Choice], right: int) -> None:
        """Add a cut."""
        self._model.add(sum(self._x[i][j] for i, j in left) <= right)

    def maximise(self, limits: Limits) -> Optimum:
        """Maximise the profit."""
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = limits.seed % 2**31
        if limits.time_limit is not None:
            solver.parameters.max_time_in_seconds = limits.time_limit
        status = solver.solve(self._model)
        if status == cp_model.INFEASIBLE:
            return Optimum(None, None)
        if status == cp_model.MODEL_INVALID:
            raise RuntimeError(f"CP-SAT refuses the model: {self._model.validate()}")
        if status == cp_model.UNKNOWN:  # its numbers are not set then
            return Optimum(None, None, "time_limit")
        bound = round_down(solver.best_objective_bound)
        stopped = None if status == cp_model.OPTIMAL else "time_limit"
        chosen = [
            next((j for j, x in enumerate(row) if solver.boolean_value(x)), None) for row in self._x
        ]
        return Optimum(tuple(chosen), bound, stopped)
