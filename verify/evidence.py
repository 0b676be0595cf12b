"""Tables of the commands that work out the paper's claims."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from .findings import Finding


def findings_table(rows: Sequence[Finding]) -> Table:
    """Return the errata, one row for each finding."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("in the paper", no_wrap=True)
    table.add_column("shown on an instance", overflow="fold")
    for name in ("printed", "fixed", "optimum"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for row in rows:
        cells = (row.erratum, row.place, row.shows, row.printed, row.corrected, row.optimum)
        table.add_row(*map(Text, cells), mark(row.holds))
    return table


def mark(holds: bool | None) -> Text:
    """Return a tick, a cross, or a question mark where nothing was decided."""
    if holds is None:
        return Text("?", "yellow")
    return Text("✓", "green") if holds else Text("✗", "bold red")
