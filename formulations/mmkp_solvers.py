"""One entry for all exact methods of the MMKP, and the loop that makes their answers proofs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from heuristics.mmkp import heu
from instances import Status, stopwatch
from instances.mmkp import MMKP, Number, Selection, to_integers

from .mmkp_bounds import lp_bound
from .mmkp_relaxation import Choice, choices, cover

#: Profits beyond this sum are refused: solvers count them in doubles or 32 bits.
LARGEST_PROFIT = 2**31 - 1


@dataclass(frozen=True)
class Limits:
    """What one run of an engine may use.

    Parameters
    ----------
    time_limit : float or None
        Wall seconds.
    seed : int
    """

    time_limit: float | None = None
    seed: int = 0


@dataclass(frozen=True)
class Optimum:
    """An engine's answer on its relaxation.

    Parameters
    ----------
    selection : Selection or None
        The best found; None without any.
    bound : int or None
        Upper bound on the profit; None with `stopped_by` None means that nothing is feasible.
    stopped_by : str or None
        None when the run came to its end.
    """

    selection: Selection | None
    bound: int | None
    stopped_by: str | None = None


class Engine(Protocol):
    """A solver's model of an integer MMKP (possibly a relaxation) that takes cuts."""

    def add(self, left: list[Choice], right: int) -> None:
        """Allow at most `right` of the choices on the left."""

    def maximise(self, limits: Limits) -> Optimum:
        """Maximise the profit."""


@dataclass(frozen=True)
class MMKPResult:
    """What a method found on an MMKP.

    Parameters
    ----------
    status : Status
        ``optimal`` (objective equals bound), ``feasible``, ``infeasible`` (proven) or
        ``no_incumbent``.
    selection : Selection or None
        The best found, feasible in exact arithmetic.
    objective : int, Fraction or None
        Its profit.
    bound : int, Fraction or None
        Proven upper bound; None where nothing is feasible or the method stopped before any.
    stopped_by : str or None
        ``"time_limit"``, ...; None when it ran to its end.
    solver, solver_version : str
    runtime_s : float
        Wall seconds.
    statistics : dict
        Counters: ``rounds`` and ``cuts`` of the loop, ``nodes``, ``states``.
    """

    status: Status
    selection: Selection | None
    objective: Number | None
    bound: Number | None
    stopped_by: str | None
    solver: str
    solver_version: str
    runtime_s: float
    statistics: dict[str, Any] = field(default_factory=dict)


def round_down(bound: float) -> int | None:
    """Return a solver's bound on a whole number as an int; None if it has none yet."""
    return math.floor(bound + 1e-4) if math.isfinite(bound) else None


@dataclass
class Progress:
    """What a method knows so far, in integer profits."""

    selection: Selection | None = None
    bound: int | None = None
    stopped_by: str | None = None
    statistics: dict[str, Any] = field(default_factory=dict)


Method = Callable[[MMKP, float | None, int], Progress]


def _highs(problem: MMKP, time_limit: float | None, seed: int) -> Progress:
    from .mmkp_highs import HighsEngine

    return _with_cuts(problem, HighsEngine(problem), time_limit, seed)


def _pyomo(problem: MMKP, time_limit: float | None, seed: int) -> Progress:
    from .mmkp_pyomo import PyomoEngine

    return _with_cuts(problem, PyomoEngine(problem), time_limit, seed)


def _cpsat(problem: MMKP, time_limit: float | None, seed: int) -> Progress:
    from .mmkp_cpsat import CpSatEngine

    return _with_cuts(problem, CpSatEngine(problem), time_limit, seed)


def _dp(problem: MMKP, time_limit: float | None, seed: int) -> Progress:
    from .mmkp_exact import dynamic_programme

    return dynamic_programme(problem, time_limit)


def _bnb(problem: MMKP, time_limit: float | None, seed: int) -> Progress:
    from .mmkp_exact import branch_and_bound

    return branch_and_bound(problem, time_limit)


_METHODS: dict[str, Method] = {
    "highs": _highs,
    "cp-sat": _cpsat,
    "pyomo": _pyomo,
    "dp": _dp,
    "bnb": _bnb,
}


def _version(solver: str) -> str:
    from importlib.metadata import version

    packages = {"highs": ("highspy",), "cp-sat": ("ortools",), "pyomo": ("pyomo", "highspy")}
    return ", ".join(f"{p} {version(p)}" for p in packages.get(solver, ())) or "exact integers"


def mmkp_solvers() -> tuple[str, ...]:
    """Return the names that `solve_mmkp` takes."""
    return tuple(_METHODS)


