"""The judge's report for people: a table of inequalities and one closing line."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from rich import box
from rich.table import Table
from rich.text import Text

from .judge import Inequality, Report

#: What each kind of row is called, in the order of the table.
TITLES = {
    "z_grid": "z, grid",
    "lambda_grid": "λ, grid",
    "draft_lengths": "L^D, set",
    "ad_share": "AD share",
    "sd_share": "SD share",
    "memory": "memory",
    "ad_memory": "AD memory",
    "sd_memory": "SD memory",
    "ad_latency": "AD latency",
    "sd_latency": "SD latency",
}


def inequality_table(report: Report, most: int | None = 10) -> Table:
    """Return the rows with their slack, tightest first within a kind.

    Parameters
    ----------
    report : Report
    most : int or None
        Rows shown of each kind; violated ones are always shown. None shows all.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("inequality", no_wrap=True)
    table.add_column("user", overflow="fold", min_width=6)
    for name in ("measured", "required", "slack"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for kind in TITLES:
        rows = [row for row in report.inequalities if row.kind == kind]
        rows.sort(key=lambda row: row.slack)
        shown = sum(not row.holds for row in rows)
        shown = len(rows) if most is None else max(most, shown)
        for row in rows[:shown]:
            table.add_row(*_cells(row))
        if rows[shown:]:
            table.add_row("", Text(f"and {len(rows) - shown} more with more slack", "dim"))
    return table


def verdict(report: Report) -> str:
    """Return one line: PASS, or FAIL with the number and the worst of each kind of violation."""
    people = "1 user" if report.served == 1 else f"{report.served} users"
    people += "" if report.value == report.served else f", worth {report.value}"
    if report.feasible:
        return f"PASS: serves {people}, every inequality of {report.problem} holds"
    return f"FAIL: serves {people}; " + "; ".join(_faults(report))


def amount(value: Fraction, unit: str) -> str:
    """Return a quantity for people: whole bytes with separators, seconds to seven digits."""
    if value.denominator == 1 and abs(value) < 10**18:
        return f"{value.numerator:,} {unit}".strip()
    if unit == "B" and 1 <= abs(value) < 10**15:
        return f"{float(value):,.2f} B"
    return f"{_rounded(value)} {unit}".strip()


def _rounded(value: Fraction) -> str:
    try:
        return f"{float(value):.7g}"
    except OverflowError:
        return "-inf" if value < 0 else "inf"


def _cells(row: Inequality) -> list[str | Text]:
    left, right = _brief(row.left, row.unit), _brief(row.right, row.unit)
    sides = [right, f"> {left}"] if row.strict else [left, f"≤ {right}"]
    style, mark = ("green", "✓") if row.holds else ("bold red", "✗")
    slack = Text(_brief(row.slack, row.unit), "" if row.holds else style)
    return [TITLES[row.kind], Text(row.user or ""), *sides, slack, Text(mark, style)]


def _brief(value: Fraction, unit: str) -> str:
    """Return a quantity that fits a column: millions of bytes and more in GB."""
    if unit == "B" and 10**6 <= abs(value) < 10**15:
        return f"{float(value / 10**9):,.6f} GB"
    return amount(value, unit)


def _faults(report: Report) -> Iterator[str]:
    for kind, count in report.violations.items():
        worst = report.worst[kind]
        by = amount(-worst.slack, worst.unit)
        if worst.unit == "s":
            people = f"{TITLES[kind].split()[0]} {'user' if count == 1 else 'users'}"
            yield f"{count} {people} late, the worst ({worst.user}) by {by}"
        elif worst.unit == "B":
            yield f"{TITLES[kind]} over by {by}"
        elif worst.strict:
            yield f"{TITLES[kind].split()[0]} serves users with no share of the GPU"
        else:
            name, grid = TITLES[kind].split(", ")
            yield f"{name} is {by} off its {grid}"
