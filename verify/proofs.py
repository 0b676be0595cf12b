"""Proofs on disk: made with a journal of boxes that survives a kill, and rechecked."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from formulations.proof import Entry, Proof, prove, recheck
from instances import InputError, Instance, commandline

from .bench_cases import digest
from .results import ResultsFile

SCHEMA = "balance-proof/1"
Outcome = dict[str, Any]


def make(instance: Instance, bound: int, time_limit: float | None, output: Path | None) -> Outcome:
    """Prove a bound, going on with the journal beside `output` if there is one.

    Raises
    ------
    InputError
        If the bound says nothing, or the journal belongs to another instance or bound.
    """
    if bound >= len(instance.users):
        raise InputError(f"--bound {bound}: an instance of {len(instance.users)} users has no more")
    about = {"schema": SCHEMA, "instance_sha256": digest(instance), "users": len(instance.users)}
    about |= {"bound": bound}
    if output is None:
        return about | prove(instance, bound, time_limit).to_dict()
    journal = output.with_suffix(".jsonl")
    proof = _journaled(instance, bound, time_limit, journal, about)
    commandline.write(output, to_json(outcome := about | proof.to_dict()) + "\n")
    if proof.verdict != "open":
        journal.unlink()
    return outcome


def _journaled(
    instance: Instance, bound: int, time_limit: float | None, journal: Path, about: Outcome
) -> Proof:
    with ResultsFile(journal, about, resume=True) as file:
        done = [Entry(**{name: row[name] for name in Entry._fields}) for row in file.rows()]
        numbers = itertools.count(len(done) + 1)

        def record(entry: Entry) -> None:
            file.append([to_json({"key": str(next(numbers)), **entry._asdict()})])

        return prove(instance, bound, time_limit, done, record)


def check(instance: Instance, path: Path) -> Outcome:
    """Recheck a proof: every box in integers, without an LP; MILPs are only counted.

    Raises
    ------
    InputError
        If the file is no finished proof, or another instance's.
    """
    proof = _read(path)
    if proof["instance_sha256"] != digest(instance):
        raise InputError(f"{path}: is the proof of another instance")
    outcome: Outcome = {name: proof[name] for name in ("users", "bound", "milp")}
    outcome |= {"verdict": "proven", "rechecked": True}
    started = time.perf_counter()
    try:
        outcome["counts"] = dict(recheck(instance, proof["bound"], proof["boxes"]))
    except ValueError as error:
        outcome |= {"verdict": "refuted", "counts": {}, "failure": str(error)}
    return outcome | {"seconds": time.perf_counter() - started}


def _read(path: Path) -> Outcome:
    try:
        proof = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as a proof ({error})") from None
    wanted = ("instance_sha256", "users", "bound", "boxes", "milp")
    if not isinstance(proof, dict) or proof.get("schema") != SCHEMA:
        raise InputError(f"{path}: is no proof ({SCHEMA})")
    if missing := [name for name in wanted if name not in proof]:
        raise InputError(f"{path}: lacks {', '.join(missing)}")
    if proof.get("verdict") != "proven":
        raise InputError(f"{path}: proves nothing, its verdict is {proof.get('verdict')!r}")
    return proof


def to_json(outcome: Mapping[str, Any]) -> str:
    """Return an outcome on one line."""
    return json.dumps(outcome, separators=(",", ":"))
