"""verify.propositions: the claims hold, and each check sees what breaks its claim on purpose."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heuristics
import heuristics.task
from instances import CostTables, InputError, build_tables
from instances.commandline import Exit
from instances.mmkp import MMKP
from verify import campaign, propositions, rounding, splits, subproblems
from verify.campaign import CLAIMS, Campaign, draw
from verify.claims import Case, Claim
from verify.optima import NotProven
from verify.workers import processes

Spoil = Callable[[CostTables], CostTables]


def _cases(name: str, seeds: range) -> list[Case]:
    claim = CLAIMS[name]
    return [case for seed in seeds for case in claim.examine(*draw(claim, seed))]


def _faults(name: str, seeds: range) -> list[str]:
    return [case.fault for case in _cases(name, seeds) if case.fault]


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_hold_on_a_few_instances(name: str) -> None:
    assert not _faults(name, range(3))


def _spoil_tables(monkeypatch: pytest.MonkeyPatch, spoil: Spoil) -> None:
    def spoilt(*arguments: Any, **rounding: bool) -> CostTables:
        return spoil(build_tables(*arguments, **rounding))

    monkeypatch.setattr(heuristics.task, "build_tables", spoilt)


def _wrong_coefficient(tables: CostTables) -> CostTables:
    return tables._replace(ad_step=2 * tables.ad_step, sd_step=2 * tables.sd_step)


def _dropped_memory(tables: CostTables) -> CostTables:
    ample = np.full_like(tables.ad_room, 2**50)
    return tables._replace(ad_room=ample, sd_room=ample)


def _one_iteration_less(tables: CostTables) -> CostTables:
    return tables._replace(iterations=tables.iterations - 1)


def _swapped_lambda(tables: CostTables) -> CostTables:
    return tables._replace(ad_room=tables.sd_room, sd_room=tables.ad_room)


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("prop4", _wrong_coefficient),
        ("prop4", _dropped_memory),
        ("prop4", _swapped_lambda),
        ("prop5", _wrong_coefficient),
        ("prop5", _dropped_memory),
        ("prop5", _one_iteration_less),
        ("prop5", _swapped_lambda),
    ],
)
def test_spoilt_algorithms_are_caught(
    name: str, spoil: Spoil, monkeypatch: pytest.MonkeyPatch
) -> None:
    _spoil_tables(monkeypatch, spoil)
    assert any(_faults(name, range(seed, seed + 1)) for seed in range(24))


def test_printed_memory_misses_the_optimum_of_p31() -> None:
    cases = [case for case in _cases("prop4", range(2, 50, 6)) if case.group == subproblems.PADDED]
    assert any(case.got < case.best for case in cases)
    assert not any(case.fault for case in cases)


def test_half_is_missed_by_ad_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = heuristics.solve
    monkeypatch.setattr(heuristics, "solve", lambda instance: solve(instance, "ad-only"))
    assert _faults("theorem1", range(7))


def test_half_is_checked_on_feasible_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    _spoil_tables(monkeypatch, _dropped_memory)
    assert any("breaks" in fault for fault in _faults("theorem1", range(7)))


def test_an_optimum_of_p2_above_p1_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    optimum = splits.optimum
    monkeypatch.setattr(
        splits, "optimum", lambda inst, problem="P1", **o: optimum(inst, **o) + (problem == "P2")
    )
    assert _faults("prop2", range(1))


def test_the_other_modes_split_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    own = splits.own_split

    def swapped(instance: Any) -> tuple[float, ...] | None:
        grid = own(instance)
        return grid and tuple(sorted(float(1 - Fraction(str(share))) for share in grid))

    monkeypatch.setattr(splits, "own_split", swapped)
    assert any(_faults("prop2", range(seed, seed + 1)) for seed in range(12))


def test_a_finer_grid_that_loses_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = itertools.count(100, -1)
    monkeypatch.setattr(splits, "optimum", lambda *_, **__: next(answers))
    monkeypatch.setattr(splits, "own_split", lambda instance: None)
    assert any("coarser" in fault for fault in _faults("prop2", range(1)))


def test_rounding_up_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def up(point: Any) -> Any:
        return tuple(next((j for j, v in enumerate(values) if v > 0), None) for values in point)

    monkeypatch.setattr(rounding, "round_down", up)
    assert any("breaks" in fault for fault in _faults("rounding", range(12)))


def test_a_point_that_is_no_vertex_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def middle(problem: MMKP) -> list[list[Fraction]]:
        return [[Fraction(1, 2) for _ in group.items] for group in problem.classes]

    monkeypatch.setattr(rounding, "vertex", middle)
    faults = _faults("rounding", range(4))
    assert any("splits" in fault for fault in faults)


def test_a_relaxation_without_memory_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    mapping = rounding.mmkp

    def ample(*arguments: Any, **options: Any) -> MMKP:
        problem = mapping(*arguments, **options)
        time, rest = problem.capacities[:2], problem.capacities[2:]
        return MMKP(problem.classes, time + tuple(2**50 for _ in rest))

    monkeypatch.setattr(rounding, "mmkp", ample)
    assert any("breaks" in fault for fault in _faults("rounding", range(8)))


def test_what_only_the_rounding_to_ticks_admits_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mapping rounded down admits everybody, rounded up nobody: neither shows a fault."""
    mapping = rounding.mmkp

    def loose(*arguments: Any, rounded_up: bool) -> MMKP:
        problem = mapping(*arguments, rounded_up=rounded_up)
        return MMKP(problem.classes, tuple(0 if rounded_up else 2**60 for _ in problem.capacities))

    monkeypatch.setattr(rounding, "mmkp", loose)
    with pytest.raises(NotProven, match="within the rounding"):
        _faults("rounding", range(8))


