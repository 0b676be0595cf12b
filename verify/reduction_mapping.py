"""The mapping to MMKPs on one instance: against brute force, certified optima and the judge."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from formulations.mmkp_exact import dynamic_programme
from formulations.mmkp_mapping import Half, Mapping, mmkp_schedule
from formulations.mmkp_thresholds import AdThresholds, SdThresholds
from instances import Instance, Problem, Result, Schedule
from instances.mmkp import MMKP, Selection

from . import brute
from .judge import check
from .reduction_batches import Batches, Thresholded, batches_within

#: Up to so many users all thresholds are tried.
EXHAUSTIVE_USERS = 4
#: Pairs of thresholds sampled above.
SAMPLES = 40

#: One mode under thresholds: rounded up, rounded down, and its batches in exact arithmetic.
Side = tuple[Half, Half, Batches]


@dataclass
class Point:
    """What was checked at one z (and λ).

    Attributes
    ----------
    pairs : int
        Pairs of thresholds looked at, and `problems` different MMKPs among them.
    best_up, best_down : int
        Largest optimum of an MMKP rounded up, and of what the rounding may have hidden.
    open : set of str
        Kinds of checks that rounding, or the solver, leaves open.
    faults : dict of str to str
        Kind to sentence, the first of each kind.
    """

    pairs: int = 0
    problems: int = 0
    best_up: int = 0
    best_down: int = 0
    open: set[str] = field(default_factory=set)
    faults: dict[str, str] = field(default_factory=dict)

    def blame(self, kind: str, sentence: str) -> None:
        """Keep the first fault of a kind."""
        self.faults.setdefault(kind, sentence)


class MappingCheck:
    """Checks (a), (b) and (c) on one instance.

    (a) each MMKP's optimum is the best schedule under its thresholds, found without it; (b) the
    largest of them is P3's (P1's) certified optimum, which trying every schedule in rationals
    confirms where users are few (`brute.MOST_TRIED`); (c) what it selects is a schedule that the
    judge accepts.

    Parameters
    ----------
    instance : Instance
    solve : callable
        Returns the certified `Result` of (instance, problem, z, λ); `formulations.solve` if left
        out.
    mapping : type
        What makes MMKPs; the tests break it on purpose.
    """

    def __init__(
        self,
        instance: Instance,
        solve: Callable[[Instance, Problem, float, float | None], Result] | None = None,
        mapping: type[Mapping] = Mapping,
    ) -> None:
        self.instance = instance
        self.truth = Thresholded(instance)
        self._up, self._down = mapping(instance, True), mapping(instance, False)
        self._solve = solve or _certified

    def at(self, z: float, lam: float | None, rng: random.Random) -> Point:
        """Check one point: all thresholds, or a sample where there are too many users."""
        point = Point()
        problem: Problem = "P1" if lam is None else "P3"
        result = self._solve(self.instance, problem, z, lam)
        exhaustive = len(self.instance.users) <= EXHAUSTIVE_USERS
        seen: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
        pairs = self._all_pairs(z, point) if exhaustive else self._sample(z, result, point, rng)
        for ad, sd in pairs:
            self._compare(z, lam, ad, sd, point, seen)
        self._against_optimum(result, exhaustive, point)
        if len(self.instance.users) <= brute.MOST_TRIED:
            self._against_brute(result, z, lam, point)
        return point

    def _all_pairs(self, z: float, point: Point) -> list[tuple[Side, Side]]:
        """Every pair of thresholds; of those with the same feasible selections one is enough."""
        ads, sds = list(self.truth.all_ad()), list(self.truth.all_sd())
        point.pairs = len(ads) * len(sds)
        ad_sides = _different(self._ad_side(z, limits) for limits in [*ads, None])
        sd_sides = _different(self._sd_side(z, limits) for limits in [*sds, None])
        return [(ad, sd) for ad in ad_sides for sd in sd_sides]

    def _sample(
        self, z: float, result: Result, point: Point, rng: random.Random
    ) -> list[tuple[Side, Side]]:
        """Random pairs of thresholds, and those that are tight for the certified schedule."""
        ads, sds = list(self.truth.all_ad()), list(self.truth.all_sd())
        pairs: list[tuple[AdThresholds | None, SdThresholds | None]] = [
            (rng.choice(ads), rng.choice(sds)) for _ in range(SAMPLES)
        ]
        if result.schedule is not None:
            tight = self.truth.tight(result.schedule)
            pairs.append((tight.ad, tight.sd))
        point.pairs = len(pairs)
        return [(self._ad_side(z, ad), self._sd_side(z, sd)) for ad, sd in pairs]

    def _ad_side(self, z: float, limits: AdThresholds | None) -> Side:
        halves = self._up.ad_half(z, limits), self._down.ad_half(z, limits)
        return *halves, self.truth.ad(z, limits)

    def _sd_side(self, z: float, limits: SdThresholds | None) -> Side:
        halves = self._up.sd_half(z, limits), self._down.sd_half(z, limits)
        return *halves, self.truth.sd(z, limits)

    def _compare(
        self,
        z: float,
        lam: float | None,
        ad: Side,
        sd: Side,
        point: Point,
        seen: set[tuple[tuple[str, ...], tuple[str, ...]]],
    ) -> None:
        point.problems += 1
        truth = self.truth.best(z, lam, ad[2], sd[2])
        problem = self._up.join(z, lam, ad[0], sd[0])
        up, selection = _optimum(problem)
        down = up
        if up < truth:  # perhaps by rounding: what the relaxation says decides
            down, _ = _optimum(self._down.join(z, lam, ad[1], sd[1]))
            point.open |= {"optimum"} if down >= truth else set()
        point.best_up, point.best_down = max(point.best_up, up), max(point.best_down, down)
        if not up <= truth <= down:
            where = f"z = {z}, lambda = {lam}"
            point.blame("optimum", f"{where}: an MMKP's optimum is {up}, the schedule's {truth}")
        schedule = mmkp_schedule(self.instance, z, lam, problem, selection)
        if (schedule.ad, schedule.sd) not in seen:
            seen.add((schedule.ad, schedule.sd))
            self._judge(schedule, up, point)

    def _judge(self, schedule: Schedule, served: int, point: Point) -> None:
        report = check(self.instance, schedule, "P1" if schedule.lam is None else "P3")
        where = f"z = {schedule.z}, lambda = {schedule.lam}"
        if not report.feasible:
            kinds = ", ".join(f"{kind} × {count}" for kind, count in report.violations.items())
            point.blame("schedule", f"{where}: an MMKP's selection violates {kinds}")
        if report.served != served:
            point.blame("schedule", f"{where}: {report.served} served for a profit of {served}")

    def _against_brute(self, result: Result, z: float, lam: float | None, point: Point) -> None:
        """Compare the certified interval with what trying everything in rationals finds."""
        best = brute.Brute(self.instance, [z]).most_served(None if lam is None else [lam])
        lower, upper = _interval(self.instance, result)
        if not lower <= best <= upper:
            certified = f"{result.problem}'s certified optimum lies in [{lower}, {upper}]"
            point.blame("maximum", f"{certified}, in rationals {best} can be served")

    def _against_optimum(self, result: Result, exhaustive: bool, point: Point) -> None:
        """Compare the largest optimum with the certified interval of P3 (P1)."""
        lower, upper = _interval(self.instance, result)
        if point.best_up > upper:
            point.blame("maximum", f"an MMKP serves {point.best_up}, {result.problem} {upper}")
        if point.best_down < lower:
            kind = "all" if exhaustive else "tight"
            reached = f"under {kind} thresholds MMKPs serve {point.best_down}"
            point.blame("maximum", f"{reached}, {result.problem} {lower}")
        if lower < upper or point.best_up < lower:
            point.open.add("maximum")


def _interval(instance: Instance, result: Result) -> tuple[int, int]:
    """Return the certified ends between which an optimum lies."""
    lower = 0 if result.schedule is None else result.schedule.served
    return lower, len(instance.users) if result.bound is None else result.bound


def _different(sides: Iterable[Side]) -> list[Side]:
    """Return one of all sides that allow the same sets of users, with the same bytes.

    An MMKP's feasible selections are the pairs of such sets that are disjoint and fit the memory,
    so sides that agree in them (rounded up, down and in truth) agree in all that is compared.
    """
    kept: dict[tuple[Batches, Batches, Batches], Side] = {}
    for side in sides:
        kept.setdefault((_allowed(side[0]), _allowed(side[1]), side[2]), side)
    return list(kept.values())


def _allowed(half: Half) -> Batches:
    prices = {k: (time, memory) for k, time, memory in half.costs}
    return batches_within(list(prices), prices, half.time)


def _optimum(problem: MMKP) -> tuple[int, Selection]:
    found = dynamic_programme(problem)
    if found.selection is None or found.bound is None:
        raise RuntimeError("an MMKP of optional classes has no solution")
    return found.bound, found.selection


def _certified(instance: Instance, problem: Problem, z: float, lam: float | None) -> Result:
    import formulations

    return formulations.solve(instance, problem, z=z, lam=lam)
