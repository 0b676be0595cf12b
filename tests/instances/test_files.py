"""Files: what is written is read back; what is wrong is told in one line that names the place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers import make_instance, make_user

from instances import (
    FAMILIES,
    InputError,
    Instance,
    Schedule,
    dumps,
    generate,
    load,
    load_schedule,
    loads,
    save,
)

Document = dict[str, Any]


def document() -> Document:
    return json.loads(dumps(make_instance(make_user("ann"), make_user("bob"))))


def complaint(text: str) -> str:
    with pytest.raises(InputError) as caught:
        loads(text, "x.json")
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("x.json: ")
    return line.removeprefix("x.json: ")


@pytest.mark.parametrize("family", FAMILIES)
def test_instances_survive_the_round_trip(family: str, tmp_path: Path) -> None:
    instance = generate(family, None, 5)
    assert loads(dumps(instance)) == instance
    save(instance, tmp_path / "i.json")
    assert load(tmp_path / "i.json") == instance
    assert dumps(load(tmp_path / "i.json")) == dumps(instance)


def test_names_of_the_file_format() -> None:
    fields = document()
    assert fields["schema"] == "balance-instance/1"
    assert set(fields) == {
        "schema", "llm", "slm", "hardware", "draft_length", "bits_per_token", "z_grid",
        "lambda_grid", "users",
    }  # fmt: skip
    assert set(fields["users"][0]) == {
        "id", "input_tokens", "output_tokens", "deadline_s", "acceptance_rate", "uplink_hz",
        "uplink_bps_per_hz", "downlink_hz", "downlink_bps_per_hz",
    }  # fmt: skip


def test_schedules_survive_the_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    for schedule in (Schedule(z=0.5, ad=("a",), sd=("b",)), Schedule(z=0, lam=1)):
        save(schedule, path)
        assert load_schedule(path) == schedule
    assert json.loads(dumps(Schedule(z=1)))["lambda"] is None


def test_a_result_is_read_as_its_schedule(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    schedule = Schedule(z=0.5, ad=("a",))
    path.write_text(json.dumps({"status": "optimal", "schedule": json.loads(dumps(schedule))}))
    assert load_schedule(path) == schedule


def edit(*path: str | int, value: Any) -> Callable[[Document], None]:
    """Return an edit that puts a value at a place."""

    def apply(data: Document) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value

    return apply


def remove(*path: str | int) -> Callable[[Document], None]:
    def apply(data: Document) -> None:
        for key in path[:-1]:
            data = data[key]
        del data[path[-1]]

    return apply


BAD_VALUES = [
    (remove("users", 1, "deadline_s"), "user 'bob': deadline_s: is missing"),
    (remove("users", 1, "id"), "users[1]: id: is missing"),
    (remove("hardware"), "hardware: is missing"),
    (remove("hardware", "alpha_llm"), "hardware.alpha_llm: is missing"),
    (remove("schema"), "schema: is missing"),
    (
        edit("schema", value="balance-instance/2"),
        "schema: must be 'balance-instance/1' (found \"balance-instance/2\")",
    ),
    (edit("users", 0, "deadline_s", value=float("nan")), "user 'ann': deadline_s: must be finite"),
    (edit("hardware", "beta_slm", value=float("inf")), "hardware.beta_slm: must be finite"),
    (edit("provenance", value=[float("nan")]), "provenance.0: must be finite (found NaN)"),
    (edit("users", 1, "id", value="ann"), "user id 'ann' occurs more than once"),
    (edit("users", 1, "id", value=7), "users[1]: id: must be a string (found 7)"),
    (edit("z_grid", value=[0.5, 1]), "z_grid: must contain 0 and 1"),
    (edit("lambda_grid", value=[0, "a", 1]), 'lambda_grid.1: must be a number (found "a")'),
    (edit("users", 0, "input_tokens", value=-3), "user 'ann': input_tokens: must be at least 1"),
    (edit("users", 0, "input_tokens", value=1.5), "input_tokens: must be a whole number"),
    (edit("users", 0, "input_tokens", value="12"), 'must be a whole number (found "12")'),
    (edit("users", 0, "input_tokens", value=True), "must be a whole number (found true)"),
    (edit("users", 0, "input_tokens", value=None), "must be a whole number (found null)"),
    (
        edit("users", 1, "acceptance_rate", value=1.2),
        "user 'bob': acceptance_rate: must be at most",
    ),
    (edit("users", 0, "input_tokens", value=10**30), "user 'ann': input_tokens: must be at most"),
    (edit("users", 0, "input_tokens", value=10**400), "input_tokens: is too large (401 digits)"),
    (edit("users", 0, "deadline_s", value=10**400), "user 'ann': deadline_s: is too large"),
    (edit("users", 0, "color", value=1), "user 'ann': color: is not a known field"),
    (edit("users", 0, "a\x1b\u2028", value=1), "user 'ann': \"a\\u001b\\u2028\": is not a known"),
    (edit("", value=1), '"": is not a known field'),
    (edit("users", 0, value=3), "users[0]: must be an object (found 3)"),
    (edit("users", value={}), "users: must be a list (found {})"),
    (edit("llm", "kv_heads", value=2), "llm: kv_heads (2) must divide num_heads (1)"),
    (edit("users", 0, "value", value=0), "user 'ann': value: must be at least 1 (found 0)"),
    (edit("users", 0, "value", value=1.5), "user 'ann': value: must be a whole number"),
    (edit("users", 0, "value", value=10**5), "the users' values sum to 100001, more than 100000"),
    (edit("llm", "layers", value=0), "llm.layers: must be at least 1 (found 0)"),
]


@pytest.mark.parametrize(("change", "line"), BAD_VALUES)
def test_bad_values_are_named(change: Callable[[Document], None], line: str) -> None:
    data = document()
    change(data)
    assert line in complaint(json.dumps(data))


def test_several_faults_are_counted() -> None:
    data = document()
    data["users"][0]["id"], data["draft_length"] = "", 0
    assert complaint(json.dumps(data)).endswith("; and 1 more")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('"draft_length": 1', '"draft_length": 1, "draft_length": 1', "draft_length: occurs twice"),
        ('"id": "bob"', '"id": "bob", "deadline_s": 1', "user 'bob': deadline_s: occurs twice"),
        ('"draft_length": 1', '"draft_length": 1' + "0" * 5000, "draft_length: is too large (5001"),
        ('"bits_per_token": 1.0', '"bits_per_token": 1e999', "must be finite (found 1e999)"),
        (
            '"bits_per_token": 1.0',
            '"bits_per_token": 1e-999',
            "is too small for a double (found 1e-999)",
        ),
        ('"draft_length": 1', '"draft_length": one', "line 1, column"),
    ],
)
def test_bad_text_is_named(old: str, new: str, line: str) -> None:
    text = json.dumps(document())
    assert old in text
    assert line in complaint(text.replace(old, new))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "is empty; expected a JSON object"),
        ("[]", "must be a JSON object, not []"),
        ("3", "must be a JSON object, not 3"),
        ("{", "line 1, column 2: not JSON"),
        ("[" * 100_000, "is nested too deeply"),
    ],
)
def test_what_is_no_object_is_refused(text: str, line: str) -> None:
    assert complaint(text).startswith(line)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty.json").touch()
    (tmp_path / "latin.json").write_bytes(b"\xe9\xff")
    for name, words in {
        "empty.json": "is empty",
        "latin.json": "is not UTF-8 text",
        "missing.json": "No such file or directory",
        ".": "is a directory",
    }.items():
        for read in (load, load_schedule):
            with pytest.raises(InputError, match=words) as caught:
                read(tmp_path / name)
            assert str(caught.value).startswith(str(tmp_path))


def test_a_malformed_schedule_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"schema": "balance-schedule/1", "z": 2, "ad": [], "sd": []}')
    with pytest.raises(InputError, match=r"s\.json: z: must be at most 1"):
        load_schedule(path)
    path.write_text('{"schema": "balance-schedule/1", "z": 1, "ad": ["a"], "sd": ["a"]}')
    with pytest.raises(InputError, match="'a' is scheduled more than once"):
        load_schedule(path)


def test_byte_order_marks_are_ignored(tmp_path: Path) -> None:
    instance = make_instance(make_user())
    (tmp_path / "bom.json").write_text(dumps(instance), encoding="utf-8-sig")
    assert load(tmp_path / "bom.json") == instance


def test_the_counterexample_of_erratum_e1_is_an_instance(shared_data: Path) -> None:
    instance: Instance = load(shared_data / "e1_counterexample.json")
    assert len(instance.users) == 10
    assert instance.users[3].output_tokens == 1001


def test_a_value_of_one_leaves_files_as_they_were() -> None:
    plain = make_instance(make_user())
    assert '"value"' not in dumps(plain)
    valued = make_instance(make_user(value=3), make_user("u1"))
    assert loads(dumps(valued)) == valued
    assert dumps(valued).count('"value": 3') == dumps(valued).count('"value"') == 1
