"""The hunt for the worst case: hill climbing over small instances, exact optima as the judge."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from instances import CostTables, Instance, Problem, Schedule, build_tables
from instances.assignment import fits, to_assignment
from instances.costs import Integers
from instances.randomness import Stream

from . import algorithms
from .grid_optima import optima
from .judge import check
from .mutations import mutated, random_instance
from .optima import WrongAnswer, optimum

#: Optima on the way are found by trying all schedules, which limits the users.
MOST_USERS = 8
#: Changes in a row without a new least ratio after which the climb starts anew.
PATIENCE = 200
#: A change for the worse by this much is still accepted once in e times.
TEMPERATURE = 0.05
#: How much an optimum of all users counts beside the ratio: large optima have more neighbours.
CROWD = 0.3
#: How much the average of the ratios at all (z, λ) counts: what is lost at one may be lost at all.
EVERYWHERE = 1.0

Clock = Callable[[], float]


@dataclass(frozen=True)
class Trial:
    """One instance, and how the hunted algorithm does on it.

    Parameters
    ----------
    instance : Instance
    served, best : int
        Users that the algorithm and an optimal schedule serve.
    optimal : Schedule
    feasible : bool
        Whether the algorithm's schedule is.
    closeness : float
        Served over P3's optimum, on average over the points (z, λ).
    """

    instance: Instance
    served: int
    best: int
    optimal: Schedule
    feasible: bool = True
    closeness: float = 1.0

    @property
    def ratio(self) -> Fraction:
        """Served over optimum; 1 where nobody can be served or the schedule does not count."""
        if not self.best or not self.feasible:
            return Fraction(1)
        return Fraction(self.served, self.best)


@dataclass(frozen=True)
class Quarry:
    """What is hunted: the least ratio of an algorithm to an optimum.

    Parameters
    ----------
    algorithm : str
        As `algorithms.run` takes it.
    problem : {"P1", "P2"}
        Whose optimum.
    users : int
        In every instance.
    """

    algorithm: str
    problem: Problem = "P1"
    users: int = 5

    def trial(self, instance: Instance) -> Trial:
        """Return how the algorithm does on an instance."""
        tables = build_tables(instance)
        exact, users = optima(tables), len(instance.users)
        schedule, served = self._run(instance, tables)
        best = exact.p1(users) if self.problem == "P1" else exact.p2(users)
        feasible = fits(tables, to_assignment(instance, schedule)) or _judged(instance, schedule)
        ratios = served[exact.split > 0] / exact.split[exact.split > 0]
        return Trial(
            instance,
            schedule.served,
            best.served,
            best.to_schedule(instance),
            feasible,
            float(ratios.mean()) if ratios.size else 1.0,
        )

    def _run(self, instance: Instance, tables: CostTables) -> tuple[Schedule, Integers]:
        """Return the algorithm's schedule, and the users it serves at every (z, λ).

        Only Algorithm 3 says that; for others it is the schedule's number everywhere.
        """
        shape = tables.ad_room.shape
        if self.algorithm not in ("balance", algorithms.PRINTED):
            schedule = algorithms.run(self.algorithm, instance)
            return schedule, np.full(shape, schedule.served)
        from heuristics.balance import balance  # not before it is needed: it compiles

        padded = self.algorithm == algorithms.PRINTED
        found = [balance(tables, [z], [lam], padded) for z, lam in np.ndindex(shape)]
        best = max(found, key=lambda assignment: assignment.served)
        served = np.array([each.served for each in found]).reshape(shape)
        return best.to_schedule(instance), served

    def certified(self, trial: Trial) -> Trial:
        """Return the trial with an optimum that another solver has certified.

        Raises
        ------
        WrongAnswer
            If the two optima differ.
        """
        best = optimum(trial.instance, self.problem)
        if best != trial.best:
            raise WrongAnswer(f"enumeration finds {trial.best}, the certified optimum is {best}")
        return trial


def _judged(instance: Instance, schedule: Schedule) -> bool:
    return check(instance, schedule, "P1" if schedule.lam is None else "P2").feasible


@dataclass
class Tracks:
    """What a hunt has seen so far.

    Attributes
    ----------
    worst : Trial or None
        Of the least ratio; the first of these.
    infeasible : Trial or None
        The first with an infeasible schedule.
    evaluations, restarts : int
    seconds : float
    """

    worst: Trial | None = None
    infeasible: Trial | None = None
    evaluations: int = 0
    restarts: int = 0
    seconds: float = 0.0

    def add(self, trial: Trial) -> bool:
        """Count a trial; return whether its ratio is the least so far."""
        self.evaluations += 1
        if not trial.feasible and self.infeasible is None:
            self.infeasible = trial
        better = self.worst is None or trial.ratio < self.worst.ratio
        if better:
            self.worst = trial
        return better


def hunt(
    quarry: Quarry,
    seed: int = 0,
    seconds: float | None = None,
    evaluations: int | None = None,
    until: float = 0.0,
    clock: Clock = time.monotonic,
) -> Iterator[Tracks]:
    """Yield what has been seen, each time a new least ratio is found, and at the end.

    Without a limit of seconds the same arguments find the same instances.

    Parameters
    ----------
    quarry : Quarry
    seed : int
    seconds, evaluations : optional
        Limits; without any, only `until` ends the hunt.
    until : float
        A ratio at which to stop.
    clock : callable
        Returns seconds.
    """
    begin, tracks = clock(), Tracks()
    for trial in _climbs(quarry, Stream(f"hunt {quarry.algorithm}", seed), tracks):
        better = tracks.add(trial)
        tracks.seconds = clock() - begin
        over = seconds is not None and tracks.seconds >= seconds
        over = over or (evaluations is not None and tracks.evaluations >= evaluations)
        over = over or trial.ratio <= until
        if better or over:
            yield tracks
        if over:
            return


def _climbs(quarry: Quarry, stream: Stream, tracks: Tracks) -> Iterator[Trial]:
    """Yield trials without end: climbs from random instances, each until it gets no further."""
    while True:
        here = quarry.trial(random_instance(stream, quarry.users))
        yield here
        tracks.restarts += 1
        least, stale = here.ratio, 0
        while stale < PATIENCE:
            there = quarry.trial(mutated(here.instance, here.optimal, stream))
            yield there
            stale += 1
            if there.ratio < least:
                least, stale = there.ratio, 0
            if _accepts(here, there, stream):
                here = there


def _height(trial: Trial) -> float:
    """Return what a climb makes small: the ratio; at equal ratios what leads to smaller ones."""
    crowd = 1 - trial.best / len(trial.instance.users)
    return float(trial.ratio) + CROWD * crowd + EVERYWHERE * trial.closeness


def _accepts(here: Trial, there: Trial, stream: Stream) -> bool:
    """Return whether the climb goes on from `there`: always if it is no worse, else rarely."""
    if not there.best or not there.feasible:
        return False
    loss = _height(there) - _height(here)
    return loss <= 0 or stream.fraction() < math.exp(-loss / TEMPERATURE)
