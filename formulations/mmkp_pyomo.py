"""The Pyomo model of the MMKP as an engine of `solve_mmkp`."""

from __future__ import annotations

from importlib.metadata import version

import pyomo.environ as pyo
from pyomo.contrib.appsi.base import TerminationCondition as Ending
from pyomo.contrib.appsi.solvers import Highs

from instances.mmkp import MMKP

from .grid import Limits as SolverLimits
from .highs import new_solver
from .mmkp_highs import LARGEST_SUM
from .mmkp_models import build_mmkp, selection_of
from .mmkp_relaxation import Choice, relaxed, with_slack
from .mmkp_solvers import Limits, Optimum, round_down


class PyomoEngine:
    """The Pyomo model on HiGHS, through Pyomo's own interface to it."""

    def __init__(self, problem: MMKP) -> None:
        self._problem = with_slack(relaxed(problem, LARGEST_SUM))
        self._model = build_mmkp(self._problem)

    @staticmethod
    def version() -> str:
        """Return the versions of Pyomo and highspy."""
        return f"pyomo {version('pyomo')}, highspy {version('highspy')}"

    def add(self, left: list[Choice], right: int) -> None:
        """Add a cut."""
        self._model.cuts.add(pyo.quicksum(self._model.x[pair] for pair in left) <= right)

    def maximise(self, limits: Limits) -> Optimum:
        """Maximise the profit."""
        new_solver(SolverLimits())  # swallows the banner of a process's first solver
        solver = Highs()
        solver.config.load_solution = False
        solver.config.time_limit = limits.time_limit
        solver.highs_options = {
            "mip_rel_gap": 0.0,
            "mip_abs_gap": 0.99,
            "random_seed": limits.seed % 2**31,
            "threads": 1,
        }
        result = solver.solve(self._model)
        ending = result.termination_condition
        if ending in (Ending.infeasible, Ending.infeasibleOrUnbounded):
            return Optimum(None, None)
        if ending not in (Ending.optimal, Ending.maxTimeLimit):
            return Optimum(None, None, f"status: {ending.name}")
        stopped = None if ending == Ending.optimal else "time_limit"
        bound = round_down(result.best_objective_bound)
        if result.best_feasible_objective is None:
            return Optimum(None, bound, stopped)
        result.solution_loader.load_vars()
        return Optimum(selection_of(self._problem, self._model), bound, stopped)
