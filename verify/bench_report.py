"""A benchmark's report for people: wrong answers first, then tables, then one closing line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from instances.commandline import Exit

from .bench_cases import Case
from .bench_compare import changed_objectives, changes_table, compare, protocol_changes
from .bench_protocol import Protocol, cores, flat
from .bench_records import COMPLETE, Outcome, Record, read_protocol
from .bench_session import Findings
from .bench_stats import seconds_text
from .bench_summary import Scaling, Summary, scaling

#: Outcomes that get a line of their own, each instance by name.
NOTABLE = (Outcome.KILLED, Outcome.CRASHED, Outcome.REFUSED)


def show(findings: Findings, console: Console, old: Path | None = None) -> None:
    """Print the whole report; `old` names the file that the session compares with."""
    session, records = findings.session, findings.records
    cases = {case.name: case for case in session.cases}
    _say(console, wrong_lines(records, cases), "bold red")
    reference = None if session.reference is None else str(session.reference)
    console.print(times_table(findings.summaries, session.protocol, reference))
    console.print(parts_table(findings.summaries))
    _say(console, scaling_lines(scaling(records)))
    if old is not None:
        changes = compare(session.old, records, session.protocol.shift_s)
        console.print(changes_table(changes, old.name))
        then, now = read_protocol(old), flat(session.to_dict())
        _say(console, protocol_changes(then, now), "yellow")
        _say(console, changed_objectives(session.old, records), "yellow")
    _say(console, notable_lines(records), "yellow")
    _say(console, busy_lines(records, session.protocol), "yellow")
    style = "green" if findings.exit_code == Exit.HELD else "red"
    _say(console, [verdict(findings)], style)


def _say(console: Console, lines: Iterable[str], style: str | None = None) -> None:
    for line in lines:
        console.print(line, style=style, markup=False, soft_wrap=True)


def wrong_lines(records: Sequence[Record], cases: dict[str, Case]) -> Iterator[str]:
    """Yield, for each wrong answer, what is wrong and the command that runs it again."""
    for record in records:
        if record.outcome is Outcome.WRONG:
            yield f"WRONG {record.line} on {record.instance} ({record.problem}): {record.message}"
            yield f"  again: {again(record, cases[record.instance])}"


def again(record: Record, case: Case) -> str:
    """Return the command that repeats one run."""
    return (
        f"python -m verify.bench --solvers {record.line} {case.options} "
        f"--problem {record.problem} --time-limit {record.time_limit_s:g}"
    )


def notable_lines(records: Sequence[Record]) -> Iterator[str]:
    """Yield one line for each reason why runs of a line and size failed."""
    counts = Counter(
        (record.line, record.users, record.outcome.value, record.message)
        for record in records
        if record.outcome in NOTABLE
    )
    for (line, users, outcome, message), count in counts.items():
        yield f"{outcome} {line}, K = {users}, {count} of the runs: {message}"


def busy_lines(records: Sequence[Record], protocol: Protocol) -> Iterator[str]:
    """Yield what disturbs the times: a busy machine, unlike ones, more than one core a line."""
    load = protocol.load_at_start
    if load is not None and load > max(0.5, cores() - protocol.jobs):
        yield (
            f"the load was {load:.1f} on {cores()} cores at the start: other programs disturb "
            "the times (compare cpu_s with runtime_s)"
        )
    machines = {record.machine for record in records} - {""}
    if len(machines) > 1:
        kinds = "; ".join(sorted(machines))
        yield f"runs were on unlike machines, their times do not compare: {kinds}"
    for line in dict.fromkeys(record.line for record in records):
        shares = [
            record.cpu_s / record.runtime_s
            for record in records
            if record.line == line and record.cpu_s and record.runtime_s and record.runtime_s > 0.1
        ]
        if max(shares, default=0.0) > 1.3:
            yield f"{line} used up to {max(shares):.1f} cores at a time: not a one-core time"


def times_table(summaries: Sequence[Summary], protocol: Protocol, reference: str | None) -> Table:
    """Return the table of run times, one row per family, size and line."""
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title=f"{protocol.problem}, time limit {protocol.time_limit_s:g} s",
        caption="\n".join(_legend(protocol, reference)),
        caption_justify="left",
    )
    for name in ("family", "K", "line", "solved", "best", "median", "SGM", "PAR-2", "max"):
        _add_column(table, name)
    if reference is not None:
        table.add_column("× faster", justify="right", no_wrap=True)
    for summary, place in zip(summaries, _places(summaries), strict=True):
        cells: list[str | Text] = [*place, summary.line, *_counts(summary), *_times(summary)]
        if reference is not None:
            cells.append(_ratio(summary))
        table.add_row(*cells)
    return table


def _legend(protocol: Protocol, reference: str | None) -> Iterator[str]:
    yield f"SGM: geometric mean, shift {seconds_text(protocol.shift_s)}; >: a lower end"
    yield "failed and wrong runs count as cut off; PAR-2: mean, cut-off runs at twice the limit"
    yield "best: runs whose objective no line beats"
    if reference is not None:
        yield f"× faster: median of {reference} over this line's median, in this run"


def _places(summaries: Sequence[Summary]) -> Iterator[tuple[str, str]]:
    """Family and K, left empty where they repeat the row above."""
    above: tuple[str, int] | None = None
    for summary in summaries:
        place = summary.family, summary.users
        family = "" if above is not None and above[0] == place[0] else place[0]
        yield family, "" if place == above else str(place[1])
        above = place


def _counts(summary: Summary) -> tuple[Text, str]:
    style = "" if summary.solved == summary.runs else "bold red" if summary.wrong else "yellow"
    wrong = f", {summary.wrong} wrong" if summary.wrong else ""
    return Text(f"{summary.solved}/{summary.runs}{wrong}", style), f"{summary.best}/{summary.runs}"


def _times(summary: Summary) -> list[str]:
    par2 = seconds_text(summary.par2_s)
    return [str(summary.median), str(summary.mean), par2, str(summary.longest)]


def _ratio(summary: Summary) -> str:
    if summary.ratio is None:
        return "–"
    value = summary.ratio.seconds
    text = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"> {text}" if summary.ratio.censored else text


def parts_table(summaries: Sequence[Summary]) -> Table:
    """Return the table of where the time goes: medians over complete runs, as solvers report."""
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title="where it goes (medians of the complete runs; start to nodes as the solver reports)",
    )
    for name in (
        "family",
        "K",
        "line",
        "CPU",
        "start",
        "build",
        "solve",
        "certify",
        "nodes",
        "peak MB",
    ):
        _add_column(table, name)
    known = [summary for summary in summaries if summary.cpu_s is not None]
    for summary, place in zip(known, _places(known), strict=True):
        parts = (
            summary.cpu_s,
            summary.start_s,
            summary.build_s,
            summary.solve_s,
            summary.certify_s,
        )
        table.add_row(
            *place,
            summary.line,
            *("–" if part is None else seconds_text(part) for part in parts),
            "–" if summary.nodes is None else f"{summary.nodes:,.0f}",
            "–" if summary.peak_mb is None else f"{summary.peak_mb:,.0f}",
        )
    return table


def _add_column(table: Table, name: str) -> None:
    words = name in ("family", "line")
    table.add_column(name, justify="left" if words else "right", no_wrap=not words, overflow="fold")


def scaling_lines(lines: Sequence[Scaling]) -> Iterator[str]:
    """Yield each line's fitted exponent."""
    for line in lines:
        if line.fit is not None:
            error = "" if line.fit.error is None else f" ± {line.fit.error:.1f}"
            exponent = round(line.fit.exponent, 1) + 0.0  # no "-0.0"
            sizes = f"{line.fit.points} of {len(line.medians)} sizes"
            yield f"{line.line}: median time ~ K^{exponent}{error} ({sizes})"


def verdict(findings: Findings) -> str:
    """Return one line that says whether all answers are consistent."""
    records = findings.records
    counts = Counter(record.outcome for record in records)
    solved = sum(counts[outcome] for outcome in COMPLETE)
    others = ", ".join(
        f"{counts[o]} {o.value}" for o in Outcome if counts[o] and o not in (*COMPLETE, "wrong")
    )
    rest = f", {others}" if others else ""
    runs = f"{len(records)} runs, {solved} solved{rest}"
    if counts[Outcome.WRONG]:
        return f"FAIL: {counts[Outcome.WRONG]} wrong; {runs}"
    if findings.interrupted:
        return f"INTERRUPTED: no answer so far contradicts another or the judge; {runs}"
    if not solved:
        return f"UNDECIDED: nothing solved; {runs}"
    return f"PASS: no answer contradicts another or the judge; {runs}"
