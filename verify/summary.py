"""The report of ``verify.bound`` for people (a table and one line), for JSON and for CSV."""

from __future__ import annotations

import csv
import io
import platform
from collections.abc import Iterator
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rich import box
from rich.table import Table

from instances.commandline import Exit

from .guarantee import FAULTS
from .outcome import Failure, Outcome
from .tally import Tally

_VERDICTS = {Exit.HELD: "held", Exit.VIOLATION: "violation", Exit.UNDECIDED: "undecided"}

#: Columns that appear if they are not all zero: attribute of a tally, title.
_OPTIONAL = {"skipped": "skip", "undecided": "open", "errors": "crash"}


def table(outcome: Outcome) -> Table:
    """Return one row a family and one for all; columns of zeros are left out."""
    optional = [name for name in _OPTIONAL if getattr(outcome.total, name)]
    losses = ("loss to\ngrid z/λ",) if outcome.total.losses.count else ()
    gap = (0, 0) if optional or losses else (0, 1, 0, 0)
    result = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=gap)
    result.add_column("family", no_wrap=True)
    ratios = ("min\nr/P1", "mean\nr/P1", "min\nr/P2", "mean\nr/P2")
    clock = "time" if losses else "time s"  # what fits 80 columns
    titles = [_OPTIONAL[name] for name in optional]
    for title in ("checked", *titles, *ratios, *losses, "optimal", "fails", clock):
        result.add_column(title, justify="right", no_wrap=True)
    rows = [*outcome.families.items(), ("all", outcome.total)]
    for position, (name, tally) in enumerate(rows):
        last = position == len(rows) - 2
        cells = _cells(tally, optional, with_losses=bool(losses))
        result.add_row(name, *cells, end_section=last)
    return result


def lines(outcome: Outcome, algorithm: str) -> Iterator[str]:
    """Yield the failures, what to run to see them again, and the closing PASS or FAIL line."""
    told = [("violation", outcome.violations, outcome.total.violated)]
    told.append(("open", outcome.troubles, outcome.total.undecided + outcome.total.errors))
    told.append(("skipped", outcome.skipped[:1], outcome.total.skipped))
    for title, failures, count in told:
        for failure in failures:
            yield from _told(title, failure)
        if count > len(failures):
            yield f"{title}: {count - len(failures)} more"
    total = outcome.total
    if lost := total.losses.count:
        yield f"loss to grid: users that a finer z / a continuous λ would gain, mean of {lost}"
    counts = f"{total.checked} checked, {total.skipped} skipped, {total.undecided} undecided"
    errors = f", {total.errors} crashed" if total.errors else ""
    yield f"{counts}{errors}, {total.violated} violated in {outcome.seconds:.1f} s"
    yield closing(outcome, algorithm)


def closing(outcome: Outcome, algorithm: str) -> str:
    """Return one line that says PASS, FAIL or UNDECIDED, and what of."""
    total = outcome.total
    if outcome.verdict == Exit.VIOLATION:
        kinds = [f"{count} {FAULTS[kind]}" for kind, count in sorted(total.faults.items())]
        return f"FAIL: {algorithm}: {', '.join(kinds)}"
    if not total.checked:
        return "UNDECIDED: nothing was checked"
    if outcome.verdict == Exit.UNDECIDED:
        left = total.undecided + total.errors
        return f"UNDECIDED: {left} of {left + total.checked} instances; the others held"
    return (
        f"PASS: {algorithm} served at least half of the optimum of P1 and of P2, "
        f"feasibly, on all {total.checked} instances"
    )


def to_dict(outcome: Outcome, configuration: dict[str, Any]) -> dict[str, Any]:
    """Return the whole report as plain data for JSON."""
    return {
        "schema": "balance-bound/1",
        "verdict": _VERDICTS[outcome.verdict],
        "configuration": configuration,
        "versions": {"toolkit": _toolkit(), "python": platform.python_version()},
        "solvers": sorted(outcome.solvers),
        "total": outcome.total.to_dict(),
        "families": {name: tally.to_dict() for name, tally in outcome.families.items()},
        "violations": [failure.to_dict() for failure in outcome.violations],
        "troubles": [failure.to_dict() for failure in outcome.troubles],
        "wall_seconds": round(outcome.seconds, 3),
    }


def to_csv(outcome: Outcome) -> str:
    """Return the table as CSV, ratios exact as fractions and as decimals."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    counts = ("checked", "skipped", "undecided", "errors", "violated", "optimal")
    ratios = [f"{key}_{r}" for r in ("p1", "p2") for key in ("min", "min_exact", "mean")]
    losses = [(name, key) for name in ("z", "lambda") for key in ("mean", "max", "losing")]
    losses = losses if outcome.total.losses.count else []
    titles = [f"loss_{name}_{key}" for name, key in losses]
    writer.writerow(["family", *counts, *ratios, *titles, "worker_seconds"])
    for name, tally in [*outcome.families.items(), ("all", outcome.total)]:
        data = tally.to_dict()
        values = [
            data[f"ratio_{r}"][key] for r in ("p1", "p2") for key in ("min", "min_exact", "mean")
        ]
        values += [tally.losses.to_dict()[which][key] for which, key in losses]
        writer.writerow([name, *(data[key] for key in counts), *values, data["worker_seconds"]])
    return text.getvalue()


def decimal(ratio: Fraction | None) -> str:
    """Return a ratio to four decimals, cut and not rounded: 0.5 means exactly one half."""
    if ratio is None:
        return "–"
    units = ratio * 10**4
    if units.denominator == 1:
        return f"{float(ratio):g}"
    return f"{int(units) / 10**4:.4f}"


def _cells(tally: Tally, optional: list[str], with_losses: bool) -> list[str]:
    ratios = (tally.p1.least, tally.p1.mean, tally.p2.least, tally.p2.mean)
    lost = [f"{tally.losses}"] if with_losses else []
    return [
        f"{tally.checked}",
        *(f"{getattr(tally, name)}" for name in optional),
        *(decimal(ratio) for ratio in ratios),
        *lost,
        f"{tally.optimal}",
        f"{tally.violated}",
        f"{tally.seconds:.1f}",
    ]


def _told(title: str, failure: Failure) -> Iterator[str]:
    yield f"{title}: {failure.key}: {'; '.join(failure.reasons)}"
    if failure.again:
        yield f"  {failure.again}"


def _toolkit() -> str | None:
    try:
        return version("balance-toolkit")
    except PackageNotFoundError:  # run from a clone that is not installed
        return None
