"""The mapping to the MMKP holds, and each check fails when what it checks is broken."""

from __future__ import annotations

import itertools
import random
from functools import cache

import pytest

from formulations.mmkp_mapping import Half, Mapping
from formulations.mmkp_thresholds import AdThresholds, SdThresholds
from instances import Instance, Problem, Result, Schedule, Status, generate
from instances.mmkp import MMKP
from instances.pricing import Row
from verify.judge import check
from verify.reduction_batches import batches_within
from verify.reduction_mapping import MappingCheck
from verify.reduction_sharp import sharpened


def certified(instance: Instance, problem: Problem, z: float, lam: float | None) -> Result:
    """P3's (P1's) optimum by judging every schedule."""
    ids = [user.id for user in instance.users]
    best = Schedule(z=z, lam=lam)
    for modes in itertools.product(range(3), repeat=len(ids)):
        pairs = list(zip(ids, modes, strict=True))
        ad, sd = (tuple(name for name, mode in pairs if mode == code) for code in (1, 2))
        schedule = Schedule(z=z, lam=lam, ad=ad, sd=sd)
        if schedule.served > best.served and check(instance, schedule, problem).feasible:
            best = schedule
    return Result(
        status=Status.OPTIMAL,
        problem=problem,
        solver="judge",
        solver_version="1",
        objective=best.served,
        bound=best.served,
        runtime_s=0.0,
        schedule=best,
    )


POINTS: list[tuple[float, float | None]] = [(0.5, None), (0.4, 0.7)]


@cache
def cases() -> list[Instance]:
    """Small instances of several families, most on a knife's edge at one of the points."""
    names = ("tiny", "paper-4a", "wide", "deadline-tight", "ties")
    drawn = [generate(name, users=3, seed=seed) for seed in range(4) for name in names]
    rng = random.Random(4)
    return drawn[:4] + [sharpened(made, *rng.choice(POINTS), rng) for made in drawn]


@cache
def optimum(case: int, z: float, lam: float | None) -> Result:
    return certified(cases()[case], "P1" if lam is None else "P3", z, lam)


def kinds(mapping: type[Mapping], wanted: set[str] | None = None) -> set[str]:
    """Return the kinds of faults that a mapping shows on some small instances, and "open".

    With `wanted`, stop when all of those have shown.
    """
    found: set[str] = set()
    for case, instance in enumerate(cases()):
        for z, lam in POINTS:
            known = optimum(case, z, lam)
            checked = MappingCheck(instance, lambda *_, known=known: known, mapping)
            point = checked.at(z, lam, random.Random(0))
            found |= point.faults.keys() | ({"open"} if point.open else set())
            if wanted is not None and wanted <= found:
                return found
    return found


def test_sharp_instances_are_sharp() -> None:
    """A microsecond or a kilobyte more or less changes optima, which it never does by chance."""
    rng, changed = random.Random(1), {"time": 0, "memory": 0}
    for seed in range(12):
        made = sharpened(generate("paper-4a", users=3, seed=seed), 0.5, None, rng)
        best = certified(made, "P1", 0.5, None).bound
        for sign in (-1, 1):
            due = [u.deadline_s + sign * 1e-6 for u in made.users]
            room = made.hardware.memory_bytes + sign * 1000
            moved_in_time = with_deadlines(made, due)
            hardware = made.hardware.model_copy(update={"memory_bytes": room})
            other = made.model_copy(update={"hardware": hardware})
            changed["time"] += certified(moved_in_time, "P1", 0.5, None).bound != best
            changed["memory"] += certified(other, "P1", 0.5, None).bound != best
    assert min(changed.values()) >= 2


def with_deadlines(instance: Instance, deadlines: list[float]) -> Instance:
    pairs = zip(instance.users, deadlines, strict=True)
    users = tuple(user.model_copy(update={"deadline_s": due}) for user, due in pairs)
    return instance.model_copy(update={"users": users})


def test_the_mapping_holds() -> None:
    assert kinds(Mapping) == set()


class WrongCoefficient(Mapping):
    """AD's slope in L1 counted twice."""

    def _ad_cost(self, row: Row, longest_input: int, prefill: int) -> tuple[int, int]:
        time, memory = super()._ad_cost(row, longest_input, prefill)
        return time + row.ad_slope * longest_input, memory


class CheapDecoding(Mapping):
    """AD's slope in L1 left out: too much is accepted."""

    def _ad_cost(self, row: Row, longest_input: int, prefill: int) -> tuple[int, int]:
        time, memory = super()._ad_cost(row, longest_input, prefill)
        return time - row.ad_slope * longest_input, memory


class OneIterationLess(Mapping):
    """N_k off by one in what SD computes."""

    def _sd_cost(self, row: Row, longest_input: int, prefill: int, keenest: Row) -> tuple[int, int]:
        fewer = row._replace(
            sd_base=row.sd_base * (row.iterations - 1) // row.iterations,
            sd_pairs=(row.iterations - 1) * (row.iterations - 2) // 2,
            sd_steps=max(0, row.iterations - 2),
        )
        return super()._sd_cost(fewer, longest_input, prefill, keenest)


