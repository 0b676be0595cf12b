"""Every inequality of the paper on a schedule, measured in exact rationals.

Stands on `instances.exact` alone, so that it shares no arithmetic with the solvers it judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, get_args

from instances import Instance, Problem, Schedule, User, drafts, exact
from instances.numbers import exact as rational


@dataclass(frozen=True)
class Inequality:
    """One row ``left <= right`` (``left < right`` if strict), evaluated on a schedule.

    Parameters
    ----------
    kind : str
        ``"ad_latency"``, ``"sd_latency"`` (one per served user), ``"memory"`` (P1),
        ``"ad_memory"``, ``"sd_memory"`` (P2 and P3), ``"ad_share"``, ``"sd_share"`` (a mode that
        serves someone has a share above 0), ``"z_grid"``, ``"lambda_grid"`` or
        ``"draft_lengths"`` (distance to the nearest allowed value).
    left, right : Fraction
        Both sides in `unit`.
    unit : str
        ``"s"``, ``"B"`` or ``""`` for shares.
    user : str, optional
        The user whose row it is.
    strict : bool
        Whether equality violates the row.
    """

    kind: str
    left: Fraction
    right: Fraction
    unit: str
    user: str | None = None
    strict: bool = False

    @property
    def slack(self) -> Fraction:
        """Right minus left: negative by how much the row is violated."""
        return self.right - self.left

    @property
    def holds(self) -> bool:
        """Whether the schedule satisfies the row."""
        return self.slack > 0 if self.strict else self.slack >= 0


@dataclass(frozen=True)
class Report:
    """What the judge measured on one schedule.

    Parameters
    ----------
    problem : str
        ``"P1"``, ``"P2"`` or ``"P3"``.
    served : int
        Users that the schedule serves, recounted.
    value : int
        What these users are worth: the objective, `served` unless users have values of their own.
    inequalities : tuple of Inequality
        Every row, with exact slack.
    """

    problem: Problem
    served: int
    value: int
    inequalities: tuple[Inequality, ...]

    @property
    def feasible(self) -> bool:
        """Whether every row holds exactly."""
        return not self.violations

    @cached_property
    def violations(self) -> dict[str, int]:
        """Number of violated rows for each kind; kinds without any are absent."""
        return dict(Counter(row.kind for row in self.inequalities if not row.holds))

    @cached_property
    def worst(self) -> dict[str, Inequality]:
        """The row with the least slack for each kind, the first of equals."""
        rows: dict[str, Inequality] = {}
        for row in self.inequalities:
            if row.kind not in rows or row.slack < rows[row.kind].slack:
                rows[row.kind] = row
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; ``exact_slack`` is the slack as a fraction."""
        return {
            "problem": self.problem,
            "feasible": self.feasible,
            "served": self.served,
            **({} if self.value == self.served else {"value": self.value}),
            "violations": self.violations,
            "inequalities": [_plain(row) for row in self.inequalities],
        }


def check(instance: Instance, schedule: Schedule, problem: Problem = "P1") -> Report:
    """Return every inequality of the problem with its slack on a schedule.

    An infeasible schedule is measured, not refused. Rows of an empty batch do not exist, so the
    empty schedule is feasible at any share of the grids, even where the weights do not fit.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
        Under P1 its λ, if any, is ignored: memory is one joint row.
    problem : {"P1", "P2", "P3"}
        P3 has the rows of P2; which (z, λ) was fixed is the caller's to compare.

    Raises
    ------
    ValueError
        If the schedule is malformed: unknown users, a user twice, or no λ under P2 or P3.
    """
    if problem not in get_args(Problem):
        raise ValueError(f"unknown problem {problem!r}; choose from P1, P2, P3")
    choice = list(_draft_rows(instance, schedule))
    instance = drafts.drafted(instance, schedule)
    ad, sd = _batches(instance, schedule)
    rows = [
        *_grid_rows(instance, schedule, problem),
        *choice,
        *_share_rows(schedule),
        *_memory_rows(instance, schedule, problem, ad, sd),
        *_latency_rows(instance, schedule, ad, sd),
    ]
    value = sum(user.value for user in (*ad, *sd))
    return Report(problem, schedule.served, value, tuple(rows))


