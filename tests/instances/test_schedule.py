"""Schedules and results: refused where malformed, written and read back the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from instances import InputError, Result, Schedule, Status, load_schedule


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"z": 1.5}, "less than or equal to 1"),
        ({"z": -0.1}, "greater than or equal to 0"),
        ({"z": float("nan")}, "finite"),
        ({"z": 0, "lam": 2}, "less than or equal to 1"),
        ({"z": 0, "ad": ["a", "a"]}, "'a' is scheduled more than once"),
        ({"z": 0, "ad": ["a"], "sd": ["a"]}, "'a' is scheduled more than once"),
        ({"z": 0, "ad": "a"}, "tuple"),
        ({"z": 0, "more": 1}, "Extra"),
    ],
)
def test_malformed_schedules_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Schedule(**fields)


def test_a_schedule_is_frozen() -> None:
    with pytest.raises(ValidationError):
        Schedule(z=0).z = 1.0


def test_a_result_shows_its_schedule_in_the_file_form() -> None:
    result = Result(
        status=Status.OPTIMAL,
        problem="P2",
        solver="highs",
        solver_version="1",
        objective=1,
        bound=1,
        runtime_s=0.5,
        schedule=Schedule(z=0.5, lam=0.1, ad=("a",)),
    )
    data = json.loads(result.to_json())
    assert data["status"] == "optimal"
    assert data["schedule"] == {
        "schema": "balance-schedule/1",
        "z": 0.5,
        "lambda": 0.1,
        "ad": ["a"],
        "sd": [],
    }
    assert Result.model_validate_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("objective", 3, "objective: claims 3, its schedule serves 1"),
        ("bound", 0, "bound: 0 lies below the 1 users served"),
    ],
)
def test_a_result_that_contradicts_its_schedule_is_refused(
    tmp_path: Path, field: str, value: int, line: str
) -> None:
    schedule = {"schema": "balance-schedule/1", "z": 1, "lambda": None, "ad": ["a"], "sd": []}
    result = {"objective": 1, "bound": 1, "schedule": schedule}
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result))
    assert load_schedule(path).served == 1
    path.write_text(json.dumps(result | {field: value}))
    with pytest.raises(InputError, match=line):
        load_schedule(path)
