"""A calibration for people: the fitted laws and their errors, as tables and as pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .affine_law import Law, RangeError
from .calibration import Calibration
from .passes import Pass
from .pictures import COLOURS, new_figure, own_axes, save_picture, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from rich.table import Table

#: Kinds of pass, their marker and their colour.
KINDS = {
    "decode": ("^", COLOURS[1]),
    "several tokens after a context": ("D", COLOURS[5]),
    "prefill": ("o", COLOURS[0]),
    "pass": ("o", COLOURS[0]),
}


def kind(one: Pass) -> str:
    """Return what a pass does: one of `KINDS`."""
    if one.tokens is None:
        return "pass"
    if one.tokens == one.sequences:
        return "decode"
    return "several tokens after a context" if one.context else "prefill"


def law_table(found: Calibration) -> Table:
    """Return the fitted laws with their intervals and errors, one column a count of FLOP."""
    laws = {"as in an instance": found.law}
    if found.executed != found.law:
        laws["as executed"] = found.executed
    table = _table("FLOP counted", *laws)
    columns = [list(_law(law)) for law in laws.values()]
    names = ("α in s/FLOP", "  95 %", "β in ms", "  95 %", "median error", "worst error")
    for name, *cells in zip(names, *columns, strict=True):
        table.add_row(name, *cells)
    return table


def error_table(rows: list[RangeError], what: str) -> Table:
    """Return the law's errors by range of sizes."""
    table = _table(what, "passes", "measured", "median error", "worst", "bias")
    for row in rows:
        table.add_row(
            f"{row.low}" if row.low == row.high else f"{row.low}–{row.high}",
            str(row.passes),
            _time(row.median_seconds),
            f"{row.median_error:.1%}",
            f"{row.worst_error:.1%}",
            f"{row.bias:+.1%}",
        )
    return table


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position else "left", no_wrap=True)
    return table


def _time(seconds: float) -> str:
    return f"{seconds:.4g} s" if seconds >= 1 else f"{seconds * 1e3:.4g} ms"


def _law(law: Law) -> Iterator[str]:
    yield f"{law.alpha:.3g}"
    yield "{:.3g} … {:.3g}".format(*law.alpha_interval)
    yield f"{law.beta * 1e3:.4g}"
    yield "{:.4g} … {:.4g}".format(*(1e3 * end for end in law.beta_interval))
    yield f"{law.median_error:.1%}"
    yield f"{law.worst_error:.1%}"


def plot_law(found: Calibration, ax: Axes | None = None) -> Axes:
    """Draw measured seconds over FLOP with the fitted law and its two regimes; return the axes.

    Parameters
    ----------
    found : Calibration
    ax : matplotlib Axes, optional
        A new figure's without it.
    """
    ax = own_axes(ax)
    _dots(ax, found, np.array(found.flops), 1e3 * np.array(found.seconds))
    work = np.geomspace(min(found.flops), max(found.flops), 200)
    law = found.law
    label = f"α = {law.alpha:.3g} s/FLOP, β = {law.beta * 1e3:.3g} ms"
    ax.plot(work, 1e3 * law.seconds(work), color="black", lw=1.8, label=label)
    for part in (law.alpha * work, np.full_like(work, law.beta)):
        ax.plot(work, 1e3 * part, color="0.5", lw=1, ls=":")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(1e3 * min(found.seconds) / 1.5, 1e3 * max(found.seconds) * 1.5)
    _plain(ax.yaxis)
    ax.set_xlabel("FLOP of the pass, as an instance counts them")
    ax.set_ylabel("milliseconds")
    tidy(ax, "Measured passes and the law α FLOP + β")
    ax.legend(loc="upper left", framealpha=0.9)
    return ax


def plot_errors(found: Calibration, ax: Axes | None = None) -> Axes:
    """Draw each pass's relative error over its tokens (or FLOP, without them); return the axes.

    Parameters
    ----------
    found : Calibration
    ax : matplotlib Axes, optional
        A new figure's without it.
    """
    ax = own_axes(ax)
    by_tokens = all(one.tokens is not None for one in found.measured.passes)
    sizes = [one.tokens or 0 for one in found.measured.passes] if by_tokens else found.flops
    errors = found.law.errors(found.flops, found.seconds)
    _dots(ax, found, np.array(sizes, np.float64), 100 * errors)
    ax.axhline(0, color="black", lw=1.2)
    ax.set_xscale("log")
    ax.set_xlabel("tokens in the pass" if by_tokens else "FLOP of the pass")
    if by_tokens:
        _plain(ax.xaxis)
    ax.set_ylabel("predicted − measured, % of measured")
    tidy(ax, f"Error of the law: median {found.law.median_error:.1%}")
    return ax


def _plain(axis: Axis) -> None:
    """Label a logarithmic axis with 1, 2, 5, 10, ... as they are read."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))


def _dots(ax: Axes, found: Calibration, x: np.ndarray, y: np.ndarray) -> None:
    kinds = np.array([kind(one) for one in found.measured.passes])
    for name, (marker, colour) in KINDS.items():
        there = kinds == name
        if there.any():
            look: dict[str, Any] = {"marker": marker, "s": 24, "alpha": 0.7, "linewidths": 0}
            ax.scatter(x[there], y[there], color=colour, label=name, zorder=3, **look)


def save_calibration(found: Calibration, path: Path) -> None:
    """Write one picture of the law and its errors side by side."""
    figure = new_figure(13, 5.5)
    left, right = figure.subplots(1, 2)
    plot_law(found, left)
    plot_errors(found, right)
    model, about = found.measured.model, found.measured.about
    titles = [model and model.name, about.get("device"), f"{len(found.flops)} passes"]
    figure.suptitle(", ".join(title for title in titles if title), parse_math=False)
    save_picture(figure, path)
