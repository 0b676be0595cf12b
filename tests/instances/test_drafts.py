"""A choice of draft lengths: files, and what the choice means."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import make_instance, make_user
from pydantic import ValidationError

from instances import Result, Schedule, Status, build_tables, drafts, dumps, loads
from instances.feasible import is_feasible


def test_files_without_a_choice_stay_as_they_were() -> None:
    plain, chosen = make_instance(make_user()), make_instance(make_user(), draft_lengths=(1, 3))
    assert "draft_lengths" not in dumps(plain)
    assert loads(dumps(chosen)) == chosen
    schedule = Schedule(z=0.5, sd=("u0",))
    assert "draft_length" not in dumps(schedule)
    assert '"draft_length": 3' in dumps(schedule.model_copy(update={"draft_length": 3}))


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ((2, 1), "must ascend and be distinct"),
        ((1, 1), "must ascend and be distinct"),
        ((2, 3), r"draft_length \(1\) must be among draft_lengths"),
        ((), r"draft_length \(1\) must be among"),
        ((0, 1), "greater than or equal to 1"),
        ((1, 65), "less than or equal to 64"),
    ],
)
def test_bad_sets_are_refused(lengths: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        make_instance(make_user(), draft_lengths=lengths)


def test_tables_are_of_one_length() -> None:
    chosen = make_instance(make_user(), draft_lengths=(1, 3))
    with pytest.raises(ValueError, match=r"choice of draft lengths \[1, 3\]; fix one"):
        build_tables(chosen)
    assert build_tables(drafts.at(chosen, 3)).iterations.tolist() == [2]


def test_a_schedule_means_the_instance_at_its_length() -> None:
    # A = 1: with three drafts 12 tokens take three iterations, with one six
    user = make_user(output_tokens=12, acceptance_rate=1.0, deadline_s=2.3)
    instance = make_instance(user, draft_lengths=(1, 3), alpha_llm=0.0, alpha_slm=0.0)
    # upload 0.5; (N + 1) 0.125 + N L^D 0.0625: 1.0625 at L^D = 3, 1.25 at L^D = 1
    limits = {1: 0.5 + 1.25, 3: 0.5 + 1.0625}
    for length, ends in limits.items():
        schedule = Schedule(z=0.0, sd=("u0",), draft_length=length)
        for slack, held in ((0.001, True), (-0.001, False)):
            rushed = user.model_copy(update={"deadline_s": round(ends + slack, 6)})
            tight = instance.model_copy(update={"users": (rushed,)})
            assert is_feasible(tight, schedule) == held
    paper = Schedule(z=0.0, sd=("u0",))
    assert drafts.drafted(instance, paper).draft_length == 1


def result(objective: int | None, bound: int | None, status: Status) -> Result:
    schedule = None if objective is None else Schedule(z=1.0)
    return Result(
        status=status,
        problem="P1",
        solver="scripted",
        solver_version="",
        objective=objective,
        bound=bound,
        runtime_s=1.0,
        schedule=schedule,
        statistics={"nodes": 2, "kind": "x"},
    )


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([(3, 3, "optimal"), (4, 4, "optimal")], (4, 4, "optimal", 2)),
        ([(4, 4, "optimal"), (4, 4, "optimal")], (4, 4, "optimal", 1)),
        ([(4, 4, "optimal"), (3, 5, "feasible")], (4, 5, "feasible", 1)),
        ([(3, 4, "feasible"), (4, 4, "optimal")], (4, 4, "optimal", 2)),
        ([(4, 4, "optimal"), (3, None, "feasible")], (4, None, "feasible", 1)),
        ([(None, 2, "no_incumbent"), (1, 1, "optimal")], (1, 2, "feasible", 2)),
        ([(5, None, "violated"), (1, 1, "optimal")], (1, None, "feasible", 2)),
    ],
)
def test_the_best_length_wins_and_every_bound_counts(answers: Any, expected: Any) -> None:
    instance = make_instance(make_user(), draft_lengths=(1, 2))
    found = {n: result(o, b, Status(s)) for n, (o, b, s) in enumerate(answers, 1)}
    best = drafts.best_of(instance, lambda one: found[one.draft_length])
    assert best.schedule is not None
    assert (best.objective, best.bound, best.status, best.schedule.draft_length) == expected
    assert (best.runtime_s, best.statistics["nodes"], best.statistics["kind"]) == (2.0, 4, "x")
