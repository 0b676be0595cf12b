"""Starting schedules: the caller's, checked, or Algorithm 3's."""

from __future__ import annotations

from dataclasses import replace

from instances import CostTables, Instance, Problem, Result, Schedule, build_tables
from instances.assignment import AD, SD, Assignment, to_assignment
from instances.feasible import is_feasible

from .backend import Request


def given_start(
    instance: Instance, start: Schedule | Result, problem: Problem, request: Request
) -> Assignment:
    """Return the caller's start in indices.

    Raises
    ------
    ValueError
        If it holds no schedule, violates the instance, or contradicts what the request fixes.
    """
    schedule = start.schedule if isinstance(start, Result) else start
    if schedule is None:
        raise ValueError("start: this result holds no schedule")
    if schedule.draft_length not in (None, instance.draft_length):
        raise ValueError(f"start: its draft length {schedule.draft_length} is not the instance's")
    if problem != "P1" and schedule.lam is None:
        raise ValueError(f"start: {problem} needs a lambda, this schedule has none")
    try:
        found = to_assignment(instance, schedule)
    except ValueError as error:
        raise ValueError(f"start: {error}") from None
    if request.lam_indices is None:
        found = replace(found, lam_index=None)
    _agree(instance, schedule, found, request)
    if not is_feasible(instance, schedule, problem):
        raise ValueError(f"start: violates an inequality of {problem}")
    return found


def _agree(instance: Instance, schedule: Schedule, found: Assignment, request: Request) -> None:
    """Refuse a start outside what the request allows."""
    if found.z_index not in request.z_indices:
        wanted = instance.z_grid[request.z_indices[0]]
        raise ValueError(f"start: has z = {schedule.z}, but z is fixed at {wanted}")
    if request.lam_indices is not None and found.lam_index not in request.lam_indices:
        wanted = instance.lambda_grid[request.lam_indices[0]]
        raise ValueError(f"start: has lambda = {schedule.lam}, but lambda is fixed at {wanted}")
    if schedule.ad and not request.allow_ad:
        raise ValueError("start: serves users in AD, but modes is 'sd-only'")
    if schedule.sd and not request.allow_sd:
        raise ValueError("start: serves users in SD, but modes is 'ad-only'")


def cautious_start(instance: Instance, request: Request) -> Assignment:
    """Return Algorithm 3's schedule on tables built up, which is exactly feasible."""
    return balance_start(build_tables(instance), request)


def balance_start(tables: CostTables, request: Request) -> Assignment:
    """Return Algorithm 3's schedule, within the request and the tables.

    In a single-mode request the other mode's users are dropped, which no inequality minds.
    """
    from heuristics.balance import balance

    found = balance(tables, request.z_indices, request.lam_indices, any_best=True)
    modes = found.modes.copy()
    for mode, allowed in ((AD, request.allow_ad), (SD, request.allow_sd)):
        if not allowed:
            modes[modes == mode] = 0
    lam_index = None if request.lam_indices is None else found.lam_index
    return Assignment(modes, found.z_index, lam_index)
