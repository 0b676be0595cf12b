"""A progress bar on stderr, silent when that is no terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Item = TypeVar("Item")


def track(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Yield the items while a bar counts them.

    Parameters
    ----------
    items : iterable
    total : int
        How many there will be.
    label : str
        Stands before the bar.
    """
    console = Console(stderr=True)
    if not console.is_terminal:  # a disabled bar of rich would still end in an empty line
        yield from items
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield from bar.track(items, total=total, description=label)
