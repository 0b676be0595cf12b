"""Tables of the evaluation as rows of text: averages, points, run times; Markdown and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from .bench_stats import seconds_text
from .paper_reported import SPEEDUPS
from .paper_run import Recomputed
from .study_rows import MEASURES
from .study_stats import Mean, by_point

#: Figure 6's slow and fast line.
EXHAUSTIVE, FAST = "exhaustive", "balance"


@dataclass(frozen=True)
class Grid:
    """A table: the heads of its columns, and rows of text."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]

    def to_markdown(self) -> str:
        """Return the table as Markdown; all columns but the first are numbers."""
        rule = ["---", *["--:"] * (len(self.heads) - 1)]
        lines = (f"| {' | '.join(row)} |" for row in (self.heads, rule, *self.rows))
        return "\n".join(lines) + "\n"


def averages_table(found: Iterable[Recomputed]) -> Grid:
    """Return every reported average with the paper's number, ours, and the difference."""
    rows = []
    for one in found:
        for average in one.averages:
            paper, ours = average.reported.percent, average.ours
            apart = "–" if ours is None else f"{round(ours.value - paper, 1) + 0.0:+.1f}"
            rows.append((str(average.reported), f"{paper:+.1f} %", average.text, apart))
    return Grid(("average over the figure's points", "paper", "ours", "points apart"), rows)


def points_table(one: Recomputed, measure: str) -> Grid:
    """Return a measure at every point: a row a point, a column an algorithm."""
    names = [one.study.plot.labels.get(name, name) for name in one.study.algorithms]
    rows = []
    for cells in by_point(one.cells):
        place = [str(value) for value in cells[0].point.values()]
        rows.append([*place, *(_shown(cell.means[measure], measure) for cell in cells)])
    return Grid([*one.study.grid, *names], rows)


def point_rows(one: Recomputed) -> list[dict[str, Any]]:
    """Return every point and algorithm with all means and half widths, flat, for a CSV file."""
    rows = []
    for cell in one.cells:
        row = {**cell.point, "algorithm": cell.algorithm, "optimal": cell.optimal}
        for name in MEASURES:
            mean = cell.means[name]
            row |= {name: mean and mean.value, f"{name}_half": mean and mean.half}
        rows.append(row)
    return rows


def speedups(one: Recomputed) -> dict[str, float]:
    """Return how many times Algorithm 3 is faster than exhaustive search, by K and on average.

    A quotient of mean CPU seconds at each K; empty where one of the two did not run.
    """
    seconds: dict[tuple[int, str], float] = {}
    for cell in one.cells:
        mean = cell.means["cpu_s"]
        if mean is not None:
            seconds[cell.point["users"], cell.algorithm] = mean.value
    ratios = {
        f"K = {users}": slow / max(seconds[users, FAST], 1e-6)
        for (users, name), slow in seconds.items()
        if name == EXHAUSTIVE and (users, FAST) in seconds
    }
    return ratios | ({"mean": fmean(ratios.values())} if ratios else {})


def speedup_table(one: Recomputed) -> Grid:
    """Return Figure 6's quotients beside the paper's."""
    rows = [
        (place, f"{SPEEDUPS[place]:,} ×" if place in SPEEDUPS else "", f"{ratio:,.1f} ×")
        for place, ratio in speedups(one).items()
    ]
    return Grid(("Algorithm 3 faster than exhaustive search", "paper", "ours"), rows)


def _shown(mean: Mean | None, measure: str) -> str:
    if mean is None:
        return "–"
    half = mean.half
    if measure in ("cpu_s", "wall_s"):
        return seconds_text(mean.value)
    if measure == "memory_bytes":
        return f"{mean.value / 1e9:.2f} GB"
    return f"{mean.value:.3f}" + ("" if not half else f" ± {half:.3f}")
