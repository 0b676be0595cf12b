"""Back end ``cp-sat``: one constraint program for all z and λ, one worker, no presolve."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from instances import CostTables, stopwatch
from instances.assignment import Assignment, fits

from .backend import Answer, Request, check_options
from .covers import violated_covers
from .cpsat_model import CpSatModel
from .grid import MOST_ROUNDS, integer_bound
from .points import Point
from .rows import cuts_of

_FOUND = (cp_model.OPTIMAL, cp_model.FEASIBLE)


class CpSatBackend:
    """CP-SAT on coarse integers; cover cuts restore what coarsening lost.

    Presolve is off because with it CP-SAT has returned wrong optima on large coefficients; it is
    also several times faster without. Pair and dominance cuts are on, unless the options name a
    formulation (``"compact"``: the plain model) or other ``cuts``.
    """

    name = "cp-sat"

    def version(self) -> str:
        """Return the version of OR-Tools."""
        return f"ortools {version('ortools')} (CP-SAT)"

    def check(self, request: Request) -> None:
        """Refuse unknown options and cuts, and node limits: CP-SAT has no nodes."""
        known = frozenset({"formulation", "cuts"})
        check_options(self.name, request, known, counts_nodes=False, weighted=True)
        cuts_of(request.options)
        formulation = request.options.get("formulation", "compact")
        if formulation != "compact":
            raise ValueError(f"unknown formulation {formulation!r} of cp-sat; choose from compact")

    def solve(self, tables: CostTables, request: Request) -> Answer:
        """Maximise the objective."""
        self.check(request)
        return _Search(tables, request).run()


class _Search:
    """Solve, recheck on the integer tables, cut, and solve again."""

    def __init__(self, tables: CostTables, request: Request) -> None:
        self.tables, self.request = tables, request
        self.started = stopwatch.seconds()
        self.best = request.start
        self.bound = int(tables.value.sum())
        self.model = CpSatModel(tables, request)
        self.statistics: dict[str, Any] = {
            "build_s": stopwatch.seconds() - self.started,
            "solves": 0,
            "cover_cuts": 0,
            "conflicts": 0,
            "branches": 0,
        }

    def run(self) -> Answer:
        """Repeat until an answer satisfies the tables, or none can beat the start."""
        value = self.tables.worth(self.best.modes) if self.best else 0
        stopped_by = None
        if value < self.bound:
            self.model.require(value + 1)
            stopped_by = self._rounds(value)
        else:
            self.bound = value
        if self.best is None and self.bound == 0:
            self.best = self._nobody()
        return Answer(self.best, self.bound, stopped_by, self.statistics)

    def _rounds(self, value: int) -> str | None:
        for _ in range(MOST_ROUNDS):
            left = self._time_left()
            if left is not None and left <= 0:
                return "time_limit"
            solver = self._solver(left)
            status = solver.solve(self.model.model)
            self._count(solver)
            if status == cp_model.INFEASIBLE:
                self.bound = value
                return None
            if status not in (*_FOUND, cp_model.UNKNOWN):
                return f"status: {solver.status_name(status).lower()}"
            self.bound = integer_bound(solver.best_objective_bound, self.bound)
            finished = status == cp_model.OPTIMAL
            if status in _FOUND and self._accept(self.model.assignment(solver.boolean_value)):
                return None if finished else self._cause()
            if not finished:
                return self._cause()
        return "numerical_trouble"

    def _accept(self, found: Assignment) -> bool:
        """Make an assignment the incumbent if the tables accept it; otherwise cut it off."""
        if fits(self.tables, found):
            self.best = found
            return True
        for z in self.request.z_indices:
            share, whole = Point(z).shares(self.tables)
            if z != found.z_index and share in (0, whole):
                continue
            point = Point(z, found.lam_index, self.request.allow_ad, self.request.allow_sd)
            covers = violated_covers(self.tables, point, found.modes)
            for cover in covers:
                self.model.add(point, cover)
            self.statistics["cover_cuts"] += len(covers)
        return False

    def _time_left(self) -> float | None:
        limit = self.request.time_limit
        return None if limit is None else limit - (stopwatch.seconds() - self.started)

    def _cause(self) -> str:
        """Why a run ended early: CP-SAT itself catches Ctrl-C, and reports no difference."""
        left = self._time_left()
        return "interrupt" if left is None or left > 0.1 else "time_limit"

    def _solver(self, left: float | None) -> Any:
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.cp_model_presolve = False
        solver.parameters.random_seed = self.request.seed % 2**31
        if left is not None:
            solver.parameters.max_time_in_seconds = left
        return solver

    def _count(self, solver: Any) -> None:
        self.statistics["solves"] += 1
        self.statistics["conflicts"] += solver.num_conflicts
        self.statistics["branches"] += solver.num_branches

    def _nobody(self) -> Assignment:
        lams = self.request.lam_indices
        modes = np.zeros(self.tables.users, np.int8)
        return Assignment(modes, self.request.z_indices[0], lams[0] if lams else None)


def backend() -> CpSatBackend:
    """Return the back end."""
    return CpSatBackend()
