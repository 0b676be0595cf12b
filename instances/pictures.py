"""What all pictures share: axes of the caller's or their own, colours, a file's form by its suffix.

Needs matplotlib (extra ``plot``), which is imported only when something is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .extras import needs
from .files import InputError, writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What to install where matplotlib is missing.
MISSING = needs("pictures need matplotlib", "plot")
#: Colours that people with any colour vision tell apart (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
#: Markers, in step with the colours.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
#: Forms a picture can have.
SUFFIXES = (".png", ".svg", ".pdf")


def has_matplotlib() -> bool:
    """Return whether pictures can be drawn."""
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def pick(choices: Sequence[str], i: int) -> str:
    """Return the i-th of some colours or markers, from the start again after the last."""
    return choices[i % len(choices)]


def check_picture(path: Path) -> None:
    """Refuse, before any work is done, a picture that could not be saved.

    Raises
    ------
    InputError
        If the suffix is none of `SUFFIXES` or matplotlib is missing.
    """
    if path.suffix.lower() not in SUFFIXES:
        found = f"not in {path.suffix!r}" if path.suffix else "and it has no suffix"
        raise InputError(f"{path}: a picture's name ends in {', '.join(SUFFIXES)}, {found}")
    if not has_matplotlib():
        raise InputError(MISSING)


def own_axes(ax: Axes | None, **look: Any) -> Axes:
    """Return the given axes, or those of a new figure; `look` is the new figure's.

    Raises
    ------
    InputError
        If matplotlib is missing.
    """
    if ax is not None:
        return ax
    if not has_matplotlib():
        raise InputError(MISSING)
    import matplotlib.pyplot as plt

    new: Axes = plt.subplots(**{"figsize": (8, 5), "layout": "constrained", **look})[1]
    return new


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of that many inches that touches no screen."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_picture(figure: Figure, path: Path) -> None:
    """Write a figure in the form that the path's suffix names, making its folder.

    Raises
    ------
    InputError
        If the path cannot be written.
    """
    with writing(path):
        figure.savefig(path, dpi=150)


def tidy(ax: Axes, title: str) -> None:
    """Give axes a title, a light grid behind the data and no frame on the free sides."""
    ax.set_title(title)
    ax.grid(True, which="major", color="0.9", lw=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def legend_beside(ax: Axes) -> None:
    """Put the legend, if there is anything to explain, to the right of the axes."""
    if ax.get_legend_handles_labels()[0]:  # matplotlib warns where nothing was drawn
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
