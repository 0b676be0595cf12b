"""`verify.prove`: its verdicts and exit codes, and the logs kept as data."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import formulations
from instances import dumps
from instances.generators import generate
from verify.prove import main

LOGS = sorted((Path(__file__).resolve().parents[2] / "docs" / "proofs").glob("*.json"))


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    path = tmp_path / "instance.json"
    path.write_text(dumps(generate("paper-4a", 16, seed=1)), encoding="utf-8")
    return path


def test_exit_codes(instance: Path, tmp_path: Path) -> None:
    optimum = formulations.solve(generate("paper-4a", 16, seed=1)).objective
    assert optimum is not None
    log = tmp_path / "log.json"
    assert main(instance, optimum, None, log, True) == 0
    assert json.loads(log.read_text(encoding="utf-8"))["verdict"] == "proven"
    assert main(instance, optimum - 1, None, None, False) == 1
    assert main(instance, 2, 1e-9, None, False) == 3


def test_there_are_logs() -> None:
    assert len(LOGS) >= 5


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_logs_belong_to_their_instances_and_are_complete(path: Path) -> None:
    log = json.loads(path.read_text(encoding="utf-8"))
    family, users, seed = path.stem.rsplit("-", 2)
    text = dumps(generate(family, int(users), seed=int(seed)))
    assert log["instance_sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert (log["verdict"], log["open"], log["users"]) == ("proven", 0, int(users))
    for boxes in log["boxes"]:
        marks = boxes.split()
        splits = sum("," in mark for mark in marks)
        assert len(marks) == 2 * splits + 1, "a binary tree with every leaf refuted"
        assert "?" not in marks


@pytest.mark.slow
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_logs_agree_with_the_threshold_solver(path: Path) -> None:
    log = json.loads(path.read_text(encoding="utf-8"))
    family, users, seed = path.stem.rsplit("-", 2)
    instance = generate(family, int(users), seed=int(seed))
    assert formulations.solve(instance).objective == log["bound"]
