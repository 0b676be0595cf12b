"""The exact test of a schedule, for certificates: every row of P1, P2 or P3 in rationals."""

from __future__ import annotations

from .costs import CostTables
from .drafts import drafted
from .exact import ad_latency, ad_memory, remaining_budget, room, sd_latency, sd_memory
from .model import Instance
from .numbers import exact
from .schedule import Problem, Schedule


def is_feasible(instance: Instance, schedule: Schedule, problem: Problem = "P1") -> bool:
    """Return whether a schedule satisfies every inequality of a problem exactly.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
        Its ids must be the instance's.
    problem : {"P1", "P2", "P3"}
        P1 has one joint memory row; P2 and P3 split it by λ.

    Raises
    ------
    ValueError
        If `problem` needs a λ and the schedule has none.
    """
    if problem != "P1" and schedule.lam is None:
        raise ValueError(f"{problem} needs a schedule with a lambda")
    if schedule.served == 0:
        return True
    instance = drafted(instance, schedule)
    return _in_time(instance, schedule) and _in_memory(instance, schedule, problem)


def fitting_alone(instance: Instance, tables: CostTables) -> CostTables:
    """Return an instance's tables that allow a user in a mode only if that holds in rationals.

    As the tables count it: alone, with the whole GPU and the most memory.
    """
    ad, sd = tables.ad_allowed.copy(), tables.sd_allowed.copy()
    for k, user in enumerate(instance.users):
        ad[k] = ad[k] and is_feasible(instance, Schedule(z=1, ad=(user.id,)))
        sd[k] = sd[k] and is_feasible(instance, Schedule(z=0, sd=(user.id,)))
    return tables._replace(ad_allowed=ad, sd_allowed=sd)


def _in_time(instance: Instance, schedule: Schedule) -> bool:
    ad = [instance.users[instance.index[name]] for name in schedule.ad]
    sd = [instance.users[instance.index[name]] for name in schedule.sd]
    if (ad and schedule.z == 0) or (sd and schedule.z == 1):
        return False
    for users, latency in ((ad, ad_latency), (sd, sd_latency)):
        if users:
            budget = min(remaining_budget(instance, user) for user in users)
            if latency(instance, users, schedule.z) > budget:
                return False
    return True


def _in_memory(instance: Instance, schedule: Schedule, problem: Problem) -> bool:
    ad = ad_memory(instance, [instance.users[instance.index[name]] for name in schedule.ad])
    sd = sd_memory(instance, [instance.users[instance.index[name]] for name in schedule.sd])
    total = room(instance, schedule.z)
    if problem == "P1" or schedule.lam is None:
        return ad + sd <= total
    share = exact(schedule.lam)
    return ad <= share * total and sd <= (1 - share) * total
