"""The draft length as a choice: one L^D for the whole SD batch, out of an instance's set.

In the paper L^D is given. With `Instance.draft_lengths` it is chosen too, once for the batch: the
users of a batch draft and are verified in step, so all equations keep one L^D. A schedule names the
length it was made for, and means the instance *at* that length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .model import Instance
from .schedule import ROUNDING, Result, Schedule, Status


def lengths(instance: Instance) -> tuple[int, ...]:
    """Return the draft lengths that may be chosen, ascending."""
    return instance.draft_lengths or (instance.draft_length,)


def at(instance: Instance, length: int) -> Instance:
    """Return the paper's instance with that draft length, which leaves no choice."""
    return instance.model_copy(update={"draft_length": length, "draft_lengths": None})


def drafted(instance: Instance, schedule: Schedule) -> Instance:
    """Return the paper's instance with the schedule's draft length, if it has one, or its own.

    The length need not be one of the instance's: the judge says so, this function does not.
    """
    length = schedule.draft_length or instance.draft_length
    if instance.draft_lengths is None and length == instance.draft_length:
        return instance
    return at(instance, length)


def best_of(instance: Instance, solve: Callable[[Instance], Result]) -> Result:
    """Return the best result over the draft lengths, the first of equals.

    Parameters
    ----------
    instance : Instance
    solve : callable
        Solves the paper's instance at one length.

    Returns
    -------
    Result
        Its schedule names the length; its bound, the largest of all lengths' bounds, is proven for
        every choice; times and counters are sums. ``statistics["draft_lengths"]`` holds the
        objective by length.
    """
    found = {length: solve(at(instance, length)) for length in lengths(instance)}
    chosen = max(found, key=lambda length: _objective(found[length]))
    best, results = found[chosen], list(found.values())
    bounds = [result.bound for result in results if result.bound is not None]
    bound = max(bounds) if len(bounds) == len(results) else None
    schedule = best.schedule
    if schedule is not None:
        schedule = schedule.model_copy(update={"draft_length": chosen})
    statistics = _summed([result.statistics for result in results])
    statistics["draft_lengths"] = {str(n): result.objective for n, result in found.items()}
    return best.model_copy(
        update={
            "status": _status(best, bound),
            "stopped_by": _reason(results, _status(best, bound)),
            "bound": bound,
            "runtime_s": sum(result.runtime_s for result in results),
            "schedule": schedule,
            "statistics": statistics,
        }
    )


def _objective(result: Result) -> int:
    """Return a result's objective for comparison: what violates an inequality comes last."""
    if result.objective is None or result.status is Status.VIOLATED:
        return -1
    return result.objective


def _status(best: Result, bound: int | None) -> Status:
    """Return the best result's status; optimal only if no other length can do better."""
    if best.status not in (Status.OPTIMAL, Status.FEASIBLE):
        return best.status
    return Status.OPTIMAL if best.objective == bound else Status.FEASIBLE


def _reason(results: list[Result], status: Status) -> str | None:
    """Return why the search ended early; rounding at one length matters if no other made up."""
    reasons = [result.stopped_by for result in results if result.stopped_by]
    limits = [reason for reason in reasons if reason != ROUNDING]
    telling = limits if limits or status is Status.OPTIMAL else reasons
    return telling[0] if telling else None


def _summed(statistics: list[dict[str, Any]]) -> dict[str, Any]:
    """Return counters and times added up; of other entries the first."""
    total: dict[str, Any] = {}
    for each in statistics:
        for name, value in each.items():
            known = total.get(name)
            counts = isinstance(known, int | float) and isinstance(value, int | float)
            total[name] = known + value if counts else total.get(name, value)
    return total