def _batches(instance: Instance, schedule: Schedule) -> tuple[list[User], list[User]]:
    served = [*schedule.ad, *schedule.sd]
    unknown = sorted({name for name in served if name not in instance.index})
    if unknown:
        raise ValueError(f"no such user in the instance: {', '.join(map(repr, unknown))}")
    twice = sorted(name for name, count in Counter(served).items() if count > 1)
    if twice:
        raise ValueError(f"scheduled more than once: {', '.join(map(repr, twice))}")

    def users(ids: Iterable[str]) -> list[User]:
        return [instance.users[instance.index[name]] for name in ids]

    return users(schedule.ad), users(schedule.sd)


def _grid_rows(instance: Instance, schedule: Schedule, problem: Problem) -> Iterator[Inequality]:
    yield _membership("z_grid", schedule.z, instance.z_grid)
    if problem == "P1":
        return
    if schedule.lam is None:
        raise ValueError(f"a schedule for {problem} needs a lambda")
    yield _membership("lambda_grid", schedule.lam, instance.lambda_grid)


def _draft_rows(instance: Instance, schedule: Schedule) -> Iterator[Inequality]:
    """A draft length that the schedule names must be one of the instance's."""
    if schedule.draft_length is not None:
        yield _membership("draft_lengths", schedule.draft_length, drafts.lengths(instance))


def _membership(kind: str, share: float, grid: Sequence[float]) -> Inequality:
    distance = min(abs(rational(share) - rational(allowed)) for allowed in grid)
    return Inequality(kind, distance, Fraction(0), "")


def _share_rows(schedule: Schedule) -> Iterator[Inequality]:
    share = rational(schedule.z)
    if schedule.ad:
        yield Inequality("ad_share", Fraction(0), share, "", strict=True)
    if schedule.sd:
        yield Inequality("sd_share", Fraction(0), 1 - share, "", strict=True)


def _memory_rows(
    instance: Instance, schedule: Schedule, problem: Problem, ad: list[User], sd: list[User]
) -> Iterator[Inequality]:
    """Caches, eqs. (15) and (16), against the room beside the weights."""
    room = Fraction(exact.room(instance, schedule.z))
    ad_bytes, sd_bytes = Fraction(exact.ad_memory(instance, ad)), exact.sd_memory(instance, sd)
    if schedule.lam is None or problem == "P1":
        if ad or sd:
            yield Inequality("memory", ad_bytes + sd_bytes, room, "B")
        return
    share = rational(schedule.lam)
    if ad:
        yield Inequality("ad_memory", ad_bytes, share * room, "B")
    if sd:
        yield Inequality("sd_memory", sd_bytes, (1 - share) * room, "B")


def _latency_rows(
    instance: Instance, schedule: Schedule, ad: list[User], sd: list[User]
) -> Iterator[Inequality]:
    """The end of a user's batch against T'; undefined, so absent, for a mode without a share."""
    if ad and schedule.z > 0:
        end = exact.ad_latency(instance, ad, schedule.z)
        yield from _deadlines(instance, "ad_latency", end, ad)
    if sd and schedule.z < 1:
        end = exact.sd_latency(instance, sd, schedule.z)
        yield from _deadlines(instance, "sd_latency", end, sd)


def _deadlines(
    instance: Instance, kind: str, end: Fraction, users: list[User]
) -> Iterator[Inequality]:
    for user in users:
        yield Inequality(kind, end, exact.remaining_budget(instance, user), "s", user.id)


def _plain(row: Inequality) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "user": row.user,
        "left": _float(row.left),
        "right": _float(row.right),
        "slack": _float(row.slack),
        "exact_slack": str(row.slack),
        "unit": row.unit,
        "holds": row.holds,
    }


def _float(value: Fraction) -> float | None:
    """Return the nearest double; None where there is none (JSON knows no infinity)."""
    try:
        return float(value)
    except OverflowError:
        return None
