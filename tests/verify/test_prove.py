"""`verify.prove`: its verdicts and exit codes, and the logs kept as data."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

import formulations
from instances import InputError, dumps
from instances.generators import generate
from verify import proofs
from verify.prove import main
from verify.results import ResultsFile

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
    assert main(instance, optimum, None, None, log, True) == 0
    assert json.loads(log.read_text(encoding="utf-8"))["verdict"] == "proven"
    assert main(instance, None, log) == 0
    assert main(instance, optimum - 1) == 1
    assert main(instance, 2, time_limit=1e-9) == 3
    for wrong in ({}, {"bound": 2, "check": log}, {"check": log, "time_limit": 1.0}, {"bound": 16}):
        with pytest.raises(InputError):
            main(instance, **wrong)  # type: ignore[arg-type]


def test_a_killed_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, output = generate("paper-5a", 20, seed=1), tmp_path / "proof.json"
    bound = formulations.solve(data).objective
    assert bound is not None
    whole = proofs.make(data, bound, None, None)
    append, left = ResultsFile.append, iter(range(5))

    def dying(file: ResultsFile, lines: Iterable[str]) -> None:
        append(file, lines)
        if next(left, None) is None:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ResultsFile, "append", dying)
        with pytest.raises(KeyboardInterrupt):
            proofs.make(data, bound, None, output)
    journal = output.with_suffix(".jsonl")
    kept = journal.read_text(encoding="utf-8")
    assert len(kept.splitlines()) == 7, "a header and six boxes"
    journal.write_text(kept + '{"key":"7","gro', encoding="utf-8")
    with pytest.raises(InputError, match="was begun with bound"):
        proofs.make(data, bound + 1, None, output)
    again = proofs.make(data, bound, None, output)
    assert again["boxes"] == whole["boxes"]
    assert (again["verdict"], journal.exists()) == ("proven", False)


def test_a_proof_is_rechecked(tmp_path: Path) -> None:
    data, path = generate("paper-4a", 30, seed=2), tmp_path / "proof.json"
    bound = formulations.solve(data).objective
    assert bound is not None
    proof = proofs.make(data, bound, None, path)
    assert proofs.check(data, path)["counts"] == proof["counts"]
    marks = proof["boxes"][2].split()
    forged = {
        "no weights": ["w:0,0,0,0,0,0" if mark[0] == "w" else mark for mark in marks],
        "a box too few": marks[:-1],
        "a box too many": [*marks, "c"],
        "not split": ["c"],
        "split outside": ["0,0,9999:1,1,1,1,1,1", *marks, "c"],
        "no mark": ["x", *marks],
    }
    for what, boxes in forged.items():
        text = proofs.to_json({**proof, "boxes": [*proof["boxes"][:2], " ".join(boxes)]})
        path.write_text(text, encoding="utf-8")
        assert "failure" in proofs.check(data, path), what
    with pytest.raises(InputError, match="another instance"):
        proofs.check(generate("paper-4a", 30, seed=3), path)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="is no proof"):
        proofs.check(data, path)


def test_there_are_logs() -> None:
    assert len(LOGS) >= 5


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_logs_belong_to_their_instances_and_are_complete(path: Path) -> None:
    log = json.loads(path.read_text(encoding="utf-8"))
    family, users, seed = path.stem.rsplit("-", 2)
    assert log["instance_sha256"] == proofs.digest(generate(family, int(users), seed=int(seed)))
    assert (log["verdict"], log["open"], log["users"]) == ("proven", 0, int(users))
    for boxes in log["boxes"]:
        marks = boxes.split()
        splits = sum("," in mark and mark[0] != "w" for mark in marks)
        assert len(marks) == 2 * splits + 1, "a binary tree with every leaf refuted"
        assert "?" not in marks


@pytest.mark.slow
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_logs_agree_with_the_threshold_solver(path: Path) -> None:
    log = json.loads(path.read_text(encoding="utf-8"))
    family, users, seed = path.stem.rsplit("-", 2)
    instance = generate(family, int(users), seed=int(seed))
    assert formulations.solve(instance).objective == log["bound"]
    assert "failure" not in proofs.check(instance, path)
