"""Back ends ``pyomo:NAME``: the Pyomo models of P1 and P3 on any solver that Pyomo knows."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.opt import TerminationCondition

from instances import CostTables
from instances.assignment import AD, SD

from .backend import Request
from .covers import Cover, Modes
from .grid import GridBackend, Limits, PointAnswer, absolute_gap, integer_bound
from .p1 import p1_model
from .p3 import p3_model
from .points import Point, Points

#: Relaxation of rows with non-integers on relaxed tables, on top of a solver's own tolerance.
MARGIN = 1e-6
#: Terminations after which solution and bound mean something, and why the run ended.
_ENDINGS = {
    TerminationCondition.optimal: None,
    TerminationCondition.globallyOptimal: None,
    TerminationCondition.maxTimeLimit: "time_limit",
    TerminationCondition.maxIterations: "node_limit",
    TerminationCondition.userInterrupt: "interrupt",
}
_IMPOSSIBLE = (
    TerminationCondition.infeasible,
    TerminationCondition.infeasibleOrUnbounded,
)
#: Stands for the absolute gap, which depends on the users' values.
GAP = object()
#: What turns a solver's gap off and its threads down, by the solver's own option names.
_OPTIONS: dict[str, dict[str, Any]] = {
    "highs": {"mip_rel_gap": 0.0, "mip_abs_gap": GAP, "threads": 1, "presolve": "off"},
    "gurobi": {"MIPGap": 0.0, "MIPGapAbs": GAP, "Threads": 1},
    "cplex": {"mip_tolerances_mipgap": 0.0, "mip_tolerances_absmipgap": GAP, "threads": 1},
    "xpress": {"miprelstop": 0.0, "mipabsstop": GAP, "threads": 1},
    "scip": {"limits/gap": 0.0, "limits/absgap": GAP},
    "cbc": {"ratioGap": 0.0, "allowableGap": GAP, "threads": 1},
    "glpk": {"mipgap": 0.0},
}
#: How to get solvers that people install from the package index.
_INSTALL = {
    "highs": "pip install highspy",
    "gurobi": "pip install gurobipy",
    "xpress": "pip install xpress",
    "cplex": "pip install cplex",
    "scip": "install SCIP and put `scip` on the path",
    "cbc": "install COIN-OR CBC and put `cbc` on the path",
    "glpk": "install GLPK and put `glpsol` on the path",
}


def _plain(name: str) -> str:
    """Return the solver behind one of Pyomo's interfaces: ``appsi_highs`` -> ``highs``."""
    return next((known for known in _OPTIONS if known in name), name)


class PyomoSolver:
    """Solver of single points on a solver that Pyomo knows.

    Parameters
    ----------
    name : str
        Pyomo's name of the solver.

    Raises
    ------
    ModuleNotFoundError
        If Pyomo does not find the solver; the message says what to install.
    """

    options: frozenset[str] = frozenset()
    counts_nodes = False

    def __init__(self, name: str) -> None:
        self.name = name
        with _quiet():
            self._solver = pyo.SolverFactory(name)
            found = bool(self._solver.available(exception_flag=False))
        if not found:
            advice = _INSTALL.get(_plain(name), f"check the name or install {name}")
            raise ModuleNotFoundError(f"Pyomo finds no solver {name!r}: {advice}")

    def version(self) -> str:
        """Return the versions of Pyomo and of the solver."""
        number = ".".join(str(part) for part in self._solver.version() or ())
        return f"pyomo {version('pyomo')}, {self.name} {number}".strip()

    def check(self, request: Request) -> None:
        """Nothing more to refuse."""

    def together(self, tables: CostTables, options: dict[str, Any]) -> bool:
        """Point by point."""
        return False

    def build(self, tables: CostTables, points: Points, options: dict[str, Any]) -> PyomoModel:
        """Return the model of one point; relaxed where the tables are a relaxation."""
        (point,) = points
        margin = 0.0 if tables.rounded_up else MARGIN
        build = p1_model if point.lam_index is None else p3_model
        gap = absolute_gap(tables.weighted)
        settings = _OPTIONS.get(_plain(self.name), {})
        settings = {name: gap if value is GAP else value for name, value in settings.items()}
        return PyomoModel(build(tables, point, margin), tables, self._solver, settings)


class PyomoModel:
    """One point's Pyomo model with its solver."""

    def __init__(
        self, model: Any, tables: CostTables, solver: Any, settings: dict[str, Any]
    ) -> None:
        self._model, self._tables = model, tables
        self._solver, self._settings = solver, settings
        model.covers = pyo.ConstraintList()

    def add(self, point: Point, cover: Cover) -> None:
        """Add a cover cut; this model knows no other point."""
        model = self._model
        terms = [model.x[int(k)] for k in cover.ad] + [model.y[int(k)] for k in cover.sd]
        model.covers.add(pyo.quicksum(terms) <= cover.limit)

    def solve(self, at_least: int, limits: Limits) -> PointAnswer:
        """Maximise the objective, which must be at least `at_least`."""
        model = self._model
        most = int(self._tables.value[list(set(model.x) | set(model.y))].sum())
        if most < at_least:
            return PointAnswer(None, most)
        model.del_component("cutoff")
        model.cutoff = pyo.Constraint(expr=model.served.expr >= at_least)
        with _quiet():
            results = self._run(limits)
        condition = results.solver.termination_condition
        if condition in _IMPOSSIBLE:
            return PointAnswer(None, at_least - 1)
        if condition not in _ENDINGS:
            return PointAnswer(None, most, f"status: {condition}")
        bound = integer_bound(_number(results.problem.upper_bound), most)
        if not len(results.solution):
            return PointAnswer(None, bound, _ENDINGS[condition])
        modes = self._modes(results)
        found = modes if self._tables.worth(modes) >= at_least else None
        return PointAnswer(found, bound, _ENDINGS[condition])

    def _run(self, limits: Limits) -> Any:
        settings = dict(self._settings)
        if "mip_rel_gap" in settings:
            settings["random_seed"] = limits.seed % 2**31
        arguments = {"load_solutions": False, "options": settings}
        if limits.time_limit is not None:
            arguments["timelimit"] = limits.time_limit
        return self._solver.solve(self._model, **arguments)

    def _modes(self, results: Any) -> Modes:
        """Return the solution's modes, binaries rounded."""
        with _quiet():
            self._model.solutions.load_from(results)
        modes = np.zeros(self._tables.users, np.int8)
        for mode, choices in ((AD, self._model.x), (SD, self._model.y)):
            for k, choice in choices.items():
                if choice.value is not None and round(choice.value) == 1:
                    modes[k] = mode
        return modes


def _number(bound: Any) -> float:
    """Return a bound as Pyomo reports it; infinite where there is none."""
    try:
        return float(bound)
    except (TypeError, ValueError):
        return float("inf")


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Pyomo's log: what it warns of (no solution, a limit met) is read from the status."""
    logger = logging.getLogger("pyomo")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def backend(name: str) -> GridBackend:
    """Return the back end for Pyomo's solver of that name."""
    return GridBackend(f"pyomo:{name}", PyomoSolver(name))
