"""Tables of the commands that work out the paper's claims."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from .campaign import Campaign
from .findings import Finding
from .operations_count import Count, grows


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


def claims_table(campaign: Campaign) -> Table:
    """Return one row for each group of each claim, and how far it fell below the optimum."""
    caption = "* must fall below: an erratum" if _errata(campaign) else None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption=caption, caption_justify="left")
    table.add_column("served, against the optimum", no_wrap=True)
    for name in ("cases", "below", "loss", "worst", "split"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for claim in campaign.claims:
        table.add_row(Text(claim.source, "bold"))
        for group, tally, holds in campaign.groups(claim):
            star = " *" if group in claim.falls_short else ""
            worst = "" if tally.worst is None else "{} of {}".format(*tally.worst)
            loss = f"{100 * tally.mean_loss:.1f} %" if tally.below else ""
            split = "" if tally.most_split is None else str(tally.most_split)
            counts = (str(tally.cases), str(tally.below), loss, worst, split)
            table.add_row(Text(f"  {group}{star}"), *counts, mark(holds))
    return table


def _errata(campaign: Campaign) -> bool:
    return any(claim.falls_short for claim in campaign.claims)


def operations_table(counts: Sequence[Count]) -> Table:
    """Return counted operations and their quotients by the claimed bounds, by number of users."""
    title = "Theorem 2: operations, counted on the worst instance"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    for name in ("K", "Algorithm 1", "/ K⁵ log K", "Algorithm 2", "/ K⁶ log K"):
        table.add_column(name, justify="right", no_wrap=True)
    for count in counts:
        cells = [str(count.users)]
        for operations, ratio in zip(count.operations, count.ratios, strict=True):
            cells += [f"{operations:,}", f"{ratio:.3f}"]
        table.add_row(*cells)
    ends = [Text("grows", "bold red") if rising else mark(True) for rising in grows(counts)]
    table.add_section()
    table.add_row("", "quotient never rises", ends[0], "", ends[1])
    return table


def mark(holds: bool | None) -> Text:
    """Return a tick, a cross, or a question mark where nothing was decided."""
    if holds is None:
        return Text("?", "yellow")
    return Text("✓", "green") if holds else Text("✗", "bold red")
