"""Pictures of a benchmark: performance profile and growth with the number of users.

Needs matplotlib (extra ``plot``), which is imported only when something is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

from .bench_stats import Profile, Time, seconds_text
from .bench_summary import Scaling

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_profile(profile: Profile, ax: Axes | None = None, unproven: Collection[str] = ()) -> Axes:
    """Draw a performance profile and return its axes.

    Parameters
    ----------
    profile : Profile
    ax : matplotlib Axes, optional
        A new figure's without it.
    unproven : collection of str
        Lines that prove no bound; drawn dashed.
    """
    ax = own_axes(ax)
    right = _largest_ratio(profile) * 1.5
    for i, (line, steps) in enumerate(profile.steps.items()):
        x = [1.0, *(tau for tau, _ in steps), right]
        y = [0.0, *(share for _, share in steps), steps[-1][1] if steps else 0.0]
        style = "--" if line in unproven else "-"
        ax.step(x, y, style, where="post", color=pick(COLOURS, i), lw=1.8, label=line)
    ax.set_xscale("log")
    ax.set_xlim(0.95, right)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("τ: time relative to the fastest line on the instance")
    ax.set_ylabel(f"share of {profile.instances} instances solved within τ")
    _finish(ax, "Performance profile", unproven)
    if ax.get_legend_handles_labels()[0]:  # matplotlib warns where nothing was measured
        ax.legend(loc="lower right", framealpha=0.9)
    return ax


def plot_scaling(
    lines: Sequence[Scaling], ax: Axes | None = None, unproven: Collection[str] = ()
) -> Axes:
    """Draw run times over users, log-log, with medians and fitted power laws; return the axes.

    Runs cut off at the limit are hollow triangles there, as are medians that are cut off.

    Parameters
    ----------
    lines : sequence of Scaling
    ax : matplotlib Axes, optional
        A new figure's without it.
    unproven : collection of str
        Lines that prove no bound; their fits are drawn dashed.
    """
    ax = own_axes(ax)
    for i, line in enumerate(lines):
        colour = pick(COLOURS, i)
        _dots(ax, line.runs, colour, ".", size=14, alpha=0.45)
        _dots(ax, line.medians, colour, pick(MARKERS, i), size=42, alpha=1.0)
        _curve(ax, line, colour, pick(MARKERS, i), dashed=line.line in unproven)
    if any(time.censored for line in lines for _, time in line.runs):
        limit = max(line.limit_s for line in lines)
        ax.axhline(limit, color="0.6", lw=0.8, ls=":")
        text = f"time limit {seconds_text(limit)}; hollow: cut off"
        ax.annotate(
            text, (0.01, limit * 1.08), xycoords=("axes fraction", "data"), ha="left", va="bottom"
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    _label_sizes(ax, sorted({k for line in lines for k, _ in line.runs if k > 0}))
    ax.set_xlabel("users K")
    ax.set_ylabel("run time in seconds")
    _finish(ax, "Run time: every run, medians, power law", unproven)
    legend_beside(ax)
    return ax


def _dots(
    ax: Axes, points: Sequence[tuple[int, Time]], colour: str, marker: str, size: int, alpha: float
) -> None:
    for censored in (False, True):
        chosen = [(k, t.seconds) for k, t in points if t.censored == censored and k > 0]
        if not chosen:
            continue
        x, y = zip(*chosen, strict=True)
        looks: dict[str, Any] = {"facecolors": "none", "marker": "^"} if censored else {}
        looks = {"marker": marker, "s": size, "alpha": alpha, "edgecolors": colour, **looks}
        ax.scatter(x, y, **{"color": None if censored else colour, "zorder": 3, **looks})


def _curve(ax: Axes, line: Scaling, colour: str, marker: str, dashed: bool) -> None:
    """Draw the fitted law over the sizes it was fitted to, or just the legend's entry."""
    style: dict[str, Any] = {"color": colour, "ls": "--" if dashed else "-", "lw": 1.4}
    style |= {"marker": marker, "markevery": [], "label": line.line}
    if line.fit is None:
        ax.plot([], [], **style)
        return
    error = "" if line.fit.error is None else f" ± {line.fit.error:.1f}"
    exponent = round(line.fit.exponent, 1) + 0.0  # no "-0.0"
    style["label"] = f"{line.line}: K^({exponent}{error})"
    ends = [k for k, time in line.medians if k > 0 and not time.censored]
    x = [ends[0], ends[-1]]
    ax.plot(x, [line.fit(k) for k in x], **style)


def _label_sizes(ax: Axes, sizes: list[int]) -> None:
    """Tick the sizes that were run, as far apart as they can be read."""
    from matplotlib.ticker import NullLocator

    if not sizes:
        return
    apart = math.log(sizes[-1] / sizes[0]) / 14
    shown = sizes[:1]
    for k in sizes[1:]:
        if math.log(k / shown[-1]) >= apart:
            shown.append(k)
    ax.set_xticks(shown, labels=[str(k) for k in shown])
    ax.xaxis.set_minor_locator(NullLocator())


def _largest_ratio(profile: Profile) -> float:
    ratios = [tau for steps in profile.steps.values() for tau, _ in steps if math.isfinite(tau)]
    return max([*ratios, 2.0])


def _finish(ax: Axes, title: str, unproven: Collection[str]) -> None:
    tidy(ax, title + (" (dashed: no proof)" if unproven else ""))


def save_pictures(
    profile: Profile, lines: Sequence[Scaling], folder: Path, unproven: Collection[str] = ()
) -> None:
    """Write ``profile.png`` and ``scaling.png`` into a folder, without touching any screen."""
    for name in ("profile", "scaling"):
        figure = new_figure(9.5, 5)
        if name == "profile":
            plot_profile(profile, figure.subplots(), unproven)
        else:
            plot_scaling(lines, figure.subplots(), unproven)
        save_picture(figure, folder / f"{name}.png")
