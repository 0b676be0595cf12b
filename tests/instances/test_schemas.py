"""JSON Schemas: they take what the readers take, and refuse what JSON Schema can say is wrong."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

import heuristics
import instances
from instances.schemas import DOCUMENTS, json_schema

INSTANCE = instances.generate("paper-4a", users=3, seed=1)


def document(name: str) -> dict[str, Any]:
    result = heuristics.solve(INSTANCE)
    assert result.schedule is not None
    texts = {
        "instance": instances.dumps(INSTANCE),
        "schedule": instances.dumps(result.schedule),
        "result": result.to_json(),
    }
    loaded: dict[str, Any] = json.loads(texts[name])
    return loaded


@pytest.mark.parametrize("name", DOCUMENTS)
def test_schema_takes_what_we_write(name: str) -> None:
    schema = json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document(name), schema)


def test_schemas_take_the_extensions() -> None:
    user = INSTANCE.users[0].model_copy(update={"value": 3})
    chosen = INSTANCE.model_copy(update={"users": (user,), "draft_lengths": (1, 2)})
    jsonschema.validate(json.loads(instances.dumps(chosen)), json_schema("instance"))
    schedule = instances.Schedule(z=0.5, draft_length=2)
    jsonschema.validate(json.loads(instances.dumps(schedule)), json_schema("schedule"))


def drop_users(data: dict[str, Any]) -> None:
    del data["users"]


def add_unknown(data: dict[str, Any]) -> None:
    data["users"][0]["colour"] = "red"


def no_tokens(data: dict[str, Any]) -> None:
    data["users"][0]["input_tokens"] = 0


def text_number(data: dict[str, Any]) -> None:
    data["hardware"]["alpha_llm"] = "1e-15"


def negative_memory(data: dict[str, Any]) -> None:
    data["hardware"]["memory_bytes"] = -1


def sure_to_accept(data: dict[str, Any]) -> None:
    data["users"][0]["acceptance_rate"] = 1.5


def other_version(data: dict[str, Any]) -> None:
    data["schema"] = "balance-instance/9"


def no_share_for_ad(data: dict[str, Any]) -> None:
    data["z_grid"] = [0.5, 1]


def a_share_twice(data: dict[str, Any]) -> None:
    data["lambda_grid"] = [0, 1, 1]


@pytest.mark.parametrize(
    "break_",
    [
        drop_users,
        add_unknown,
        no_tokens,
        text_number,
        negative_memory,
        sure_to_accept,
        other_version,
        no_share_for_ad,
        a_share_twice,
    ],
)
def test_schema_refuses_what_the_reader_refuses(break_: Callable[[dict[str, Any]], None]) -> None:
    data = document("instance")
    break_(data)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, json_schema("instance"))
    with pytest.raises(instances.InputError):
        instances.loads(json.dumps(data))


def test_command_writes_the_schema(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["schema", "schedule"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("instances.schema", run_name="__main__", alter_sys=False)
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out) == json_schema("schedule")
