"""The rows of a study: what is wrong with them, and how they are written (CSV, Parquet)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from instances.commandline import Exit
from instances.extras import needs

from .results import Row

#: Columns that follow the grid's, the instance, the seed and the algorithm.
COLUMNS = (
    "users",
    "status",
    "stopped_by",
    "objective",
    "throughput",
    "bound",
    "problem",
    "cpu_s",
    "wall_s",
    "z",
    "lambda",
    "ad",
    "sd",
    "latency_s",
    "memory_bytes",
    "fault",
    "error",
)
#: What a picture may show, and what its axis is called.
MEASURES = {
    "throughput": "normalised throughput (served / K)",
    "objective": "users served",
    "cpu_s": "CPU time in seconds",
    "wall_s": "wall time in seconds",
    "latency_s": "latest answer in seconds",
    "memory_bytes": "GPU memory in GB",
}


def contradictions(rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
    """Yield the rows that serve more than another algorithm proves to be possible, and how many.

    A bound for P1 holds for all; one for P2 holds for schedules that split the memory.

    Parameters
    ----------
    rows : iterable of dict
        In a study's order, so that an instance's rows follow each other.
    """
    for _, together in groupby(rows, place):
        runs = list(together)
        for row in runs:
            others = [other for other in runs if _bounds(other, row)]
            if others:
                best = min(others, key=lambda other: other["bound"])
                yield (
                    row,
                    (
                        f"serves {row['objective']}, above the bound {best['bound']} "
                        f"of {best['algorithm']}"
                    ),
                )


def _bounds(other: Row, row: Row) -> bool:
    """Return whether another run's proven bound is broken by a row."""
    if row["objective"] is None or row["fault"] or other["bound"] is None:
        return False
    covers = other["problem"] == "P1" or row["lambda"] is not None
    return bool(covers and row["objective"] > other["bound"])


def place(row: Row) -> list[Any]:
    """Return where a row belongs: the grid's values, the instance and the seed."""
    return [row[name] for name in _place_names(row)]


def _place_names(row: Row) -> list[str]:
    names = list(row)
    return names[: names.index("algorithm")]


def label(row: Row) -> str:
    """Return a row's place and algorithm in one line, ``users = 20, seed = 1: balance``."""
    told = [f"{name} = {text(row[name])}" for name in _place_names(row) if row[name] is not None]
    return f"{', '.join(told)}: {row['algorithm']}"


def faults(rows: Sequence[Row]) -> list[tuple[Row, str]]:
    """Return the wrong answers, each with what is wrong: infeasible, malformed, above a bound."""
    return [*((row, row["fault"]) for row in rows if row["fault"]), *contradictions(rows)]


def errors(rows: Iterable[Row]) -> list[tuple[Row, str]]:
    """Return the runs without an answer, each with why."""
    return [(row, row["error"]) for row in rows if row["error"]]


def verdict(rows: Sequence[Row]) -> Exit:
    """Return whether every answer is right, one is wrong, or some (or all) are missing."""
    if faults(rows):
        return Exit.VIOLATION
    return Exit.UNDECIDED if errors(rows) or not rows else Exit.HELD


def to_csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV; lists as JSON, what is unknown empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0] if rows else ())
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return text.getvalue()


#: What to install where pandas or pyarrow is missing.
NO_PARQUET = needs("rows.parquet needs pandas and pyarrow", "parquet")


def save_parquet(rows: Sequence[Row], path: Path) -> bool:
    """Write rows as Parquet; return False where pandas or pyarrow is missing."""
    try:
        import pandas
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    pandas.DataFrame(_columns(rows)).to_parquet(path, index=False)
    return True


def _columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return rows by column; one that mixes text with numbers is all text."""
    columns = {name: [_flat(row[name]) for row in rows] for name in (rows[0] if rows else ())}
    for name, values in columns.items():
        if len({isinstance(value, str) for value in values if value is not None}) > 1:
            columns[name] = [value if value is None else text(value) for value in values]
    return columns


def _flat(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _cell(value: Any) -> Any:
    return "" if value is None else _flat(value)


def text(value: Any) -> str:
    """Return a value of a grid as people read it: text as it is, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value)
