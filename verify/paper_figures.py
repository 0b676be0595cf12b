"""The evaluation's own picture: BALANCE's gains over its baselines beside the paper's averages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from instances.pictures import (
    COLOURS,
    MARKERS,
    legend_beside,
    new_figure,
    own_axes,
    pick,
    tidy,
)

from .paper_averages import gain_percent, restricted
from .paper_reported import NAMES, Reported, reported_for
from .results import Row
from .study import Study
from .study_plots import draw_band, save_forms

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAINS = "gains"


def plot_gains(
    study: Study, rows: Sequence[Row], reported: Sequence[Reported], ax: Axes | None = None
) -> Axes:
    """Draw by how many percent one algorithm exceeds others; dashed lines are the paper's averages.

    Parameters
    ----------
    study : Study
        With one axis.
    rows : sequence of dict
    reported : sequence of Reported
        What is compared, a curve for each.
    ax : matplotlib Axes, optional
        A new figure's without it.
    """
    ax = own_axes(ax)
    (x,) = study.grid
    for row in reported:
        place = study.algorithms.index(row.over)
        look = {
            "color": pick(COLOURS, place),
            "marker": pick(MARKERS, place),
            "label": f"over {NAMES[row.over]}",
        }
        points = []
        for value in study.grid[x]:
            mean = gain_percent(*restricted(study, rows, {x: value}), row.subject, row.over)
            points += [] if mean is None else [(float(value), mean)]
        draw_band(ax, points, look)
        ax.axhline(row.percent, color=look["color"], ls="--", lw=1.2)
    ax.axhline(0, color="0.6", lw=0.8)
    ax.set_xlabel(study.plot.xlabel or x)
    ax.set_ylabel("gain in served users, %")
    tidy(ax, "BALANCE's gains (dashed: the paper's averages)")
    legend_beside(ax)
    return ax


def names(figure: str, study: Study) -> list[str]:
    """Return the names of a figure's pictures: its study's measures, and gains if it has any."""
    gains = [row for row in reported_for(figure) if row.measure == "throughput"]
    return [*study.plot.y, *([GAINS] if gains and len(study.grid) == 1 else [])]


def save_gains(figure: str, study: Study, rows: Sequence[Row], folder: Path) -> None:
    """Write the picture of a figure's gains, if it has any, in every form.

    Raises
    ------
    InputError
        If matplotlib is missing or the folder cannot be written.
    """
    if GAINS not in names(figure, study):
        return
    picture = new_figure(10, 5)
    plot_gains(study, rows, reported_for(figure), picture.subplots())
    save_forms(picture, folder, GAINS)