def solve_mmkp(
    problem: MMKP, solver: str = "highs", time_limit: float | None = None, seed: int = 0
) -> MMKPResult:
    """Return an MMKP's optimum, or the interval proven until the time limit.

    Parameters
    ----------
    problem : MMKP
    solver : str
        ``"highs"``, ``"cp-sat"``, ``"pyomo"`` (MILP and CP models), or two independent methods for
        small problems in exact integers: ``"dp"`` (dynamic programme over non-dominated states) and
        ``"bnb"`` (depth-first branch and bound with a Lagrangian bound). With five
        items a class, ``"dp"`` takes seconds up to about 10 classes with 3 resources or 8 with 5,
        and ten times as long for two classes more (fewer resources: less); ``"bnb"`` goes on.
    time_limit : float, optional
        Wall seconds.
    seed : int

    Raises
    ------
    ValueError
        If no method has that name, or the profits in integers sum above 2^31 (solvers count them
        in doubles).

    Notes
    -----
    All numbers are first multiplied up to integers. The solvers' models are relaxations with small
    coefficients; a selection that overuses a resource in exact arithmetic is cut off by a cover
    inequality and the model solved again, so what is returned as optimal is feasible exactly and as
    good as any.
    """
    if solver not in _METHODS:
        raise ValueError(f"unknown MMKP solver {solver!r}; choose from {', '.join(_METHODS)}")
    started = stopwatch.seconds()
    integers, scale = to_integers(problem)
    profits = [int(item.profit) for group in integers.classes for item in group.items]
    if sum(map(abs, profits)) > LARGEST_PROFIT:
        raise ValueError(f"profits, as integers, must sum to at most {LARGEST_PROFIT}")
    found = _METHODS[solver](integers, time_limit, seed)
    objective = None if found.selection is None else problem.profit(found.selection)
    bound = None if found.bound is None else Fraction(found.bound, scale)
    return MMKPResult(
        _status(objective, bound, found.stopped_by),
        found.selection,
        objective,
        int(bound) if bound is not None and bound.denominator == 1 else bound,
        found.stopped_by,
        solver,
        _version(solver),
        stopwatch.seconds() - started,
        found.statistics,
    )


def _status(objective: Number | None, bound: Number | None, stopped_by: str | None) -> Status:
    if objective is not None:
        return Status.OPTIMAL if objective == bound else Status.FEASIBLE
    return Status.NO_INCUMBENT if stopped_by else Status.INFEASIBLE


def _with_cuts(problem: MMKP, engine: Engine, time_limit: float | None, seed: int) -> Progress:
    """Solve the relaxation until its optimum is feasible, cutting off what is not."""
    if not any(group.items for group in problem.classes):  # solvers refuse empty models
        return Progress((None,) * len(problem.classes), 0)
    ends = math.inf if time_limit is None else stopwatch.seconds() + time_limit
    most = math.floor(lp_bound(problem))  # a solver stopped early may have no bound worth the name
    best = Progress(heu(problem), most, None, {"rounds": 0, "cuts": 0})
    while True:
        left = None if time_limit is None else ends - stopwatch.seconds()
        if left is not None and left <= 0:
            best.stopped_by = "time_limit"
            return best
        answer = engine.maximise(Limits(left, seed))
        best.statistics["rounds"] += 1
        best.stopped_by = answer.stopped_by
        if answer.bound is not None and best.bound is not None:
            best.bound = min(answer.bound, best.bound)
        fits = answer.selection is not None and problem.feasible(answer.selection)
        if fits and _better(problem, answer.selection, best.selection):
            best.selection = answer.selection
        if answer.stopped_by or answer.selection is None or _proven(problem, best):
            return _checked(problem, best, answer)
        if fits:
            raise RuntimeError(f"{type(engine).__name__}: the bound lies above its own optimum")
        engine.add(*choices(cover(problem, answer.selection)))
        best.statistics["cuts"] += 1


def _better(problem: MMKP, new: Selection | None, old: Selection | None) -> bool:
    if new is None or old is None:
        return old is None
    return problem.profit(new) > problem.profit(old)


def _proven(problem: MMKP, best: Progress) -> bool:
    if best.selection is None or best.bound is None:
        return False
    return problem.profit(best.selection) >= best.bound


def _checked(problem: MMKP, best: Progress, answer: Optimum) -> Progress:
    """Refuse an answer that a feasible selection contradicts."""
    claims_none = answer.selection is None and not answer.stopped_by
    if claims_none and best.selection is None:
        best.bound = None
    if best.selection is None:
        return best
    profit = problem.profit(best.selection)
    if claims_none or (best.bound is not None and best.bound < profit):
        raise RuntimeError(f"the solver's bound contradicts a selection of profit {profit}")
    return best
