"""The answer of a search for settings: tables for people, for JSON and for Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich import box
from rich.table import Table

from .paper_reported import REPORTED
from .settings_search import Answer, Search
from .settings_space import SPACE

#: Percentage points within which an average counts as reproduced.
NEAR = 3.0
TITLES = ("average", "paper", "default", "best")


def rows(answer: Answer) -> Iterator[tuple[str, float, float, float]]:
    """Yield each reported average: what it is; the paper's, the default's, the best's percent."""
    for row in REPORTED:
        default, best = (found.averages[str(row)] for found in (answer.default, answer.best))
        yield str(row), row.percent, default, best


def unexplained(answer: Answer) -> list[str]:
    """Return the averages that the best setting leaves more than `NEAR` points away."""
    return [name for name, paper, _, best in rows(answer) if abs(best - paper) > NEAR]


def tables(answer: Answer) -> list[Table]:
    """Return both tables: the averages and the settings."""
    first = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    first.add_column(TITLES[0])
    for title in TITLES[1:]:
        first.add_column(title, justify="right")
    for name, *values in rows(answer):
        first.add_row(name, *(f"{value:+.1f} %" for value in values))
    distances = (answer.default.distance, answer.best.distance)
    first.add_row("distance (RMS, points)", "", *(f"{value:.1f}" for value in distances))
    second = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("quantity", "searched", "default", "best"):
        second.add_column(title)
    for name, dimension in SPACE.items():
        pair = (answer.default.setting[name], answer.best.setting[name])
        second.add_row(name, str(dimension), *map(str, pair))
    return [first, second]


def closing(answer: Answer) -> str:
    """Return one line: how close, and how much stays unexplained."""
    left = unexplained(answer)
    return (
        f"{answer.tried} settings scored; the best is {answer.best.distance:.1f} points from the "
        f"paper (default {answer.default.distance:.1f}); {len(left)} of {len(REPORTED)} averages "
        f"stay more than {NEAR:g} points away"
    )


def to_json(asked: Search, answer: Answer) -> str:
    """Return what was asked and found as JSON."""
    data: dict[str, Any] = {
        "schema": "balance-settings/1",
        "search": asked.to_dict(),
        **asdict(answer),
        "unexplained": unexplained(answer),
    }
    return json.dumps(data, indent=1, ensure_ascii=False)


def to_markdown(answer: Answer) -> str:
    """Return both tables as Markdown."""
    lines = [f"| {' | '.join(TITLES)} |", "|---|--:|--:|--:|"]
    for name, *values in rows(answer):
        lines.append(f"| {name} | {' | '.join(f'{value:+.1f} %' for value in values)} |")
    lines.append(
        f"| distance (RMS, points) | | {answer.default.distance:.1f} | {answer.best.distance:.1f} |"
    )
    lines += ["", "| quantity | searched | default | best | why |", "|---|---|---|---|---|"]
    for name, dimension in SPACE.items():
        pair = (answer.default.setting[name], answer.best.setting[name])
        cells = (f"`{name}`", str(dimension), *map(str, pair), dimension.why)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
