"""A rolling horizon: rounds of the paper's batches over users who arrive one by one.

All times are whole ticks of 1 µs from the first arrival. The rules:

1. **Who waits.** A user waits from its arrival a until it is served or can be served no more.
2. **When the server plans.** Whenever it is free and somebody waits: when a round has ended, or
   else at the next arrival.
3. **What it plans.** At time t, the *round's instance* holds everyone who waits, with the deadline
   that is left, ``a + T - t``: exactly the decimal that its float shows. A policy answers with a
   schedule of this instance. Planning takes no time.
4. **Who is lost.** At planning, whoever cannot be served alone with the whole server (on the cost
   tables rounded down, so that this is proven); they are not in the round's instance.
5. **What a round is.** The paper's model as it stands: the AD batch runs in the share z and the SD
   batch in 1 - z, side by side; both begin with their uploads at t and end at ``t + t_ad`` and
   ``t + t_sd``, computed in rationals. Nobody joins or leaves a running batch.
6. **When the next begins.** At the end of the longer batch, rounded up to a tick; the server does
   not wait for downloads.
7. **Who hits.** Everyone whom a round serves: the schedule is refused unless it satisfies every
   inequality of P1 exactly, so each answer arrives in time.
8. **Nobody chosen.** The round does not take place; the policy is asked again at the next arrival,
   and after the last arrival those who wait are lost.

An optimal schedule of each round is no optimum over all rounds: a policy sees who waits, not who
will come, and a round that serves one user more may keep the server much longer.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from instances import Instance, Schedule, build_tables
from instances.exact import ad_latency, sd_latency
from instances.feasible import is_feasible

from .arrivals import TICKS, Arrival

#: What decides a round.
Policy = Callable[[Instance], Schedule]


class Violation(Exception):
    """A policy's schedule breaks an inequality of P1 on its round's instance."""

    def __init__(self, tick: int, instance: Instance, schedule: Schedule) -> None:
        super().__init__(f"the schedule planned at {tick / TICKS:g} s breaks an inequality of P1")
        self.instance = instance
        self.schedule = schedule


@dataclass(frozen=True)
class Round:
    """One round: who waited, who was served, and how long it took.

    Parameters
    ----------
    start : int
        When it was planned, in ticks.
    instance : Instance
        Those who waited, with what was left of their deadlines.
    schedule : Schedule
        Serves at least one of them.
    ad_s, sd_s : Fraction
        Seconds from the start until each batch has ended, t_ad and t_sd; 0 for an empty batch.
    """

    start: int
    instance: Instance
    schedule: Schedule
    ad_s: Fraction
    sd_s: Fraction

    @property
    def end(self) -> int:
        """The tick at which the server is free again."""
        return self.start + math.ceil(max(self.ad_s, self.sd_s) * TICKS)

    @cached_property
    def served(self) -> frozenset[str]:
        """Ids of the users who hit their deadline."""
        return frozenset(self.schedule.ad + self.schedule.sd)


def rounds(server: Instance, arrivals: Sequence[Arrival], policy: Policy) -> Iterator[Round]:
    """Yield the rounds of a replay as the module defines them.

    Parameters
    ----------
    server : Instance
        Models, hardware and grids; its users are ignored.
    arrivals : sequence of Arrival
        Ids must be distinct.
    policy : callable
        Takes a round's instance and returns a `Schedule`.

    Raises
    ------
    Violation
        If a schedule of the policy is infeasible.
    """
    coming = deque(sorted(arrivals, key=lambda arrival: arrival.tick))
    waiting: list[Arrival] = []
    now = 0
    while coming or waiting:
        if not waiting:
            now = max(now, coming[0].tick)
        while coming and coming[0].tick <= now:
            waiting.append(coming.popleft())
        waiting = servable(server, waiting, now)
        found = _round(server, waiting, now, policy) if waiting else None
        if found is not None:
            yield found
            waiting = [arrival for arrival in waiting if arrival.user.id not in found.served]
            now = found.end
        elif waiting and not coming:
            return
        elif waiting:
            now = coming[0].tick


def servable(server: Instance, waiting: Sequence[Arrival], tick: int) -> list[Arrival]:
    """Return those who may still be served alone at a tick; the others provably cannot."""
    early = [arrival for arrival in waiting if arrival.due > tick]
    tables = build_tables(_instance(server, early, tick), rounded_up=False)
    allowed = tables.ad_allowed | tables.sd_allowed
    return [arrival for arrival, possible in zip(early, allowed, strict=True) if possible]


def _instance(server: Instance, waiting: Sequence[Arrival], tick: int) -> Instance:
    users = tuple(arrival.left_at(tick) for arrival in waiting)
    return server.model_copy(update={"users": users, "name": f"{tick / TICKS:.6f} s"})


def _round(server: Instance, waiting: Sequence[Arrival], tick: int, policy: Policy) -> Round | None:
    """Ask the policy; None if it chooses nobody."""
    instance = _instance(server, waiting, tick)
    schedule = policy(instance)
    if not schedule.served:
        return None
    if not is_feasible(instance, schedule):
        raise Violation(tick, instance, schedule)
    ad, sd = (
        [instance.users[instance.index[name]] for name in ids] for ids in (schedule.ad, schedule.sd)
    )
    return Round(
        tick,
        instance,
        schedule,
        ad_latency(instance, ad, schedule.z) if ad else Fraction(0),
        sd_latency(instance, sd, schedule.z) if sd else Fraction(0),
    )
