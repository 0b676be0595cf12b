"""What a run of ``verify.reduction`` found: rows in; table, lines and JSON out."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from instances import commandline, dumps
from instances.commandline import Exit

from .reduction_checks import CHECKS, Reduction, instances_of
from .results import Row

_VERDICTS = {Exit.HELD: "held", Exit.VIOLATION: "violation", Exit.UNDECIDED: "undecided"}


@dataclass
class Failure:
    """One seed on which a claim fails, or that was not decided."""

    key: str
    reasons: list[str]
    files: list[str] = field(default_factory=list)
    again: str | None = None


@dataclass
class Findings:
    """The rows of a run, added up; the same whatever their order.

    Attributes
    ----------
    checked : int
        Seeds that came to an end.
    thresholds, problems : int
        Pairs of thresholds looked at, and different MMKPs solved for them.
    yes, no : int
        Instances of EQUAL-CARDINALITY PARTITION with and without a half.
    violated, open : Counter
        Seeds by the kind of check that failed, or stayed open.
    violations, troubles : list of Failure
    seconds : float
    """

    checked: int = 0
    thresholds: int = 0
    problems: int = 0
    yes: int = 0
    no: int = 0
    violated: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)
    violations: list[Failure] = field(default_factory=list)
    troubles: list[Failure] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def verdict(self) -> Exit:
        """Whether all held, something failed, or something (or everything) stayed open."""
        if self.violations:
            return Exit.VIOLATION
        return Exit.UNDECIDED if self.troubles or not self.checked else Exit.HELD

    def add(self, row: Row) -> None:
        """Count one row."""
        if "error" in row:
            self.troubles.append(Failure(row["key"], [row["error"]]))
            return
        self.checked += 1
        self.thresholds += row["thresholds"]
        self.problems += row["problems"]
        self.yes, self.no = self.yes + row["yes"], self.no + (not row["yes"])
        self.violated.update(row["faults"])
        self.open.update(row["open"])
        if row["faults"]:
            self.violations.append(Failure(row["key"], list(row["faults"].values())))
        elif row["open"]:
            self.troubles.append(Failure(row["key"], [f"open: {CHECKS[k]}" for k in row["open"]]))

    def to_dict(self, configuration: dict[str, Any]) -> dict[str, Any]:
        """Return the whole report as plain data for JSON."""
        return {
            "schema": "balance-reduction/1",
            "verdict": _VERDICTS[self.verdict],
            "configuration": configuration,
            "checked": self.checked,
            "thresholds": self.thresholds,
            "problems": self.problems,
            "partitions": {"yes": self.yes, "no": self.no},
            "checks": {
                kind: {"claim": claim, "violated": self.violated[kind], "open": self.open[kind]}
                for kind, claim in CHECKS.items()
            },
            "violations": [vars(failure) for failure in self.violations],
            "troubles": [vars(failure) for failure in self.troubles],
            "wall_seconds": round(self.seconds, 3),
        }


def collect(rows: Iterable[Row]) -> Findings:
    """Return what some rows add up to, and how long they took to come."""
    begin, findings = time.perf_counter(), Findings()
    for row in rows:
        findings.add(row)
    findings.violations.sort(key=lambda failure: int(failure.key))
    findings.troubles.sort(key=lambda failure: int(failure.key))
    findings.seconds = time.perf_counter() - begin
    return findings


def save_violations(findings: Findings, reduction: Reduction, folder: Path) -> None:
    """Write the instances of the violations to a folder, each with the line that runs it again.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    for failure in findings.violations:
        for purpose, instance in instances_of(int(failure.key)).items():
            path = folder / f"{purpose}-{failure.key}.json"
            commandline.write(path, dumps(instance))
            failure.files.append(str(path))
        words = ["python", "-m", "verify.reduction", "--instances", "1", "--seed", failure.key]
        if reduction.solver != Reduction.solver:
            words += ["--solver", reduction.solver]
        failure.again = shlex.join(words)


def table(findings: Findings) -> Table:
    """Return one row for each claim."""
    result = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    result.add_column("claim")
    for name in ("cases", "violated", "open"):
        result.add_column(name, justify="right", no_wrap=True)
    cases = {
        "optimum": findings.problems,
        "maximum": 2 * findings.checked,
        "schedule": findings.problems,
        "hard_if": findings.yes,
        "hard_only_if": findings.yes + findings.no,
    }
    for kind, claim in CHECKS.items():
        counts = cases[kind], findings.violated[kind], findings.open[kind]
        result.add_row(claim, *(f"{count:,}" for count in counts))
    return result


def lines(findings: Findings) -> Iterator[str]:
    """Yield the failures, what to run to see them again, and the closing PASS or FAIL line."""
    for title, failures in (("violation", findings.violations), ("open", findings.troubles)):
        for failure in failures[:10]:
            yield f"{title}: seed {failure.key}: {'; '.join(failure.reasons)}"
            if failure.again:
                yield f"  {failure.again}"
        if failures[10:]:
            yield f"{title}: {len(failures) - 10} more"
    yield (
        f"{findings.checked} instances, {findings.thresholds:,} pairs of thresholds, "
        f"sets of integers with a half: {findings.yes}, without: {findings.no}; "
        f"in {findings.seconds:.1f} s"
    )
    yield _closing(findings)


def _closing(findings: Findings) -> str:
    if findings.verdict == Exit.VIOLATION:
        return f"FAIL: {len(findings.violations)} of {findings.checked} instances break a claim"
    if not findings.checked:
        return "UNDECIDED: nothing was checked"
    if findings.verdict == Exit.UNDECIDED:
        return f"UNDECIDED: {len(findings.troubles)} instances; the others held"
    return f"PASS: both reductions held on all {findings.checked} instances"