class NoSdTime(Mapping):
    """SD's latency row dropped."""

    def sd_half(self, z: float, thresholds: SdThresholds | None) -> Half:
        half = super().sd_half(z, thresholds)
        return Half(half.costs, 10**30)


class NoMemory(Mapping):
    """The memory rows dropped."""

    def join(self, z: float, lam: float | None, ad: Half, sd: Half) -> MMKP:
        problem = super().join(z, lam, ad, sd)
        return MMKP(problem.classes, (*problem.capacities[:2], *[10**30] * (1 + (lam is not None))))


class SwappedLambda(Mapping):
    """AD gets SD's share of the memory."""

    def join(self, z: float, lam: float | None, ad: Half, sd: Half) -> MMKP:
        return super().join(z, None if lam is None else 1 - lam, ad, sd)


class SwappedShares(Mapping):
    """AD computes with SD's share."""

    def ad_half(self, z: float, thresholds: AdThresholds | None) -> Half:
        return super().ad_half(1 - z, thresholds)


class BothModes(Mapping):
    """A user may be in both modes: a class for each."""

    def join(self, z: float, lam: float | None, ad: Half, sd: Half) -> MMKP:
        only_ad = super().join(z, lam, ad, Half((), sd.time))
        only_sd = super().join(z, lam, Half((), ad.time), sd)
        return MMKP((*only_ad.classes, *only_sd.classes), only_ad.capacities)


class LateUploads(Mapping):
    """Upload thresholds not enforced: a user whose upload is longer gets an item."""

    def __init__(self, instance: Instance, rounded_up: bool = True) -> None:
        super().__init__(instance, rounded_up)
        first = min(own.upload for own in self._ad)
        self._ad = [
            AdThresholds(o.longest_input, o.longest_output, o.deadline, first) for o in self._ad
        ]


BROKEN: dict[type[Mapping], set[str]] = {
    WrongCoefficient: {"optimum", "maximum"},
    CheapDecoding: {"optimum", "schedule"},
    OneIterationLess: {"optimum", "maximum", "schedule"},
    NoSdTime: {"optimum", "maximum", "schedule"},
    NoMemory: {"optimum", "maximum", "schedule"},
    SwappedLambda: {"optimum", "maximum", "schedule"},
    SwappedShares: {"optimum", "maximum", "schedule"},
    LateUploads: {"optimum", "maximum", "schedule"},
}


@pytest.mark.parametrize("mapping", BROKEN, ids=lambda mapping: mapping.__name__)
def test_a_broken_mapping_is_caught(mapping: type[Mapping]) -> None:
    assert BROKEN[mapping] <= kinds(mapping, BROKEN[mapping])


def test_a_user_in_both_modes_is_caught() -> None:
    """The selection has more classes than there are users, which mapping back refuses."""
    instance = generate("paper-4a", users=2, seed=0)
    with pytest.raises(ValueError, match="longer"):
        MappingCheck(instance, certified, BothModes).at(0.5, None, random.Random(0))


@pytest.mark.parametrize("users", [3, 5])
@pytest.mark.parametrize("shift", [-1, 1])
def test_a_wrong_optimum_is_caught(users: int, shift: int) -> None:
    """One user too many or too few, with all thresholds and with a sample."""

    def lie(instance: Instance, problem: Problem, z: float, lam: float | None) -> Result:
        result = certified(instance, problem, z, lam)
        assert result.bound is not None
        assert result.schedule is not None
        if shift < 0:
            shorter = Schedule(z=z, ad=result.schedule.ad[1:], sd=result.schedule.sd)
            return result.model_copy(update={"bound": result.bound - 1, "schedule": shorter})
        more = [user.id for user in instance.users if user.id not in served(result)]
        longer = result.schedule.model_copy(update={"ad": (*result.schedule.ad, more[0])})
        return result.model_copy(update={"bound": result.bound + 1, "schedule": longer})

    def served(result: Result) -> set[str]:
        assert result.schedule is not None
        return {*result.schedule.ad, *result.schedule.sd}

    for seed in range(12):
        instance = generate("deadline-tight", users=users, seed=seed)
        truth = certified(instance, "P1", 0.5, None)
        if truth.schedule is not None and truth.schedule.ad and len(served(truth)) < users:
            point = MappingCheck(instance, lie).at(0.5, None, random.Random(0))
            if "maximum" in point.faults:
                return
    pytest.fail("not caught on any instance")


def test_batches_within() -> None:
    prices = {0: (2, 10), 2: (3, 20)}
    assert batches_within([0, 2], prices, 4) == ((0, 0), (1, 10), (4, 20))
    assert batches_within([0, 2], prices, 5) == ((0, 0), (1, 10), (4, 20), (5, 30))
