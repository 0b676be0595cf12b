"""verify.errata: every row shows its erratum, and no row does once the error is not there."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import formulations
import heuristics
from instances import load
from instances.commandline import Exit
from verify import counterexamples, errata, findings


def test_every_row_shows_its_erratum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert errata.main(output=tmp_path, as_json=True) is Exit.HELD
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["erratum"] for row in rows} == {"E1", "E2", "E3", "E4", "E5", "½"}
    assert all(row["holds"] for row in rows)


def test_saved_files_give_the_printed_numbers(tmp_path: Path) -> None:
    errata.main(output=tmp_path, as_json=True)
    trap = load(tmp_path / "e1-padding-16012.json")
    assert heuristics.solve(trap, memory="padded").objective == 4
    assert heuristics.solve(trap).objective == 10
    assert formulations.solve(trap).objective == 10


def test_the_printed_schedule_has_a_name_of_its_own(tmp_path: Path) -> None:
    command = findings.missing_token_breaks_memory().command_in(tmp_path)
    assert command.count(str(tmp_path / "e2-missing-token-printed.json")) == 2
    assert "{" not in command


def test_commands_name_the_saved_files(tmp_path: Path) -> None:
    for evidence in findings.EVIDENCE:
        finding = evidence()
        words = shlex.split(finding.command_in(tmp_path))
        assert any(word.rstrip(";") == str(finding.file(tmp_path)) for word in words)


def test_both_sizes_of_memory_in_circulation_show_e1() -> None:
    for memory in (16012, 16024):
        finding = findings.padding_breaks_half(memory)
        assert (finding.printed, finding.corrected, finding.optimum) == ("4", "10", "10")


@pytest.fixture
def no_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    """The printed algorithm as if it charged memory by (15) and (16)."""
    solve = heuristics.solve
    monkeypatch.setattr(
        heuristics, "solve", lambda instance, memory="", **point: solve(instance, **point)
    )


@pytest.mark.usefixtures("no_padding")
@pytest.mark.parametrize(
    "evidence",
    [
        findings.padding_breaks_half,
        findings.padding_breaks_optimality,
        findings.missing_token_breaks_memory,
    ],
)
def test_without_the_printed_memory_nothing_is_shown(evidence: type[findings.Finding]) -> None:
    assert not evidence().holds


def test_a_grid_with_the_split_shows_no_e4(monkeypatch: pytest.MonkeyPatch) -> None:
    fine = counterexamples.split((0.0, 0.3, 1.0))
    monkeypatch.setattr(counterexamples, "split", lambda *_: fine)
    assert not findings.finite_split_costs().holds


def test_a_wrong_referee_shows_no_e3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "equal_half", lambda integers: None)
    assert not findings.partition_is_hard((3, 5, 6, 8), "e3-yes").holds


def test_a_defined_closed_form_shows_no_e5(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "closed_form", lambda rate, drafts: rate)
    assert not findings.closed_form_undefined().holds


def test_a_better_algorithm_shows_no_tight_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "_served", lambda instance, **_: len(instance.users))
    assert not findings.half_is_tight().holds


def test_one_row_that_shows_nothing_fails_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(findings, "_served", lambda instance, **_: len(instance.users))
    assert errata.main(output=tmp_path) is Exit.VIOLATION
    assert "FAIL: not shown: E1" in capsys.readouterr().out


@pytest.mark.parametrize(("count", "more"), [(1, 0), (2, 0), (3, 0), (1, 1), (3, 1)])
def test_half_is_tight_with_and_without_a_tie(count: int, more: int) -> None:
    instance = counterexamples.half(count, more)
    assert heuristics.solve(instance).objective == count + more
    assert formulations.solve(instance, start=False).objective == 2 * count + more
