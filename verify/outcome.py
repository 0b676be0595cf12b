"""A whole run of `guarantee`: rows in, tallies and failures out, failing instances saved."""

from __future__ import annotations

import bisect
import shlex
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from instances import commandline, dumps
from instances.commandline import Exit

from .guarantee import Guarantee
from .kernels import READY
from .progress import track
from .results import Row, results_in
from .runner import Task, run
from .sources import family_of, file_of
from .tally import Tally
from .workers import Workers

#: Seconds for drawing, the algorithm and the judge, on top of the exact solutions.
ASIDE_SECONDS = 60.0

#: Failures that are told one by one; the others are in the rows.
MOST_TOLD = 10


@dataclass(order=True)
class Failure:
    """One instance that a claim fails on, or that was not decided.

    Attributes
    ----------
    position : tuple
        What failures are told in the order of: users served over P1's optimum (-1 if the schedule
        is refused), then the order of the instances.
    """

    position: tuple[Fraction, int, str]
    key: str
    reasons: list[str]
    path: str | None = None
    again: str | None = None
    crashed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"key": self.key, "reasons": self.reasons, "file": self.path, "again": self.again}


@dataclass
class Outcome:
    """What a run found; the same whatever the order of its rows.

    Attributes
    ----------
    families : dict of str to Tally
        In the order of their names.
    total : Tally
    violations, troubles, skipped : list of Failure
        The first of them: broken claims, the worst first; crashes, time-outs and open
        optima; refused instances.
    solvers : set of str
        Exact solvers at work, with versions.
    seconds : float
        Wall time.
    """

    families: dict[str, Tally] = field(default_factory=dict)
    total: Tally = field(default_factory=Tally)
    violations: list[Failure] = field(default_factory=list)
    troubles: list[Failure] = field(default_factory=list)
    skipped: list[Failure] = field(default_factory=list)
    solvers: set[str] = field(default_factory=set)
    seconds: float = 0.0

    @property
    def verdict(self) -> Exit:
        """Whether all held, something failed, or something (or everything) stayed open."""
        if self.total.violated:
            return Exit.VIOLATION
        if self.total.undecided or self.total.errors or not self.total.checked:
            return Exit.UNDECIDED
        return Exit.HELD

    def add(self, row: Row) -> None:
        """Count one row."""
        self.total.add(row)
        self.families.setdefault(family_of(row["key"]), Tally()).add(row)
        self.solvers.update({row["solver"]} if "solver" in row else ())
        if "skipped" in row:
            _insert(self.skipped, row["key"], [row["skipped"]])
        elif "error" in row:
            _insert(self.troubles, row["key"], [row["error"]], crashed=True)
        elif row["faults"]:
            _insert(self.violations, row["key"], list(row["faults"].values()), _ratio(row))
        else:
            open_ = [name for name in ("p1", "p2") if row[name][0] < row[name][1]]
            reasons = [f"{name.upper()} lies in {row[name][0]} to {row[name][1]}" for name in open_]
            if reasons:
                _insert(self.troubles, row["key"], reasons)


def check_all(
    guarantee: Guarantee, workers: Workers, output: Path | None = None, resume: bool = False
) -> Outcome:
    """Check the guarantee on all of its instances.

    Parameters
    ----------
    guarantee : Guarantee
    workers : Workers
    output : Path, optional
        Folder of ``results.jsonl``, to which every finished instance is appended.
    resume : bool
        Whether to go on with the rows that are there.

    Raises
    ------
    InputError
        If the results cannot be written or belong to another run.
    WorkersLost
        If the workers do not answer any more.
    """
    tasks = (Task(key, key) for key in guarantee.sources)
    limit = None
    if guarantee.time_limit is not None:
        optima = 2 if guarantee.fine_grid is None else 3
        limit = optima * guarantee.time_limit + ASIDE_SECONDS
    with results_in(output, guarantee.to_dict(), resume) as results:
        alone = replace(guarantee.sources, files=())  # a key says it all; workers need no list
        function = replace(guarantee, sources=alone)
        rows = run(function, tasks, workers, results, limit, READY)
        return collect(track(rows, len(guarantee.sources), "checking"))


def collect(rows: Iterable[Row]) -> Outcome:
    """Return what some rows add up to, and how long they took to come."""
    begin = time.perf_counter()
    outcome = Outcome()
    for row in rows:
        outcome.add(row)
    outcome.families = dict(sorted(outcome.families.items()))
    outcome.seconds = time.perf_counter() - begin
    return outcome


def save_violations(outcome: Outcome, guarantee: Guarantee, folder: Path) -> None:
    """Write the instances of violations and crashes to a folder, each with its line to rerun it.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    crashes = (trouble for trouble in outcome.troubles if trouble.crashed)
    for failure in (*outcome.violations, *crashes):
        path = file_of(failure.key)
        if path is None:
            path = str(folder / f"{failure.key.replace(':', '-')}.json")
            commandline.write(Path(path), dumps(guarantee.sources.load(failure.key)))
        failure.path = path
        failure.again = _again(guarantee, path)


def _again(guarantee: Guarantee, path: str) -> str:
    words = ["python", "-m", "verify.bound", "--input", path]
    if guarantee.algorithm != Guarantee.algorithm:
        words += ["--algorithm", guarantee.algorithm]
    if guarantee.solver != Guarantee.solver:
        words += ["--solver", guarantee.solver]
    return shlex.join(words)


def _ratio(row: Row) -> Fraction:
    """Return the users served over P1's optimum; -1 for a schedule that is refused."""
    return Fraction(-1) if row["served"] is None else Fraction(row["served"], row["p1"][1] or 1)


def _insert(
    failures: list[Failure],
    key: str,
    reasons: list[str],
    ratio: Fraction = Fraction(0),
    crashed: bool = False,
) -> None:
    """Keep the first failures by position, whatever order they come in."""
    rest = key.partition(":")[2]
    position = (ratio, int(rest) if file_of(key) is None else 0, key)
    bisect.insort(failures, Failure(position, key, reasons, crashed=crashed))
    del failures[MOST_TOLD:]
