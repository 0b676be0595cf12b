"""What changed since an earlier benchmark: on the same instances, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table

from . import bench_stats as stats
from .bench_records import COMPLETE, Outcome, Record
from .bench_stats import Time
from .bench_summary import grouped

#: Parts of a protocol that say what was run, not how.
ASKED = ("lines", "families", "users", "seeds", "instances", "reference")


@dataclass(frozen=True)
class Change:
    """One line's runs on the instances of one family and size, then and now.

    Parameters
    ----------
    family, users, line
    runs : int
        Instances that both benchmarks ran.
    solved : (int, int)
        Solved then and now.
    means : (Time, Time)
        Shifted geometric means then and now.
    """

    family: str
    users: int
    line: str
    runs: int
    solved: tuple[int, int]
    means: tuple[Time, Time]

    @property
    def speedup(self) -> Time | None:
        """Then over now: above 1 where it became faster."""
        return stats.speedup(*self.means)


def compare(old: Sequence[Record], new: Sequence[Record], shift: float) -> list[Change]:
    """Return the changes on runs that both benchmarks made (same content, problem and line)."""
    before = {_key(record): record for record in old}
    pairs = grouped(record for record in new if _key(record) in before)
    return [
        _change(group, [before[_key(record)] for record in records], records, shift)
        for group, records in pairs.items()
    ]


def _key(record: Record) -> tuple[str, str, str]:
    return record.digest, record.problem, record.line


def _change(
    group: tuple[str, int, str], old: list[Record], new: list[Record], shift: float
) -> Change:
    solved = [sum(record.outcome in COMPLETE for record in side) for side in (old, new)]
    means = [stats.shifted_geometric_mean([r.time for r in side], shift) for side in (old, new)]
    return Change(*group, len(new), (solved[0], solved[1]), (means[0], means[1]))


def changed_objectives(old: Sequence[Record], new: Sequence[Record]) -> Iterator[str]:
    """Yield one line for each instance on which a line's objective is another than before."""
    before = {_key(record): record for record in old}
    for record in new:
        then = before.get(_key(record))
        if then is not None and then.objective != record.objective:
            yield (
                f"{record.line} on {record.instance}: objective {then.objective} "
                f"({then.outcome.value}) -> {record.objective} ({record.outcome.value})"
            )


def evidence(old: Sequence[Record], new: Sequence[Record]) -> list[Record]:
    """Return the old records whose objectives count against new bounds: judged, same instance."""
    digests = {record.digest for record in new}
    return [
        record for record in old if record.digest in digests and record.outcome is not Outcome.WRONG
    ]


def protocol_changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Yield what is different about how both were measured: machine, versions, limits, rules."""
    for key in new:
        asked = key in ASKED or key in ("started", "machine.load_at_start")
        if not asked and old.get(key) != new[key]:
            yield f"measured differently: {key}: {old.get(key, 'not stated')} -> {new[key]}"


def changes_table(changes: Sequence[Change], name: str) -> Table:
    """Return the table of changes; `name` is the old file's."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"since {name}")
    for column in ("family", "K", "line", "instances", "solved", "SGM", "times faster"):
        table.add_column(column, justify="left" if column in ("family", "line") else "right")
    for change in changes:
        factor = change.speedup
        table.add_row(
            change.family,
            str(change.users),
            change.line,
            str(change.runs),
            f"{change.solved[0]} → {change.solved[1]}",
            f"{change.means[0]} → {change.means[1]}",
            "–" if factor is None else f"{'> ' if factor.censored else ''}{factor.seconds:.2f}",
        )
    return table