def test_largest_set_is_that_of_full_enumeration() -> None:
    weights = [5, 3, 8, 6, 2, 7]

    def fits(chosen: Any) -> bool:
        return sum(chosen) <= 16 and max(chosen) - 2 * min(chosen) <= 3

    sets = (s for n in range(7) for s in itertools.combinations(weights, n) if not s or fits(s))
    assert subproblems.largest(weights, fits) == max(map(len, sets))  # type: ignore[arg-type]


def test_verdicts() -> None:
    claim = Claim("c", "claim", lambda instance, stream: [], (), (1, 1), ("low",))
    run = Campaign([claim])
    assert run.verdict is Exit.UNDECIDED, "nothing checked is not a pass"
    fine = {"group": "low", "got": 2, "best": 2, "fault": "", "split": None}
    run.add({"key": "c:0", "claim": "c", "seed": 0, "cases": [fine]})
    assert run.verdict is Exit.UNDECIDED, "the erratum does not show"
    run.add({"key": "c:1", "claim": "c", "seed": 1, "cases": [fine | {"got": 1}]})
    assert run.verdict is Exit.HELD
    run.add({"key": "c:2", "error": "timed out"})
    assert run.verdict is Exit.UNDECIDED
    run.add({"key": "c:3", "claim": "c", "seed": 3, "cases": [fine | {"fault": "wrong"}]})
    assert run.verdict is Exit.VIOLATION


def test_the_command_reports_and_saves_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Campaign([CLAIMS["prop5"]])
    case = {"group": "exact memory", "got": 1, "best": 2, "fault": "serves 1 of 2", "split": None}
    broken.add({"key": "prop5:4", "claim": "prop5", "seed": 4, "cases": [case]})
    monkeypatch.setattr(propositions, "check_claims", lambda *_: broken)
    assert propositions.main(claim=["prop5"], output=tmp_path) is Exit.VIOLATION
    out = capsys.readouterr().out
    assert "python -m verify.propositions --claim prop5 --seed 4 --instances 1" in out
    assert (tmp_path / "prop5-4.json").is_file()


def test_the_command_runs_workers_and_prints_only_json(capsys: pytest.CaptureFixture[str]) -> None:
    code = propositions.main(claim=["prop5"], instances=2, jobs=1, as_json=True)
    data = json.loads(capsys.readouterr().out)
    assert code is Exit.HELD
    assert sum(group["cases"] for group in data["groups"]) == 4


def test_unknown_claim_is_refused() -> None:
    with pytest.raises(InputError, match="unknown claim 'prop9'; choose from prop2"):
        propositions.main(claim=["prop9"])


def test_a_refused_solver_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> int:
        raise campaign.WrongAnswer("highs: P1: refused")

    monkeypatch.setattr(splits, "optimum", refused)
    row = campaign.examine(("theorem1", 0))
    assert row["cases"][0]["fault"] == "highs: P1: refused"


@pytest.mark.slow
def test_all_claims_on_many_instances() -> None:
    found = campaign.check_claims(list(CLAIMS), 60, 1000, processes(), 300.0)
    assert found.verdict is Exit.HELD, found.to_dict()
