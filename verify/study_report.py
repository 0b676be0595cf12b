"""The report of a study: a table and a closing line for people, JSON, a folder of files."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from instances import commandline
from instances.pictures import MISSING, has_matplotlib

from .results import Row
from .study import Study
from .study_plots import save_pictures
from .study_rows import NO_PARQUET, errors, faults, label, save_parquet, to_csv, verdict
from .study_stats import Cell, Mean, by_point, gain, summarise

SCHEMA = "balance-sweep/1"
#: Wrong answers and errors that are told one by one.
MOST_TOLD = 10


def table(study: Study, cells: Sequence[Cell]) -> Table:
    """Return a row a point and a column an algorithm: the first measure's mean ± 95 %."""
    measure = study.plot.y[0]
    result = Table(box=box.SIMPLE_HEAD, show_edge=False, caption=f"{measure}, mean ± 95 %")
    for name in study.grid:
        result.add_column(name, justify="right", no_wrap=True)
    for algorithm in study.algorithms:
        result.add_column(study.plot.labels.get(algorithm, algorithm), justify="right")
    for row in by_point(cells):
        place = [str(value) for value in row[0].point.values()]
        result.add_row(*place, *(_shown(cell.means[measure], measure) for cell in row))
    return result


def lines(study: Study, rows: Sequence[Row], cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the gains of the first algorithm over the others, and the line PASS, FAIL or so."""
    first, *others = study.algorithms
    for other in others:
        share = gain(cells, first, other)
        if share == share:
            yield f"{first} over {other}: {share:+.1%} throughput, mean over the points"
    wrong, lost = faults(rows), errors(rows)
    for row, reason in lost[:MOST_TOLD]:
        yield f"no answer: {label(row)}: {reason}"
    if wrong:
        yield f"FAIL: {len(wrong)} of {len(rows)} answers are wrong"
    elif lost or not rows:
        yield f"UNDECIDED: {len(lost)} of {len(rows)} runs gave no answer; the others are right"
    else:
        yield f"PASS: all {len(rows)} answers hold in exact arithmetic"


def wrong_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the wrong answers, which a report begins with."""
    wrong = faults(rows)
    for row, reason in wrong[:MOST_TOLD]:
        yield f"WRONG: {label(row)}: {reason}"
    if wrong[MOST_TOLD:]:
        yield f"WRONG: {len(wrong) - MOST_TOLD} more"


def to_dict(study: Study, rows: Sequence[Row], cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the summary as plain data for JSON."""
    first, *others = study.algorithms
    gains = {other: gain(cells, first, other) for other in others}
    return {
        "schema": SCHEMA,
        "verdict": verdict(rows).name.lower(),
        "study": study.model_dump(by_alias=True),
        "python": platform.python_version(),
        "runs": len(rows),
        "wrong": [{"run": label(row), "what": reason} for row, reason in faults(rows)],
        "errors": [{"run": label(row), "what": reason} for row, reason in errors(rows)],
        "gains": {name: None if share != share else share for name, share in gains.items()},
        "points": [cell.to_dict() for cell in cells],
    }


def save(study: Study, rows: Sequence[Row], folder: Path) -> list[str]:
    """Write ``rows.csv`` (and ``rows.parquet``), ``summary.json`` and the pictures into a folder.

    Returns
    -------
    list of str
        What is missing, and what to install for it.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    cells = summarise(study, rows)
    commandline.write(folder / "rows.csv", to_csv(rows))
    summary = json.dumps(to_dict(study, rows, cells), indent=1, ensure_ascii=False)
    commandline.write(folder / "summary.json", summary + "\n")
    missing = [] if save_parquet(rows, folder / "rows.parquet") else [NO_PARQUET]
    if has_matplotlib():
        save_pictures(study, cells, folder)
    return missing if has_matplotlib() else [*missing, MISSING]


def _shown(mean: Mean | None, measure: str) -> str:
    if mean is None:
        return "–"
    form = ".3f" if measure == "throughput" else ".3g"
    return f"{mean.value:{form}}" + ("" if mean.half is None else f" ± {mean.half:{form}}")
