"""Pictures of a study: curves of means over the instances with bands of 95 % confidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.pictures import (
    COLOURS,
    MARKERS,
    legend_beside,
    new_figure,
    own_axes,
    pick,
    save_picture,
    tidy,
)

from .study import Study
from .study_rows import MEASURES, text
from .study_stats import Cell, Mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Forms in which every picture is written.
FORMS = ("png", "svg")
#: Line styles of the values of the grid's other axes, after each other.
STYLES = ("-", "--", ":", "-.")


def plot_curves(
    study: Study, cells: Sequence[Cell], measure: str = "throughput", ax: Axes | None = None
) -> Axes:
    """Draw a measure over the study's x, a curve for each algorithm; return the axes.

    An algorithm keeps its colour and marker; values of the grid's other axes differ in the line's
    style. Values of x that are no numbers stand side by side.

    Parameters
    ----------
    study : Study
    cells : sequence of Cell
        As `study_stats.summarise` returns them.
    measure : str
        One of `study_rows.MEASURES`.
    ax : matplotlib Axes, optional
        A new figure's without it.
    """
    ax = own_axes(ax)
    x = study.plot.x or next(iter(study.grid), None)
    places = _places(study.grid[x] if x else [study.title])
    others = list(dict.fromkeys(_others(cell, x) for cell in cells))
    for cell_of in _curves(cells, x):
        algorithm, other = cell_of[0].algorithm, _others(cell_of[0], x)
        if _is_same_for_all(cells, algorithm, x, measure):  # drawn once
            if other != others[0]:
                continue
            other = ""
        look = {
            "color": pick(COLOURS, study.algorithms.index(algorithm)),
            "marker": pick(MARKERS, study.algorithms.index(algorithm)),
            "ls": pick(STYLES, others.index(other) if other else 0),
            "label": study.plot.labels.get(algorithm, algorithm) + (f", {other}" if other else ""),
        }
        points = [(places[text(cell.point[x]) if x else text(study.title)], cell.means[measure])
                  for cell in cell_of]  # fmt: skip
        known = [(place, mean) for place, mean in points if mean is not None]
        draw_band(ax, known, look, 1.0 if measure == "throughput" else np.inf)
    _scales(ax, study, x, measure, places)
    tidy(ax, study.title)
    if any(cell.means[measure] for cell in cells):
        legend_beside(ax)
    return ax


def draw_band(
    ax: Axes, points: Sequence[tuple[float, Mean]], look: dict[str, Any], most: float = np.inf
) -> None:
    """Draw means over x and, where there is one, the band of their confidence.

    Parameters
    ----------
    ax : matplotlib Axes
    points : sequence of (float, Mean)
    look : dict
        ``color``, ``marker``, ``ls``, ``label``, ... of the line.
    most : float
        No value can be larger; the band ends there.
    """
    at = [place for place, _ in points]
    ax.plot(at, [mean.value for _, mean in points], lw=1.8, ms=6, **look)
    low = [mean.value - (mean.half or 0.0) for _, mean in points]
    high = [max(mean.value, min(most, mean.value + (mean.half or 0.0))) for _, mean in points]
    ax.fill_between(at, low, high, color=look["color"], alpha=0.15, lw=0)


def _curves(cells: Sequence[Cell], x: str | None) -> list[list[Cell]]:
    """Return the cells of each curve: one algorithm, one choice of the grid's other axes."""
    curves: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        curves.setdefault((cell.algorithm, _others(cell, x)), []).append(cell)
    return list(curves.values())


def _is_same_for_all(cells: Sequence[Cell], algorithm: str, x: str | None, measure: str) -> bool:
    """Return whether the grid's other axes make no difference to an algorithm's curve."""
    curves = {
        _others(mine[0], x): [cell.means[measure] for cell in mine]
        for mine in _curves(cells, x)
        if mine[0].algorithm == algorithm
    }
    first, *rest = curves.values()
    return bool(rest) and all(curve == first for curve in rest)


def _others(cell: Cell, x: str | None) -> str:
    return ", ".join(f"{name} = {text(v)}" for name, v in cell.point.items() if name != x)


def _places(values: Sequence[Any]) -> dict[str, float]:
    """Return where each value of x stands: at itself, or in its turn."""
    if all(isinstance(value, (int, float)) for value in values):
        return {text(value): float(value) for value in values}
    return {text(value): float(turn) for turn, value in enumerate(values)}


def _scales(ax: Axes, study: Study, x: str | None, measure: str, places: dict[str, float]) -> None:
    numbers = x is not None and all(isinstance(value, (int, float)) for value in study.grid[x])
    if not numbers:
        ax.set_xticks(list(places.values()), labels=list(places))
    ax.set_xlabel(study.plot.xlabel or (x or ""))
    ax.set_ylabel(MEASURES[measure])
    if measure == "memory_bytes":
        ax.yaxis.set_major_formatter(lambda value, _: f"{value / 1e9:g}")
    if "x" in study.plot.log and numbers:
        ax.set_xscale("log")
    if measure in study.plot.log:
        ax.set_yscale("log")


def save_pictures(study: Study, cells: Sequence[Cell], folder: Path) -> None:
    """Write a picture for each measure of ``plot.y``, named after it, into a folder."""
    for measure in study.plot.y:
        figure = new_figure(8, 5)
        plot_curves(study, cells, measure, figure.subplots())
        save_forms(figure, folder, measure)


def save_forms(figure: Figure, folder: Path, name: str) -> None:
    """Write a picture in every form of `FORMS`."""
    for form in FORMS:
        save_picture(figure, folder / f"{name}.{form}")
