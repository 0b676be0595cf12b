"""Pictures of replays: hits over time, and hits against the load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from instances.pictures import (
    COLOURS,
    legend_beside,
    new_figure,
    own_axes,
    pick,
    save_picture,
    tidy,
)

from .arrivals import TICKS
from .replays import Replay, last_tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_hits(
    replays: Sequence[Replay], ax: Axes | None = None, window_s: float | None = None
) -> Axes:
    """Draw the share of deadline hits by time of arrival, one line a replay; return the axes.

    Parameters
    ----------
    replays : sequence of Replay
        Of one trace at one speed.
    ax : matplotlib Axes, optional
        A new figure's without it.
    window_s : float, optional
        Seconds that a point of a line stands for.
    """
    ax = own_axes(ax)
    for i, replay in enumerate(replays):
        windows = replay.windows(window_s)
        middles = [(window.start_s + window.end_s) / 2 for window in windows]
        shares = [float("nan") if window.rate is None else 100 * window.rate for window in windows]
        rate = replay.summary().rate
        label = replay.policy if rate is None else f"{replay.policy}: {100 * rate:.1f} %"
        ax.plot(middles, shares, color=pick(COLOURS, i), marker=".", lw=1.6, label=label)
    speeds = {replay.speed for replay in replays}
    tidy(ax, f"Deadline hits, trace at {', '.join(f'{s:g}' for s in speeds)} × its speed")
    ax.set_xlabel("time of arrival in seconds")
    _percent_axis(ax)
    return ax


def plot_load(replays: Sequence[Replay], ax: Axes | None = None) -> Axes:
    """Draw the share of deadline hits against the requests a second; return the axes.

    Parameters
    ----------
    replays : sequence of Replay
        Of one trace at several speeds.
    ax : matplotlib Axes, optional
        A new figure's without it.
    """
    ax = own_axes(ax)
    names = dict.fromkeys(replay.policy for replay in replays)
    for i, name in enumerate(names):
        points = sorted(
            (_requests_per_second(r), 100 * (r.summary().rate or 0.0))
            for r in replays
            if r.policy == name
        )
        ax.plot(*zip(*points, strict=True), color=pick(COLOURS, i), marker="o", lw=1.6, label=name)
    tidy(ax, "Deadline hits against the load")
    loads = sorted({_requests_per_second(replay) for replay in replays})
    ax.set_xscale("log")
    ax.set_xticks(loads, labels=[f"{load:.3g}" for load in loads])
    ax.minorticks_off()
    ax.set_xlabel("requests a second")
    _percent_axis(ax)
    return ax


def _requests_per_second(replay: Replay) -> float:
    """Return the mean rate of arrivals; one request counts as one a second."""
    last = last_tick(replay.arrivals)
    return len(replay.arrivals) * TICKS / last if last else float(len(replay.arrivals))


def _percent_axis(ax: Axes) -> None:
    ax.set_ylim(0, 102)
    ax.set_ylabel("hits in % of the users who arrived")
    legend_beside(ax)


def save(replays: Sequence[Replay], path: Path, window_s: float | None = None) -> None:
    """Write a picture: hits over time at each speed, below hits against the load if several."""
    speeds = list(dict.fromkeys(replay.speed for replay in replays))
    several = len(speeds) > 1
    figure = new_figure(9.5, 4 * (len(speeds) + several))
    panels = list(figure.subplots(len(speeds) + several, squeeze=False)[:, 0])
    if several:
        plot_load(replays, panels.pop(0))
    for speed, ax in zip(speeds, panels, strict=True):
        plot_hits([replay for replay in replays if replay.speed == speed], ax, window_s)
    save_picture(figure, path)
