"""Pictures of a schedule: every served user's phases against its deadline, and the memory by part.

Needs matplotlib (extra ``plot``), which is imported only when something is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from instances import Instance, Problem, Schedule
from instances.pictures import COLOURS, new_figure, own_axes, save_picture, tidy

from .display import verdict
from .judge import Report
from .timeline import Batch, Part, Row, batches, memory_parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Phases and their colours, in the order of the legend.
PHASES = {
    "upload": COLOURS[5],
    "wait for all prompts": "0.93",
    "prefill": COLOURS[4],
    "decode (LLM)": COLOURS[0],
    "draft (SLM)": COLOURS[3],
    "verify (LLM)": COLOURS[2],
    "wait for the batch": "0.85",
    "download": COLOURS[1],
}
#: Parts of the memory and their colours.
PARTS = {
    "LLM weights": COLOURS[0],
    "SLM weights": COLOURS[3],
    "AD caches": COLOURS[5],
    "SD caches": COLOURS[2],
}
#: Rows that are named one by one; of more only some are.
_MOST_NAMES = 60
#: The axis ends at the latest deadline, but no later than so many times the last download.
_LATEST = 2.5

#: A piece of a bar: row, from, to.
Piece = tuple[float, float, float]


def plot_timeline(instance: Instance, schedule: Schedule, ax: Axes | None = None) -> Axes:
    """Draw every served user's upload, passes and download against its deadline; return the axes.

    One row a user, by mode and deadline; a deadline that is missed is red, one beyond the right end
    an arrow. Steps are told apart by lines (AD) or colours (SD), in groups where they are many.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
        Feasible or not; its users must be the instance's.
    ax : matplotlib Axes, optional
        A new figure's without it.
    """
    ax = own_axes(ax, figsize=(11, _height(schedule)))
    found = batches(instance, schedule)
    heading, half = max(1.0, schedule.served / _MOST_NAMES), _half_row(schedule)
    lines: list[tuple[float, Row]] = []
    top = -0.5
    for batch in found:
        _heading(ax, batch, top + heading / 2)
        mine = [(top + heading + 0.5 + i, row) for i, row in enumerate(batch.rows)]
        _draw_batch(ax, batch, mine, half)
        lines += mine
        top += heading + len(mine) + 0.3
    right = _right_end(found)
    _deadlines(ax, lines, right)
    _name_rows(ax, lines)
    if not lines:
        ax.text(0.5, 0.5, "nobody is served", ha="center", va="center", transform=ax.transAxes)
    ax.set_xlim(0, right)
    ax.set_ylim(top + 0.1, -0.5)
    ax.set_xlabel("seconds from the start")
    tidy(ax, "")
    ax.grid(False, axis="y")
    _legend(ax)
    return ax


def _legend(ax: Axes) -> None:
    """Explain the phases above the axes, in the order in which they pass."""
    handles, names = ax.get_legend_handles_labels()
    drawn = dict(zip(names, handles, strict=True))
    labels = [phase for phase in PHASES if phase in drawn]
    labels += [name for name in drawn if name not in PHASES]
    if labels:
        place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 5}
        ax.legend([drawn[name] for name in labels], labels, frameon=False, fontsize=9, **place)


def _height(schedule: Schedule) -> float:
    """Inches for that many rows: never so tall that it no longer fits a page."""
    return min(2.2 + 0.2 * schedule.served, 15.0)


def _half_row(schedule: Schedule) -> float:
    """Half a bar's height; where rows are thin, bars touch."""
    return 0.4 if schedule.served <= _MOST_NAMES else 0.5


def _right_end(found: Sequence[Batch]) -> float:
    rows = [row for batch in found for row in batch.rows]
    last = max([row.download or row.upload for row in rows], default=1.0)
    deadlines = max((row.deadline for row in rows), default=1.0)
    return 1.03 * max(last, min(deadlines, _LATEST * last))


def _heading(ax: Axes, batch: Batch, y: float) -> None:
    people = "1 user" if len(batch.rows) == 1 else f"{len(batch.rows)} users"
    text = f"{batch.mode}: {people}, {batch.share:.4g} of the GPU"
    if batch.end is None:
        text += " — never ends"
    else:
        text += f", decoded after {batch.end:.3g} s"
        noun = "decode steps" if batch.mode == "AD" else "iterations"
        text += f" (drawn in groups of {batch.each} {noun})" if batch.each > 1 else ""
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center"}
    ax.annotate(text, (0.004, y), ha="left", fontsize=9, fontweight="bold", **place)


def _draw_batch(ax: Axes, batch: Batch, lines: list[tuple[float, Row]], half: float) -> None:
    def bars(phase: str, pieces: list[Piece]) -> None:
        _bars(ax, phase, pieces, half)

    start = batch.start
    bars("upload", [(y, 0.0, row.upload) for y, row in lines])
    bars("wait for all prompts", [(y, row.upload, start) for y, row in lines])
    if batch.prefilled is None or batch.end is None:
        return
    end = batch.end
    bars("prefill", [(y, start, batch.prefilled) for y, _ in lines])
    bars("wait for the batch", [(y, row.decoded or end, end) for y, row in lines])
    bars("download", [(y, end, row.download or end) for y, row in lines])
    first, second = ("decode (LLM)",) * 2 if batch.mode == "AD" else ("draft (SLM)", "verify (LLM)")
    cut = [(y, row.decoded or end, step) for y, row in lines for step in batch.steps]
    bars(first, [(y, step.start, min(step.drafted, last)) for y, last, step in cut])
    bars(second, [(y, step.drafted, min(step.end, last)) for y, last, step in cut])
    if batch.mode == "AD":
        _marks(ax, [(y, step.end) for y, last, step in cut if step.end < last], half)


