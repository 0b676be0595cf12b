"""``verify.reduction``: holds as it is, and each check fails when what it checks is broken."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

import formulations
from formulations.mmkp_mapping import Half, Mapping
from formulations.mmkp_thresholds import AdThresholds, SdThresholds
from instances import Instance, Problem, Result, Schedule, Status, generate, partition
from instances.mmkp import MMKP
from instances.pricing import Row
from verify import reduction
from verify.judge import check
from verify.reduction_batches import batches_within
from verify.reduction_checks import CHECKS, Reduction, draw_hardness, draw_mapping
from verify.reduction_hardness import check_partition, draw_integers
from verify.reduction_mapping import MappingCheck
from verify.reduction_report import collect, save_violations
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


def p1(instance: Instance) -> Result:
    return formulations.solve(instance, "P1", "exhaustive")


def hardness_kinds(reduce: Any = partition.equal_cardinality_partition) -> set[str]:
    found: set[str] = set()
    for integers in ([1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 6], [2, 2, 3, 1, 1, 3], [5, 1]):
        found |= check_partition(integers, p1, reduce)["faults"].keys()
    return found


def test_hardness_holds() -> None:
    assert hardness_kinds() == set()


def moved(name: str, seconds: float) -> Any:
    """A reduction with one special user's deadline moved by about one unit of s."""

    def reduce(integers: Sequence[int]) -> Instance:
        instance = partition.equal_cardinality_partition(integers)
        unit = 1e-12 * 8 * instance.llm.intermediate_size
        users = tuple(
            user.model_copy(update={"deadline_s": user.deadline_s + seconds * unit})
            if user.id == name
            else user
            for user in instance.users
        )
        return instance.model_copy(update={"users": users})

    return reduce


@pytest.mark.parametrize("name", ["ad-only", "sd-only"])
def test_a_deadline_off_by_about_one_unit_is_caught(name: str) -> None:
    assert "hard_if" in hardness_kinds(moved(name, -4))


def test_both_deadlines_one_unit_late_is_caught() -> None:
    def reduce(integers: Sequence[int]) -> Instance:
        first = moved("ad-only", 4)(integers)
        second = moved("sd-only", 6)(integers)
        return first.model_copy(update={"users": (*first.users[:-1], second.users[-1])})

    assert "hard_only_if" in hardness_kinds(reduce)


def test_special_users_that_may_change_modes_are_caught() -> None:
    """Without ad-only's deadline everyone can be served where no half exists."""

    def reduce(integers: Sequence[int]) -> Instance:
        instance = partition.equal_cardinality_partition(integers)
        free = [u.model_copy(update={"deadline_s": 1e6}) for u in instance.users]
        return instance.model_copy(update={"users": tuple(free)})

    assert "hard_only_if" in hardness_kinds(reduce)


def test_a_solver_that_misses_the_half_is_caught_and_one_that_gives_up_is_open() -> None:
    def misses(instance: Instance) -> Result:
        return p1(instance).model_copy(update={"bound": len(instance.users) - 1, "schedule": None})

    def gives_up(instance: Instance) -> Result:
        return p1(instance).model_copy(update={"bound": len(instance.users), "schedule": None})

    assert "hard_if" in check_partition([1, 2, 3, 4], misses)["faults"]
    answer = check_partition([1, 2, 3, 5], gives_up)
    assert (answer["faults"], answer["open"]) == ({}, True)


def test_drawn_integers_are_of_both_kinds_and_all_sizes() -> None:
    rng = random.Random(0)
    drawn = [draw_integers(rng) for _ in range(200)]
    yes = [partition.equal_half(integers) is not None for integers in drawn]
    assert 60 < sum(yes) < 140
    assert {len(integers) for integers in drawn} == {2, 4, 6, 8, 10, 12}
    assert max(map(sum, drawn)) > 500
    assert any(sum(d) % 2 == 0 and not y for d, y in zip(drawn, yes, strict=True))


def test_a_seed_draws_the_same_again() -> None:
    assert draw_mapping(5) == draw_mapping(5)
    assert draw_hardness(5) == draw_hardness(5)
    assert draw_mapping(5) != draw_mapping(6)


def row(**changes: Any) -> dict[str, Any]:
    made = {"key": "3", "thresholds": 9, "problems": 4, "yes": True, "faults": {}, "open": []}
    return made | changes


def test_verdicts(tmp_path: Path) -> None:
    assert collect([]).verdict == 3
    assert collect([row()]).verdict == 0
    assert collect([row(open=["maximum"])]).verdict == 3
    assert collect([{"key": "1", "error": "crashed"}, row()]).verdict == 3
    findings = collect([row(open=["maximum"]), row(faults={"optimum": "4 is not 5"})])
    assert findings.verdict == 1
    save_violations(findings, Reduction(1, solver="highs"), tmp_path)
    failure = findings.violations[0]
    assert failure.again == ("python -m verify.reduction --instances 1 --seed 3 --solver highs")
    assert [Path(name).name for name in failure.files] == ["mapping-3.json", "partition-3.json"]
    assert all(Path(name).is_file() for name in failure.files)


def command(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "verify.reduction", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)


def test_the_command(tmp_path: Path) -> None:
    output = tmp_path / "run"
    done = command("--instances", "4", "--json", "--jobs", "1", "--output", str(output))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["verdict"] == "held"
    assert report["checked"] == 4
    assert report["checks"].keys() == CHECKS.keys()
    assert report["problems"] > 0
    assert json.loads((output / "report.json").read_text()) == report
    again = command("--instances", "4", "--resume", "--jobs", "1", "--output", str(output))
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-1] == "PASS: both reductions held on all 4 instances"


def test_an_interrupt_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reduction, "_check_all", interrupted)
    with pytest.raises(typer.Exit) as ended:
        reduction.main(output=tmp_path)
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == "interrupted; --resume goes on\n"


@pytest.mark.parametrize(
    "words",
    [
        ("--instances", "0"),
        ("--solver", "nobody"),
        ("--resume",),
        ("--dask", "tcp://x", "--jobs", "2"),
    ],
)
def test_bad_usage_is_one_line(words: tuple[str, ...]) -> None:
    done = command(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout


def test_help_shows_an_example() -> None:
    assert "python -m verify.reduction --instances 50" in command("--help").stdout
