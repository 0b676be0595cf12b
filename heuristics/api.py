"""`solve`: one entry to the paper's algorithms, the baselines and a user's own algorithm.

The paper's algorithms run on tables built down first. They accept every feasible schedule, so what
is found there keeps every guarantee, if only it holds itself: that is rechecked in rationals.
Otherwise less than a microsecond decides. They run again where rationals have said who may enter a
mode at all, and at last on tables built up, whose schedules hold.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, get_args

import numpy as np

from instances import Instance, Problem, Result, Schedule, Status, drafts, stopwatch, values, worth
from instances.feasible import is_feasible

from .additive import additive
from .balance_plus import balance_plus
from .baselines import ad_only, balanced, ecra, ecrma, ema, sd_only
from .printed import printed
from .task import Found, Task

Memory = Literal["exact", "padded"]
Algorithm = Callable[[Task], Found]


def _printed(task: Task) -> Found:
    found, counters = printed(task.tables, task.z_indices, task.lam_indices, task.padded)
    return Found(found.to_schedule(task.instance), dict(counters))


#: Every algorithm by name.
ALGORITHMS: dict[str, Algorithm] = {
    "balance": balanced,
    "printed": _printed,
    "balance+": balance_plus,
    "additive": additive,
    "ad-only": ad_only,
    "sd-only": sd_only,
    "ecra": ecra,
    "ema": ema,
    "ecrma": ecrma,
}

#: Algorithms that are never worse than Algorithm 3.
IMPROVE = frozenset({"balance+", "additive"})


def solve(
    instance: Instance,
    algorithm: str = "balance",
    z: float | None = None,
    lam: float | None = None,
    memory: Memory = "exact",
    effort: int = 1,
) -> Result:
    """Return the schedule of one of the paper's algorithms.

    Parameters
    ----------
    instance : Instance
        Where it leaves a choice of draft lengths, the best over all of them is returned.
    algorithm : str
        ``"balance"`` (Algorithm 3), ``"printed"`` (the same, tuple by tuple), ``"balance+"`` (at
        least as good: SD first as well, and local searches), ``"additive"`` (within three users of
        P1's optimum, with a bound; with a `lam`, four), ``"ad-only"``,
        ``"sd-only"``, ``"ecra"`` (z = 1/2), ``"ema"`` (λ = 1/2), ``"ecrma"`` (both); or
        ``"module:function"``, a function of the instance that returns a `Schedule`.
    z, lam : float, optional
        Fix a share to a value of the instance's grid.
    memory : {"exact", "padded"}
        Charge memory by eqs. (15) and (16), or as the paper's Algorithms 1 and 2 print it in
        eqs. (27) and (31) (errata E1 and E2).
    effort : int
        How long ``"balance+"`` searches (docs/additive.md has times and gaps).

    Returns
    -------
    Result
        Status ``feasible``; ``optimal`` where everybody who can be served alone is served, or the
        algorithm's bound is reached; ``violated`` where the schedule breaks an inequality, as
        padded memory or a user's own algorithm may. Without padding the schedule is exactly
        feasible. ``statistics["restricted"]`` is there where less than a microsecond decided, so
        that the algorithm's guarantees are about the instance with all costs rounded up.

    Raises
    ------
    ValueError
        If the algorithm is unknown or malformed, a share is not in its grid, or users' values
        differ: the paper's algorithms count users (a function of your own may do as it likes).
    """
    started = stopwatch.seconds()
    if memory not in get_args(Memory):
        raise ValueError(f"unknown memory {memory!r}; choose from {', '.join(get_args(Memory))}")
    if effort != 1 and algorithm != "balance+":
        raise ValueError(f"{algorithm}: knows no effort; that is an option of balance+")
    if instance.draft_lengths is not None and ":" not in algorithm:
        return drafts.best_of(instance, lambda one: solve(one, algorithm, z, lam, memory, effort))
    task = Task(instance, z, lam, memory == "padded", effort, relaxed=True)
    if ":" in algorithm:
        found = Found(_own(algorithm, task), {})
        holds = _holds(task, found.schedule)
    elif algorithm in ALGORITHMS:
        values.refuse_different(instance, algorithm)
        found, holds = _found(task, algorithm)
    else:
        names = ", ".join(ALGORITHMS)
        raise ValueError(
            f"unknown algorithm {algorithm!r}; choose from {names}, or module:function"
        )
    runtime = stopwatch.seconds() - started
    schedule, statistics, proven, stopped_by = found
    if proven is not None:
        proven *= values.unit(instance)
    if instance.draft_lengths is not None:
        task = replace(task, instance=drafts.drafted(instance, schedule))
    status, bound = _judged(task, schedule, proven) if holds else (Status.VIOLATED, None)
    if instance.draft_lengths is not None and status is Status.OPTIMAL:
        status, bound = Status.FEASIBLE, None  # another length may serve more
    options = {"memory": memory, "z": z, "lam": lam, "effort": None if effort == 1 else effort}
    return Result(
        status=status,
        stopped_by=stopped_by,
        problem=_problem(schedule, task),
        solver=algorithm if ":" in algorithm else f"heuristics.{algorithm}",
        solver_version=_version(),
        options={name: value for name, value in options.items() if value is not None},
        objective=worth(instance, schedule),
        bound=bound,
        runtime_s=runtime,
        schedule=schedule,
        statistics=statistics,
    )


def _found(task: Task, algorithm: str) -> tuple[Found, bool]:
    """Return what an algorithm finds on the first tables whose schedule holds; False: on none."""
    for attempt in _attempts(task):
        found = ALGORITHMS[algorithm](attempt)
        holds = _holds(task, found.schedule)
        if holds or found.stopped_by is not None:
            break
    if task.padded or (holds and attempt.relaxed):
        return found, holds
    if algorithm in IMPROVE:
        (start, *_), feasible = _found(task, "balance")
        if feasible and (not holds or start.served > found.schedule.served):
            found = found._replace(schedule=start.model_copy(update={"lam": task.lam}))
            holds = True
    return found._replace(statistics=found.statistics | {"restricted": True}), holds


def _attempts(task: Task) -> list[Task]:
    """Return the task on tables built down, then the same less who fits no mode, then built up."""
    up = replace(task, relaxed=False)
    return [task, up] if task.padded else [task, replace(task, alone=True), up]


def _problem(schedule: Schedule, task: Task) -> Problem:
    """Return the problem whose inequalities the schedule must meet."""
    if schedule.lam is None:
        return "P1"
    return "P2" if task.z is None or task.lam is None else "P3"


def _judged(task: Task, schedule: Schedule, bound: int | None) -> tuple[Status, int | None]:
    """Return what is known of a schedule that holds; without a bound, count who can be served."""
    alone = np.flatnonzero(task.tables.ad_allowed | task.tables.sd_allowed)
    most = sum(task.instance.users[k].value for k in alone)
    value = worth(task.instance, schedule)
    if value == most and bound is None:
        bound = most
    return Status.OPTIMAL if value == bound else Status.FEASIBLE, bound


def _holds(task: Task, schedule: Schedule) -> bool:
    """Return whether a schedule satisfies every inequality, in rationals."""
    return is_feasible(task.instance, schedule, _problem(schedule, task))


def _own(name: str, task: Task) -> Schedule:
    """Return the schedule of a user's ``module:function``."""
    if (task.z, task.lam, task.padded) != (None, None, False):
        raise ValueError(f"{name}: a function of your own takes no z, lambda or memory")
    module, _, attribute = name.partition(":")
    try:
        function: Any = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"algorithm {name!r} cannot be loaded: {error}") from None
    if not callable(function):
        raise ValueError(f"algorithm {name!r}: {attribute} is not a function")
    try:
        schedule = function(task.instance)
    except TypeError as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise  # a fault inside the function: its author wants the traceback
        raise ValueError(f"{name}: must take one instance ({error})") from None
    if not isinstance(schedule, Schedule):
        kind = type(schedule).__name__
        raise ValueError(f"{name}: must return an instances.Schedule, returned {kind}")
    unknown = [user for user in schedule.ad + schedule.sd if user not in task.instance.index]
    if unknown:
        raise ValueError(f"{name}: its schedule names an unknown user {unknown[0]!r}")
    if schedule.z not in task.instance.z_grid:
        raise ValueError(f"{name}: its schedule's z = {schedule.z} is not in z_grid")
    if schedule.draft_length not in (None, *drafts.lengths(task.instance)):
        length = schedule.draft_length
        raise ValueError(f"{name}: its schedule's draft length {length} is not the instance's")
    return schedule


def _version() -> str:
    try:
        return f"balance-toolkit {version('balance-toolkit')}"
    except PackageNotFoundError:
        return "balance-toolkit, not installed"
