"""The additive guarantee: rounding the linear relaxation loses at most as many users as rows.

Fix z (and λ) and the thresholds of an optimal schedule. P1 becomes an MMKP with m = 3 resources
(AD seconds, SD seconds, bytes), P3 one with m = 4, at most one item of profit 1 for each of n
users, whose optimum is that of P1 (P3): the optimal schedule is feasible there, and whatever is
feasible there is a feasible schedule (proof in `formulations.mmkp_mapping.mmkp`).

**A basic solution of its linear relaxation splits at most m users.** Write user k's class as an
equation by a slack w_k ("not served"): ``x_k + y_k + w_k = 1``, and each resource by its slack.
The system has n + m equations, so a basic solution has at most n + m variables that are not 0.
Each of the n equations of users needs one of them, its right side being 1; a user whose values are
not all whole needs two. So n + (number of split users) <= n + m.

**Rounding down loses at most m users.** Set every split user to "not served". Weights are not
negative, so all rows still hold: the result is a feasible schedule. The relaxation is worth at
least the optimum, and each split user contributes ``x_k + y_k <= 1`` of its worth. So
``rounded >= relaxed - m >= optimum - m``. Users served are whole, and the paper has no such bound:
for large optima it beats ½ by far.

A mapping rounded down to whole ticks and bytes may admit what exact arithmetic refuses by less than
that rounding: where only the mapping rounded up refuses it too, the case stays open.

The check takes the basis that HiGHS's simplex ends with and solves its equations in rationals; the
judge decides on the rounded schedule, a certified optimum on the loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import formulations
from formulations.mmkp_mapping import AD, SD, mmkp, mmkp_schedule
from formulations.mmkp_thresholds import tight_thresholds
from instances import Instance, Problem, Schedule
from instances.mmkp import Selection
from instances.randomness import Stream

from .claims import Case, Claim
from .judge import check
from .optima import NotProven
from .vertex import Vertex, vertex

#: Certified by enumeration: no linear relaxation is involved in the optimum.
SOLVER = "exhaustive"


def examine(instance: Instance, stream: Stream) -> list[Case]:
    """Round the relaxation at the thresholds of optimal schedules of P1 and P3.

    And at those of random sets of users, where the optimum that rounding is compared with is the
    relaxation's own value, rounded down.
    """
    cases = [_optimal(instance, "P1"), _optimal(instance, "P3")]
    return cases + [_random(instance, stream, problem) for problem in ("P1", "P3")]


def _optimal(instance: Instance, problem: Problem) -> Case:
    """Compare the rounded relaxation with the optimum; P3 at the (z, λ) that is best for P2."""
    schedule = _best(instance, problem)
    return _rounded(instance, schedule, problem, schedule.served, "optimal")


def _random(instance: Instance, stream: Stream, problem: Problem) -> Case:
    """Compare the rounded relaxation at the thresholds of random batches with its own value."""
    modes = [stream.choice((AD, SD, None)) for _ in instance.users]
    pairs = list(zip(instance.users, modes, strict=True))
    schedule = Schedule(
        z=stream.choice(instance.z_grid[1:-1]),
        lam=None if problem == "P1" else stream.choice(instance.lambda_grid),
        ad=tuple(user.id for user, mode in pairs if mode == AD),
        sd=tuple(user.id for user, mode in pairs if mode == SD),
    )
    return _rounded(instance, schedule, problem, None, "random")


def _rounded(
    instance: Instance, schedule: Schedule, problem: Problem, optimum: int | None, kind: str
) -> Case:
    """Round down at a schedule's thresholds."""
    limits = tight_thresholds(instance, schedule)
    relaxation = mmkp(instance, schedule.z, schedule.lam, limits, rounded_up=False)
    point = vertex(relaxation)
    selection = round_down(point)
    rounded = mmkp_schedule(instance, schedule.z, schedule.lam, relaxation, selection)
    report, worth = check(instance, rounded, problem), sum(map(sum, point))
    rows, split = len(relaxation.capacities), split_users(point)
    best = math.floor(worth) if optimum is None else optimum
    fault = ""
    if not report.feasible:
        upper = mmkp(instance, schedule.z, schedule.lam, limits, rounded_up=True)
        if relaxation.feasible(selection) and not upper.feasible(selection):
            raise NotProven("the rounded schedule lies within the rounding to ticks and bytes")
        fault = f"rounded down, breaks {', '.join(report.violations)}"
    elif worth < best:
        fault = f"the relaxation is worth {float(worth):g}, the optimum is {best}"
    elif split > rows:
        fault = f"splits {split} users with {rows} rows"
    elif report.served < best - rows:
        fault = f"serves {report.served}, {best} are possible and only {rows} may be lost"
    return Case(f"{problem}, {kind} thresholds", report.served, best, fault, split)


def _best(instance: Instance, problem: Problem) -> Schedule:
    """Return an optimal schedule; for P3, of P2 (which is P3 at the best point)."""
    wanted: Problem = "P1" if problem == "P1" else "P2"
    result = formulations.solve(instance, wanted, solver=SOLVER, start=False)
    if result.schedule is None or result.bound != result.objective:
        raise NotProven(f"{wanted}: {result.status}, {result.stopped_by}")
    return result.schedule


def split_users(point: Sequence[Sequence[Fraction]]) -> int:
    """Return how many classes have a value strictly between 0 and 1."""
    return sum(any(value.denominator != 1 for value in values) for values in point)


def round_down(point: Vertex) -> Selection:
    """Return the selection of the items with value 1; nothing of split classes."""
    return tuple(
        next((position for position, value in enumerate(values) if value == 1), None)
        for values in point
    )


ADDITIVE = Claim(
    "rounding",
    "LP rounding loses ≤ 3 (P3: 4)",
    examine,
    ("memory-tight", "paper-4a", "deadline-tight", "ties"),
    (4, 11),
)
