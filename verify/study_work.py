"""One algorithm on one instance of a study: solved, timed, judged, measured."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import heuristics
from formulations import solver_names
from formulations.api import DEFAULT_SOLVER
from instances import InputError, Instance, Problem, Result, Schedule, User, drafts, exact, generate

from . import algorithms, bench_lines
from .guarantee import find_solver
from .judge import check
from .kernels import WARM_UP, WARM_UP_LIMIT_S
from .study_fields import Settings, build

#: The certified optimum, by whichever exact solver is the fastest.
OPTIMUM = "optimum"


@dataclass(frozen=True)
class Run:
    """An algorithm on an instance.

    Parameters
    ----------
    settings : mapping
        Of the instance, as `study_fields.build` takes them.
    algorithm : str
        As `find` takes it.
    """

    settings: Settings
    algorithm: str


@dataclass(frozen=True)
class Solving:
    """What turns a `Run` into a row, on any worker.

    Parameters
    ----------
    problem : {"P1", "P2"}
        What exact solvers solve.
    time_limit : float
        Their wall seconds.
    """

    problem: Problem
    time_limit: float

    def __call__(self, run: Run) -> dict[str, Any]:
        """Return the row: what was found, what it cost and what the judge says of it."""
        instance = build(run.settings)
        _warm_up(run.algorithm, self.problem)
        cpu, wall = time.process_time(), time.perf_counter()
        try:
            result = solve(run.algorithm, instance, self.problem, self.time_limit)
        except ValueError as error:
            if is_exact(run.algorithm) or ":" not in run.algorithm:
                raise  # refused: it says itself that it is not for this instance
            return {"users": len(instance.users), "status": "malformed", "fault": str(error)}
        seconds = {"cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall}
        return {
            "users": len(instance.users),
            "status": result.status.value,
            "stopped_by": result.stopped_by,
            "objective": result.objective,
            "bound": result.bound,
            "problem": result.problem,
            **{name: round(value, 6) for name, value in seconds.items()},
            **measured(instance, result.schedule),
            "fault": fault(instance, result),
        }


def solve(name: str, instance: Instance, problem: Problem, time_limit: float) -> Result:
    """Return an algorithm's answer.

    Parameters
    ----------
    name : str
        As `find` takes it.
    instance : Instance
    problem, time_limit
        For exact solvers.

    Raises
    ------
    ValueError
        If the algorithm refuses the instance, or a function's answer is no schedule of it.
    """
    if is_exact(name):
        return bench_lines.solve(_line(name), instance, problem, time_limit)
    return algorithms.solve(name, instance)


def is_exact(name: str) -> bool:
    """Return whether a name stands for an exact solver."""
    solver = _line(name).solver
    return solver in solver_names() or solver.startswith(bench_lines.PYOMO)


def find(name: str, problem: Problem) -> None:
    """See that an algorithm exists and runs here.

    Parameters
    ----------
    name : str
        A heuristic, ``"optimum"``, an exact solver (``"highs@compact"``: with a formulation) or
        ``"module:function"``.
    problem : {"P1", "P2"}

    Raises
    ------
    InputError
        If it does not; the message lists those that do, or says what to install.
    """
    if not is_exact(name):
        if ":" not in name and name != algorithms.PRINTED and name not in heuristics.algorithms():
            known = [OPTIMUM, *solver_names(), algorithms.PRINTED, *heuristics.algorithms()]
            choices = ", ".join(dict.fromkeys(known))
            raise InputError(
                f"unknown algorithm {name!r}; choose from {choices}, pyomo:NAME, module:function"
            )
        algorithms.find(name)
        return
    find_solver(_line(name).solver)
    if _line(name).formulation is not None:  # which the solver alone can tell
        try:
            solve(name, generate("tiny", 0), problem, WARM_UP_LIMIT_S)
        except ValueError as error:
            raise InputError(f"{name}: {error}") from None


def _line(name: str) -> bench_lines.Line:
    return bench_lines.parse(DEFAULT_SOLVER if name == OPTIMUM else name)


@lru_cache
def _warm_up(name: str, problem: Problem) -> None:
    """Solve small instances once a process, so that loading the kernels is not timed."""
    for family, users, seed in WARM_UP:
        with suppress(ValueError):
            solve(name, generate(family, users, seed), problem, WARM_UP_LIMIT_S)


def fault(instance: Instance, result: Result) -> str | None:
    """Return what is wrong with an answer in exact arithmetic, in one line; None if nothing is."""
    if result.schedule is None:
        return None
    problem: Problem = "P1" if result.schedule.lam is None else "P2"
    try:
        report = check(instance, result.schedule, problem)
    except ValueError as error:
        return f"malformed schedule: {error}"
    if not report.feasible:
        kinds = ", ".join(f"{kind} × {count}" for kind, count in report.violations.items())
        return f"infeasible schedule: {kinds}"
    if result.objective != report.value:
        return f"says {result.objective}, serves {report.value}"
    if result.bound is not None and result.bound < report.value:
        return f"bound {result.bound} below the {report.value} users served"
    return None


def measured(instance: Instance, schedule: Schedule | None) -> dict[str, Any]:
    """Return a schedule's shares, the users in each mode, and what its batches take.

    ``latency_s`` is when the last served user has its answer, the download included;
    ``memory_bytes`` are the weights that are loaded and the caches, eqs. (13) to (16). An answer
    that the judge calls malformed has neither.
    """
    if schedule is None or not {*schedule.ad, *schedule.sd} <= instance.index.keys():
        return {}
    instance = drafts.drafted(instance, schedule)
    ad = [instance.users[instance.index[name]] for name in schedule.ad]
    sd = [instance.users[instance.index[name]] for name in schedule.sd]
    ends = []
    if ad and schedule.z > 0:
        ends.append(exact.ad_latency(instance, ad, schedule.z) + _last_download(instance, ad))
    if sd and schedule.z < 1:
        ends.append(exact.sd_latency(instance, sd, schedule.z) + _last_download(instance, sd))
    loaded = instance.hardware.memory_bytes - exact.room(instance, schedule.z)
    caches = exact.ad_memory(instance, ad) + exact.sd_memory(instance, sd)
    return {
        "z": schedule.z,
        "lambda": schedule.lam,
        "ad": len(ad),
        "sd": len(sd),
        "latency_s": round(float(max(ends)), 6) if ends else None,
        "memory_bytes": round(float(loaded + caches), 3),
    }


def _last_download(instance: Instance, users: Sequence[User]) -> Fraction:
    return max(exact.download_time(instance, user) for user in users)
