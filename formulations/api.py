"""`solve`: one entry to the exact optimum of P1, P2 and P3, whatever the back end."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Literal, get_args

from instances import (
    Instance,
    Problem,
    Result,
    Schedule,
    Status,
    build_tables,
    drafts,
    stopwatch,
    values,
)

from .backend import Backend, Request, create
from .certify import Certificate, certify
from .grid import Limits
from .ready import search_beside
from .starts import balance_start, given_start

Modes = Literal["both", "ad-only", "sd-only"]
Start = Schedule | Result | Literal[False] | None

#: Left to a draft length when the time limit has struck: enough for a bound.
LEAST_SECONDS = 1e-3
#: The fastest there is, and the fastest where users' values differ.
DEFAULT_SOLVER, WEIGHTED_SOLVER = "threshold", "highs"


def solve(
    instance: Instance,
    problem: Problem = "P1",
    solver: str | None = None,
    z: float | None = None,
    lam: float | None = None,
    time_limit: float | None = None,
    start: Start = None,
    node_limit: int | None = None,
    seed: int = 0,
    modes: Modes = "both",
    **options: Any,
) -> Result:
    """Return a schedule that serves the most users, and the bound that proves it.

    Where users' values differ, the objective is their sum over the users served. Where the
    instance leaves a choice of draft lengths, each is solved in turn.

    Parameters
    ----------
    instance : Instance
    problem : {"P1", "P2", "P3"}
        P1 shares the memory between the modes; P2 also chooses the split λ; P3 is P2 at one (z, λ).
    solver : str, optional
        A name in `formulations.solvers()`; also ``pyomo:NAME`` for any solver Pyomo knows. By
        default the fastest: ``"threshold"``, or ``"highs"`` where users' values differ.
    z, lam : float, optional
        Fix the compute or the memory share to a value of its grid. P3 needs both, P1 takes no λ.
    time_limit : float, optional
        Wall seconds, > 0, for all draft lengths together; bounds are kept when it strikes.
    start : Schedule, Result or False, optional
        A feasible schedule to improve on. By default Algorithm 3's; False: none.
    node_limit : int, optional
        Search nodes, > 0, for solvers that count them.
    seed : int
    modes : {"both", "ad-only", "sd-only"}
        Leave one mode empty.
    **options
        Options of the solver, e.g. ``formulation="compact"``, ``cuts=["pairs", "dominance"]``.

    Returns
    -------
    Result
        Its schedule satisfies the inequalities exactly, its bound is proven; ``optimal`` means that
        they are equal.

    Raises
    ------
    ValueError
        Before anything is built: an unknown problem, solver, option or mode, a share outside its
        grid, a limit that is not positive, a start that is infeasible, a solver that counts users
        where their values differ.
    ModuleNotFoundError
        If the solver is not installed; the message says what to install.
    """
    _check_limits(time_limit, node_limit)
    fixed = (problem, solver, z, lam)
    if instance.draft_lengths is None:
        return _solve(instance, *fixed, time_limit, start, node_limit, seed, modes, **options)
    clock = Limits(time_limit).running()
    starts = _starts(instance, start)

    def solve_at(one: Instance) -> Result:
        left = clock(0) or Limits(LEAST_SECONDS)
        begin = starts.get(one.draft_length, start if start is False else None)
        seconds = left.time_limit
        return _solve(one, *fixed, seconds, begin, node_limit, seed, modes, **options)

    return drafts.best_of(instance, solve_at)


def _starts(instance: Instance, start: Start) -> dict[int, Schedule]:
    """Return the caller's start by its draft length.

    Raises
    ------
    ValueError
        If it is not one of the instance's.
    """
    schedule = start.schedule if isinstance(start, Result) else start
    if not isinstance(schedule, Schedule):
        return {}
    length = schedule.draft_length or instance.draft_length
    if length not in drafts.lengths(instance):
        raise ValueError(f"start: draft length {length} is not one of the instance's")
    return {length: schedule}


def _solve(
    instance: Instance,
    problem: Problem,
    solver: str | None,
    z: float | None,
    lam: float | None,
    time_limit: float | None,
    start: Start,
    node_limit: int | None,
    seed: int,
    modes: Modes,
    **options: Any,
) -> Result:
    """Solve at one draft length."""
    started = stopwatch.seconds()
    allowed = {"both": (True, True), "ad-only": (True, False), "sd-only": (False, True)}
    if modes not in allowed:
        raise ValueError(f"unknown modes {modes!r}; choose from {', '.join(allowed)}")
    allow_ad, allow_sd = allowed[modes]
    z_indices, lam_indices = _grid_indices(instance, problem, z, lam)
    weighted = values.differ(instance)
    request = Request(
        z_indices,
        lam_indices,
        allow_ad,
        allow_sd,
        None,
        time_limit,
        node_limit,
        seed,
        options,
        weighted,
    )
    solver = solver or (WEIGHTED_SOLVER if weighted else DEFAULT_SOLVER)
    backend = create(solver)
    backend.check(request)
    certificate = _certified(instance, backend, request, problem, start, started)
    asked = {"z": z, "lam": lam, "modes": modes, "time_limit": time_limit, "node_limit": node_limit}
    return Result(
        status=_status(certificate),
        stopped_by=certificate.stopped_by,
        problem=problem,
        solver=solver,
        solver_version=backend.version(),
        options={name: value for name, value in asked.items() if value is not None} | options,
        seed=seed,
        objective=certificate.lower,
        bound=certificate.upper,
        runtime_s=stopwatch.seconds() - started,
        schedule=certificate.schedule,
        statistics=certificate.statistics,
    )


def _certified(
    instance: Instance,
    backend: Backend,
    request: Request,
    problem: Problem,
    start: Start,
    started: float,
) -> Certificate:
    """Find the start, then certify with the time that is left."""
    if start is not None and start is not False:
        request = replace(request, start=given_start(instance, start, problem, request))
    tables = build_tables(instance, rounded_up=False)
    built = stopwatch.seconds()
    if start is None:
        with search_beside() if backend.name == DEFAULT_SOLVER else nullcontext():
            request = replace(request, start=balance_start(tables, request))
    ready = stopwatch.seconds()
    if request.time_limit is not None:
        request = replace(request, time_limit=max(0.0, request.time_limit - (ready - started)))
    certificate = certify(instance, backend, request, problem, tables)
    seconds = {"start_s": ready - built}
    seconds["build_s"] = certificate.statistics["build_s"] + built - started
    return replace(certificate, statistics=certificate.statistics | seconds)


def _status(certificate: Certificate) -> Status:
    if certificate.schedule is None:
        return Status.NO_INCUMBENT
    return Status.OPTIMAL if certificate.proven else Status.FEASIBLE


def _check_limits(time_limit: float | None, node_limit: int | None) -> None:
    if time_limit is not None and not (time_limit > 0 and math.isfinite(time_limit)):
        raise ValueError(f"time_limit must be positive seconds, not {time_limit}")
    if node_limit is not None and node_limit <= 0:
        raise ValueError(f"node_limit must be positive, not {node_limit}")


def _grid_indices(
    instance: Instance, problem: str, z: float | None, lam: float | None
) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Return the positions in both grids that the problem leaves open (no λ in P1)."""
    if problem not in get_args(Problem):
        raise ValueError(f"unknown problem {problem!r}; choose from {', '.join(get_args(Problem))}")
    if problem == "P3" and (z is None or lam is None):
        raise ValueError("P3 needs both z and lam (--z and --lambda)")
    if problem == "P1" and lam is not None:
        raise ValueError("P1 shares the memory and takes no lam (--lambda); use P2 or P3")
    z_indices = _positions("z", z, instance.z_grid)
    return z_indices, None if problem == "P1" else _positions("lam", lam, instance.lambda_grid)


def _positions(name: str, value: float | None, grid: tuple[float, ...]) -> tuple[int, ...]:
    if value is None:
        return tuple(range(len(grid)))
    if value not in grid:
        raise ValueError(f"{name} = {value} is not in the instance's grid {list(grid)}")
    return (grid.index(value),)
