"""The report of ``heuristics.replay``: a table for people, rows for CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from .arrivals import TICKS, Arrival
from .replays import Replay, Summary

#: Columns of the CSV: one row for every user of every replay.
FIELDS = (
    "speed",
    "policy",
    "user",
    "input_tokens",
    "output_tokens",
    "arrival_s",
    "deadline_s",
    "hit",
    "mode",
    "planned_s",
    "done_s",
)


def table(summaries: Sequence[Summary]) -> Table:
    """Return one row a replay, one section a speed; a function of one's own without its module."""
    result = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    result.add_column("speed", justify="right", no_wrap=True)
    result.add_column("policy", overflow="fold", min_width=8)
    for title in ("hits", "hit %", "AD", "SD", "rounds", "batch", "wait s", "busy %", "GPU %"):
        result.add_column(title, justify="right", no_wrap=True)
    for summary, following in zip(summaries, [*summaries[1:], None], strict=True):
        last = following is not None and following.speed != summary.speed
        result.add_row(*_cells(summary), end_section=last)
    return result


def _cells(summary: Summary) -> Iterator[str | Text]:
    yield f"{summary.speed:g}"
    yield Text(summary.policy.rpartition(":")[2])
    yield from (f"{summary.hits}", _percent(summary.rate))
    yield from (f"{summary.ad}", f"{summary.sd}", f"{summary.rounds}")
    yield "–" if summary.batch is None else f"{summary.batch:.2f}"
    yield "–" if summary.waited_s is None else f"{summary.waited_s:.2f}"
    yield from (_percent(summary.busy), _percent(summary.utilisation))


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def to_csv(replays: Iterable[Replay]) -> str:
    """Return what became of every user; times in seconds from the first arrival."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    for replay in replays:
        for arrival in replay.arrivals:
            user = arrival.user
            lengths = user.input_tokens, user.output_tokens
            times = arrival.tick / TICKS, user.deadline_s
            row = (replay.speed, replay.policy, user.id, *lengths, *times)
            writer.writerow([*row, *_fate(replay, arrival)])
    return text.getvalue()


def _fate(replay: Replay, arrival: Arrival) -> tuple[int | str | float, ...]:
    """Return hit, mode, when the user's round was planned and when its batch had ended."""
    part = replay.planned.get(arrival.user.id)
    if part is None:
        return 0, "", "", ""
    mode = "AD" if arrival.user.id in part.schedule.ad else "SD"
    seconds = part.ad_s if mode == "AD" else part.sd_s
    return 1, mode, part.start / TICKS, round(part.start / TICKS + float(seconds), 6)
