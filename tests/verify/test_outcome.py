"""What the rows of ``verify.bound`` add up to."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from instances.commandline import Exit
from verify.guarantee import Guarantee
from verify.outcome import collect
from verify.sources import Sources
from verify.summary import closing, decimal, lines, table, to_csv, to_dict


def row(key: str, served: int | None, p1: int, p2: int | None = None, **more: Any) -> dict:
    p2 = p1 if p2 is None else p2
    data = {"key": key, "served": served, "p1": [p1, p1], "p2": [p2, p2], "faults": {}}
    return {**data, "solver": "x (1)", "seconds": 0.5, **more}


ROWS = [
    row("a:0", 2, 4, 3),
    row("a:1", 3, 3),
    row("b:0", 0, 0),
    {**row("b:1", 5, 7), "p1": [6, 7]},
    row("b:2", None, 4, faults={"infeasible": "memory × 1"}),
    row("b:3", 1, 4, faults={"half_p1": "serves 1, less than half of P1's 4"}),
    {"key": "b:4", "error": "crashed"},
    {"key": "b:5", "skipped": "too large"},
]


def test_counts_and_exact_ratios() -> None:
    outcome = collect(ROWS)
    a, b = outcome.families["a"], outcome.families["b"]
    assert (a.checked, a.optimal) == (2, 1)
    assert (a.p1.least, a.p1.mean) == (Fraction(1, 2), Fraction(3, 4))
    assert (a.p2.least, a.p2.mean) == (Fraction(2, 3), Fraction(5, 6))
    assert (b.checked, b.undecided, b.errors, b.skipped, b.violated) == (3, 1, 1, 1, 2)
    assert (b.p1.least, b.p1.mean) == (Fraction(1, 4), Fraction(5, 8))
    assert outcome.total.faults == {"infeasible": 1, "half_p1": 1}


def test_the_order_of_the_rows_does_not_matter() -> None:
    mixed = ROWS[:]
    random.Random(0).shuffle(mixed)
    first, second = to_dict(collect(ROWS), {}), to_dict(collect(mixed), {})
    del first["wall_seconds"], second["wall_seconds"]
    assert first == second
    assert [failure["key"] for failure in first["violations"]] == ["b:2", "b:3"]


def test_the_worst_violations_are_told_first() -> None:
    late = [row(f"a:{i}", 2, 5, faults={"half_p1": "2 of 5"}) for i in range(10)]
    worse = row("b:10", 1, 4, faults={"half_p1": "1 of 4"})
    refused = row("b:11", None, 4, faults={"infeasible": "late"})
    told = [failure.key for failure in collect([*late, worse, refused]).violations]
    assert told == ["b:11", "b:10", *(f"a:{i}" for i in range(8))]


def test_verdicts() -> None:
    assert collect(ROWS).verdict is Exit.VIOLATION
    assert collect(ROWS[:3]).verdict is Exit.HELD
    assert collect(ROWS[:4]).verdict is Exit.UNDECIDED
    assert collect(ROWS[6:7]).verdict is Exit.UNDECIDED
    assert collect(ROWS[7:]).verdict is Exit.UNDECIDED
    assert closing(collect(ROWS[7:]), "balance") == "UNDECIDED: nothing was checked"
    assert closing(collect([]), "balance") == "UNDECIDED: nothing was checked"
    assert closing(collect(ROWS[:3]), "balance").startswith("PASS: balance")
    assert closing(collect(ROWS), "x").startswith("FAIL: x: 1 below half of P1's optimum")


def test_one_half_prints_as_one_half_and_less_does_not() -> None:
    assert decimal(Fraction(1, 2)) == "0.5"
    assert decimal(Fraction(5000, 10001)) == "0.4999"
    assert decimal(Fraction(99999, 100000)) == "0.9999"
    assert decimal(Fraction(1)) == "1"
    assert decimal(None) == "–"


def test_the_report_names_what_went_wrong() -> None:
    text = list(lines(collect(ROWS), "balance"))
    assert "violation: b:2: memory × 1" in text
    assert "open: b:1: P1 lies in 6 to 7" in text
    assert "open: b:4: crashed" in text
    assert "skipped: b:5: too large" in text
    assert any("5 checked, 1 skipped, 1 undecided, 1 crashed, 2 violated" in line for line in text)
    assert len(table(collect(ROWS)).rows) == 3
    assert to_csv(collect(ROWS)).splitlines()[1].startswith("a,2,0,0,0,0,1,0.5,1/2,0.75,")


def test_many_failures_are_told_in_part() -> None:
    rows = [row(f"a:{n}", 1, 4, faults={"half_p1": "less"}) for n in range(30)]
    outcome = collect(reversed(rows))
    assert [failure.key for failure in outcome.violations] == [f"a:{n}" for n in range(10)]
    assert "violation: 20 more" in list(lines(outcome, "balance"))


def test_families_are_drawn_in_turn() -> None:
    assert list(Sources(5, ("a", "b"), seed=3)) == ["a:3", "b:3", "a:4", "b:4", "a:5"]


def test_the_guarantee_catches_a_wrong_solver(monkeypatch) -> None:
    """An optimum that is too low, or a schedule that breaks a row, is a violation."""
    import formulations
    from instances import Result, Schedule, generate

    instance = generate("tight-half", users=4, seed=0)
    honest = formulations.solve

    def too_low(data, problem, solver, time_limit=None) -> Result:
        result = honest(data, problem, solver, time_limit=time_limit)
        return result.model_copy(update={"schedule": Schedule(z=1.0, lam=1.0), "bound": 1})

    monkeypatch.setattr(formulations, "solve", too_low)
    faults = Guarantee(Sources()).examine(instance)["faults"]
    assert set(faults) == {"solver", "above"}

    def overfull(data, problem, solver, time_limit=None) -> Result:
        result = honest(data, problem, solver, time_limit=time_limit)
        everybody = tuple(user.id for user in data.users)
        schedule = Schedule(z=0.5, lam=0.5, ad=everybody)
        return result.model_copy(update={"schedule": schedule, "objective": 4, "bound": 4})

    monkeypatch.setattr(formulations, "solve", overfull)
    faults = Guarantee(Sources()).examine(instance)["faults"]
    assert "violates ad_latency" in faults["solver"]