def _bars(ax: Axes, phase: str, pieces: list[Piece], half: float) -> None:
    """Draw one phase of all rows at once; pieces of no length are left out."""
    from matplotlib.collections import PolyCollection

    shown = [piece for piece in pieces if piece[2] > piece[1]]
    corners = [
        [(left, y - half), (right, y - half), (right, y + half), (left, y + half)]
        for y, left, right in shown
    ]
    known = ax.get_legend_handles_labels()[1]
    if corners:
        label = None if phase in known else phase
        ax.add_collection(PolyCollection(corners, facecolors=PHASES[phase], lw=0, label=label))


def _marks(ax: Axes, points: list[tuple[float, float]], half: float) -> None:
    """Draw thin white lines where a step ends."""
    from matplotlib.collections import LineCollection

    lines = [[(x, y - half), (x, y + half)] for y, x in points]
    ax.add_collection(LineCollection(lines, colors="white", linewidths=0.4))


def _deadlines(ax: Axes, lines: Sequence[tuple[float, Row]], right: float) -> None:
    """Draw each row's deadline: black where it is kept, red where it is missed."""
    looks = {"deadline": ("black", False), "deadline, missed": ("red", True)}
    half = 0.48
    for label, (colour, late) in looks.items():
        places = [(y, row) for y, row in lines if row.late is late]
        inside = [(y, row.deadline) for y, row in places if row.deadline <= right]
        beyond = [y for y, row in places if row.deadline > right]
        if inside:
            y, x = zip(*inside, strict=True)
            low, high = [line - half for line in y], [line + half for line in y]
            ax.vlines(x, low, high, color=colour, lw=1.8, zorder=4, label=label)
        if beyond:
            edge = [0.995 * right] * len(beyond)
            ax.plot(edge, beyond, ">", color=colour, ms=3, ls="", label=f"{label}, later", zorder=4)


def _name_rows(ax: Axes, lines: Sequence[tuple[float, Row]]) -> None:
    every = max(1, -(-len(lines) // _MOST_NAMES))
    names = [row.user[:16] for _, row in lines[::every]]
    ax.set_yticks([y for y, _ in lines[::every]], labels=names, fontsize=7, parse_math=False)
    ax.tick_params(axis="y", length=0)


def plot_memory(
    instance: Instance, schedule: Schedule, problem: Problem = "P1", ax: Axes | None = None
) -> Axes:
    """Draw the GPU's memory by part as one bar, what is too much beyond the line; return the axes.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
    problem : {"P1", "P2", "P3"}
        Under P2 and P3 the caches keep to their shares λ and 1 - λ.
    ax : matplotlib Axes, optional
        A new figure's without it.
    """
    ax = own_axes(ax, figsize=(11, 1.8))
    capacity = Fraction(instance.hardware.memory_bytes)
    left = 0.0
    for part in memory_parts(instance, schedule, split=problem != "P1"):
        left = _segment(ax, part, left)
    ax.axvline(_gb(capacity), color="black", lw=1.8)
    ax.set_xlim(0, 1.02 * max(left, _gb(capacity)))
    ax.set_yticks([])
    ax.set_xlabel("GB")
    over = left - _gb(capacity)
    excess = f", over by {over:.3g} GB" if over > 1e-9 else ""
    tidy(ax, f"GPU memory: {_gb(capacity):.4g} GB{excess}")
    ax.title.set_color("red" if excess else "black")
    ax.grid(False, axis="y")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.55), ncols=6, frameon=False, fontsize=8)
    return ax


def _segment(ax: Axes, part: Part, left: float) -> float:
    width = _gb(part.size)
    label = f"{part.name} {width:.3g} GB"
    look: dict[str, Any] = {"color": PARTS.get(part.name, "white"), "label": label}
    if part.free:
        look |= {"edgecolor": "0.6", "hatch": "//", "lw": 0.5}
    ax.barh(0, width, left=left, height=0.8, **look)
    return left + width


def _gb(size: Fraction) -> float:
    return float(size / 10**9)


def save_schedule(instance: Instance, schedule: Schedule, report: Report, path: Path) -> None:
    """Write one picture of the timeline above the memory, under the judge's verdict.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
    report : Report
        What the judge measured on it.
    path : Path
        Its suffix names the form.

    Raises
    ------
    InputError
        If the path cannot be written.
    """
    height = _height(schedule)
    figure = new_figure(12, height + 2.2)
    above, below = figure.subplots(2, 1, height_ratios=[height, 0.8])
    plot_timeline(instance, schedule, above)
    plot_memory(instance, schedule, report.problem, below)
    name = f"{instance.name or 'instance'}, {len(instance.users)} users"
    title = f"{name}\n{fill(verdict(report), 130)}"
    figure.suptitle(title, fontsize=11, parse_math=False)
    save_picture(figure, path)
