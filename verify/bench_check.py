"""Which answers of a benchmark are wrong: schedules by the judge, bounds by each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from instances import Instance, Problem, Result, Schedule, Status

from .bench_records import Outcome, Record
from .display import verdict
from .judge import check


def faults(instance: Instance, result: Result, problem: Problem) -> list[str]:
    """Return what is wrong with one answer on its own.

    Parameters
    ----------
    instance : Instance
    result : Result
        What the solver claims.
    problem : {"P1", "P2"}
        What it was asked.
    """
    found = list(_claim_faults(result))
    if result.schedule is not None:
        found += _schedule_faults(instance, result.schedule, result.objective, problem)
    return found


def _claim_faults(result: Result) -> Iterator[str]:
    if result.status is Status.INFEASIBLE:
        yield "says infeasible, but the empty schedule is always feasible"
    if result.status is Status.OPTIMAL and result.schedule is None:
        yield "says optimal without a schedule"
    if result.status is Status.OPTIMAL and result.bound != result.objective:
        yield f"says optimal with objective {result.objective} and bound {result.bound}"
    if result.schedule is None and result.objective is not None:
        yield f"says objective {result.objective} without a schedule"
    if None not in (result.bound, result.objective) and _less(result.bound, result.objective):
        yield f"bound {result.bound} is below its own objective {result.objective}"


def _less(left: Any, right: Any) -> bool:
    return bool(left < right)


def _schedule_faults(
    instance: Instance, schedule: Schedule, objective: int | None, problem: Problem
) -> Iterator[str]:
    try:
        report = check(instance, schedule, problem)
    except ValueError as error:
        yield f"schedule is malformed: {error}"
        return
    if objective != report.value:
        yield f"says objective {objective}, but its schedule serves {report.value}"
    if not report.feasible:
        yield f"schedule is rejected ({verdict(report)})"


def cross_check(records: Sequence[Record], evidence: Iterable[Record] = ()) -> list[Record]:
    """Return the records with those marked wrong whose bound lies below a proven objective.

    An objective is proven when the judge has accepted its schedule, that is, when the record is
    not wrong on its own. Two certified optima that differ are such a case: the lower one is wrong.

    Parameters
    ----------
    records : sequence of Record
        Answers already checked on their own.
    evidence : iterable of Record
        Answers of an earlier benchmark on the same instances (same digest).
    """
    best: dict[tuple[str, str], Record] = {}
    for record in (*records, *evidence):
        key = record.digest, record.problem
        if record.outcome is Outcome.WRONG or record.objective is None:
            continue
        if key not in best or record.objective > (best[key].objective or 0):
            best[key] = record
    return [_contradicted(record, best.get((record.digest, record.problem))) for record in records]


def _contradicted(record: Record, best: Record | None) -> Record:
    if record.outcome is Outcome.WRONG or record.bound is None or best is None:
        return record
    if best.objective is None or record.bound >= best.objective:
        return record
    fault = f"bound {record.bound}, but {best.line} serves {best.objective}"
    return replace(record, outcome=Outcome.WRONG, message=fault)


def best_objectives(records: Iterable[Record]) -> dict[tuple[str, str], int]:
    """Return the best objective that the judge accepted, per (digest, problem)."""
    best: dict[tuple[str, str], int] = defaultdict(int)
    for record in records:
        if record.outcome is not Outcome.WRONG and record.objective is not None:
            key = record.digest, record.problem
            best[key] = max(best[key], record.objective)
    return dict(best)
