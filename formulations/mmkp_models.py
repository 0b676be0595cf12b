"""The MMKP as a Pyomo model, and that model as an engine of `solve_mmkp`."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pyomo.environ as pyo
from pyomo.contrib.appsi.solvers import Highs

from instances.mmkp import MMKP, Number, Selection

from .mmkp_relaxation import Choice, relaxed, with_slack
from .mmkp_solvers import Limits, Optimum, round_down

#: Rows sum to less than this, so that an integrality tolerance of 1e-6 never hides half a unit.
LARGEST_SUM = 2**18


def build_mmkp(problem: MMKP) -> pyo.ConcreteModel:
    """Return the MMKP as a Pyomo model.

    Maximise ``Σ_i Σ_j p_ij x_ij`` subject to ``Σ_i Σ_j w_ijr x_ij <= c_r`` for each resource r and
    ``Σ_j x_ij = 1`` (``<= 1`` where the class is optional) for each class i, x binary.

    Parameters
    ----------
    problem : MMKP

    Returns
    -------
    pyomo.environ.ConcreteModel
        Variables ``x[i, j]`` (class i, item j, both from 0), constraints ``one[i]`` and
        ``resource[r]``, objective ``profit``, and an empty list ``cuts``. Rows without variables
        are left out, except that a class that cannot be served makes ``one`` infeasible.
    """
    model = pyo.ConcreteModel(name=problem.name or "MMKP")
    pairs = [(i, j) for i, group in enumerate(problem.classes) for j in range(len(group.items))]
    model.x = pyo.Var(pairs, domain=pyo.Binary)

    def one(model: Any, i: int) -> Any:
        group = problem.classes[i]
        if not group.items:
            return pyo.Constraint.Skip
        total = pyo.quicksum(model.x[i, j] for j in range(len(group.items)))
        return total <= 1 if group.optional else total == 1

    def resource(model: Any, r: int) -> Any:
        weights = {pair: _item(problem, pair).weights[r] for pair in pairs}
        terms = [_float(weight) * model.x[pair] for pair, weight in weights.items() if weight]
        return (
            pyo.quicksum(terms) <= _float(problem.capacities[r]) if terms else pyo.Constraint.Skip
        )

    model.one = pyo.Constraint(range(len(problem.classes)), rule=one)
    model.resource = pyo.Constraint(range(len(problem.capacities)), rule=resource)
    model.profit = pyo.Objective(
        expr=pyo.quicksum(_float(_item(problem, pair).profit) * model.x[pair] for pair in pairs),
        sense=pyo.maximize,
    )
    model.cuts = pyo.ConstraintList()
    return model


def _item(problem: MMKP, choice: Choice) -> Any:
    return problem.classes[choice[0]].items[choice[1]]


def _float(value: Number) -> int | float:
    return value if isinstance(value, int) else float(value)


def selection_of(problem: MMKP, model: pyo.ConcreteModel) -> Selection:
    """Return the selection that a solved model holds, its values rounded."""
    chosen: list[int | None] = [None] * len(problem.classes)
    for (i, j), variable in model.x.items():
        if round(pyo.value(variable)):
            chosen[i] = j
    return tuple(chosen)


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
        from pyomo.contrib.appsi.base import TerminationCondition as Ending

        from .highs import _greeted

        _greeted()
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
