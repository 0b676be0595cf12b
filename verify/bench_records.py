"""One row of a benchmark: what one solver line did on one instance, and its place in CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from enum import StrEnum
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

from instances import InputError, Result, Status
from instances.files import read_text

from .bench_protocol import flat
from .bench_stats import Time


class Outcome(StrEnum):
    """How a run counts."""

    SOLVED = "solved"  # certified optimum within the time limit
    ANSWERED = "answered"  # checked schedule in time, by a method that proves no bound
    UNSOLVED = "unsolved"  # ended by itself with a gap
    TIMEOUT = "timeout"  # stopped at the limit, or finished after it
    KILLED = "killed"  # did not stop within the grace period
    CRASHED = "crashed"  # an exception, or the process died
    REFUSED = "refused"  # the solver does not serve such a request
    WRONG = "wrong"  # an answer that is not what it claims to be


#: Outcomes whose run time is a time; all others are censored at the limit.
COMPLETE = (Outcome.SOLVED, Outcome.ANSWERED)


@dataclass(frozen=True)
class Record:
    """What one solver line did on one instance.

    Parameters
    ----------
    family, instance, digest, users, seed
        The instance: its family (``"file"`` for a file), a unique name, a hash of its content, K,
        and the generator's seed.
    problem : str
        ``"P1"`` or ``"P2"``.
    line, solver_version
        The solver line, such as ``"highs@compact"``.
    time_limit_s : float
    outcome : Outcome
    status, stopped_by, objective, bound, nodes
        As the solver reported them.
    runtime_s, cpu_s : float or None
        Wall and processor seconds of the (median) call, measured around it; None if it was
        killed or failed.
    start_s, build_s, solve_s, certify_s : float or None
        Parts of the run time as the solver reports them.
    peak_mb : float or None
        Largest resident memory of the process, in 10⁶ bytes, interpreter and libraries included.
    repeats : int
        Calls timed.
    message : str
        What went wrong, in one line.
    machine : str
        The processor that the run was on.
    """

    family: str
    instance: str
    digest: str
    users: int
    seed: int | None
    problem: str
    line: str
    solver_version: str | None
    time_limit_s: float
    outcome: Outcome
    status: str | None = None
    stopped_by: str | None = None
    objective: int | None = None
    bound: int | None = None
    nodes: int | None = None
    runtime_s: float | None = None
    cpu_s: float | None = None
    start_s: float | None = None
    build_s: float | None = None
    solve_s: float | None = None
    certify_s: float | None = None
    peak_mb: float | None = None
    repeats: int = 0
    message: str = ""
    machine: str = ""

    @property
    def time(self) -> Time:
        """The run time; unless the run is complete, the limit, censored."""
        if self.outcome in COMPLETE and self.runtime_s is not None:
            return Time(self.runtime_s)
        return Time(self.time_limit_s, censored=True)


def outcome_of(
    result: Result, runtime_s: float, time_limit_s: float, heuristic: bool = False
) -> Outcome:
    """Return how an answer counts, before anybody has checked it.

    Parameters
    ----------
    result : Result
    runtime_s, time_limit_s : float
    heuristic : bool
        The method is asked for a schedule, not for a proof, even where it happens to have one.
    """
    if runtime_s > time_limit_s or result.stopped_by == "time_limit":
        return Outcome.TIMEOUT
    if result.status is Status.OPTIMAL and not heuristic:
        return Outcome.SOLVED
    ended = result.schedule is not None and result.stopped_by is None
    if ended and (heuristic or result.bound is None):
        return Outcome.ANSWERED
    return Outcome.UNSOLVED


COLUMNS = tuple(field.name for field in fields(Record))


def to_csv(records: Iterable[Record], protocol: Mapping[str, Any]) -> str:
    """Return the records as CSV under comment lines that hold the protocol.

    ``pandas.read_csv(path, comment="#")`` reads it; no value holds a ``#``.
    """
    return csv_text([COLUMNS, *map(astuple, records)], protocol)


def csv_text(rows: Iterable[Sequence[Any]], protocol: Mapping[str, Any]) -> str:
    """Return rows as CSV under comment lines that hold the protocol; None becomes empty."""
    head = "".join(f"# {key}: {value}\n" for key, value in flat(protocol).items())
    return head + csv_rows(rows)


def csv_rows(rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as lines of CSV; None becomes empty, and no value holds a ``#``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow(["" if v is None else str(v).replace("#", "no.") for v in row])
    return text.getvalue()


def read_csv(path: Path) -> list[Record]:
    """Return the records of a CSV file that `to_csv` wrote.

    Raises
    ------
    InputError
        In one line: the file, the row, what is wrong.
    """
    lines = read_text(path, may_be_empty=True).splitlines()
    rows = list(csv.reader(line for line in lines if line and not line.startswith("#")))
    if not rows or tuple(rows[0]) != COLUMNS:
        raise InputError(f"{path}: is not a CSV file of verify.bench")
    return [_record(path, number, row) for number, row in enumerate(rows[1:], start=1)]


def read_protocol(path: Path) -> dict[str, str]:
    """Return the protocol above a CSV file's rows, flat as it was written."""
    pairs = (
        line.removeprefix("# ").partition(": ")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("# ")
    )
    return {key: value for key, _, value in pairs}


def _record(path: Path, number: int, row: list[str]) -> Record:
    if len(row) != len(COLUMNS):
        raise InputError(f"{path}: run {number}: expected {len(COLUMNS)} values, found {len(row)}")
    hints = get_type_hints(Record)
    values: dict[str, Any] = {}
    for name, text in zip(COLUMNS, row, strict=True):
        try:
            values[name] = _parse(hints[name], text)
        except ValueError:
            raise InputError(f"{path}: run {number}: {name}: cannot read {text!r}") from None
    return Record(**values)


def _parse(hint: Any, text: str) -> Any:
    kinds = get_args(hint) or (hint,)
    if NoneType in kinds and text == "":
        return None
    return kinds[0](text)
