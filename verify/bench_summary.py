"""The numbers of a benchmark's report: one summary per family, size and solver line."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from . import bench_stats as stats
from .bench_check import best_objectives
from .bench_records import COMPLETE, Outcome, Record
from .bench_stats import Fit, Profile, Time

Group = tuple[str, int, str]


@dataclass(frozen=True)
class Summary:
    """One line's runs on the instances of one family and size.

    Parameters
    ----------
    family, users, line
    runs, solved, wrong : int
        Runs; those that count as solved; those with a wrong answer.
    best : int
        Runs whose checked objective is the best of all lines on that instance.
    median, mean, longest : Time
        Median, shifted geometric mean and maximum.
    par2_s : float
    ratio : Time or None
        The reference's median over this line's median: how many times faster this line is; a
        lower end if the reference's is censored; None if nothing can be said.
    cpu_s, start_s, build_s, solve_s, certify_s : float or None
        Processor time and the parts of the run time: medians over the complete runs that report
        them.
    nodes : float or None
        Median over the complete runs that report them.
    peak_mb : float or None
        Largest over all runs.
    """

    family: str
    users: int
    line: str
    runs: int
    solved: int
    wrong: int
    best: int
    median: Time
    mean: Time
    longest: Time
    par2_s: float
    ratio: Time | None
    cpu_s: float | None
    start_s: float | None
    build_s: float | None
    solve_s: float | None
    certify_s: float | None
    nodes: float | None
    peak_mb: float | None


def grouped(records: Iterable[Record]) -> dict[Group, list[Record]]:
    """Return the records by family, size and line: sizes ascending, lines as they came."""
    groups: dict[Group, list[Record]] = {}
    order: dict[str, int] = {}
    for record in records:
        order.setdefault(record.line, len(order))
        groups.setdefault((record.family, record.users, record.line), []).append(record)
    keys = sorted(groups, key=lambda key: (key[0], key[1], order[key[2]]))
    return {key: groups[key] for key in keys}


def summarise(records: Sequence[Record], shift: float, reference: str | None) -> list[Summary]:
    """Return one summary per family, size and line.

    Parameters
    ----------
    records : sequence of Record
    shift : float
        Shift of the geometric mean, in seconds.
    reference : str or None
        The line that ratios refer to.
    """
    groups, best = grouped(records), best_objectives(records)
    medians = {key: stats.median([r.time for r in group]) for key, group in groups.items()}
    return [
        _summary(key, group, shift, medians.get((*key[:2], reference or "")), best)
        for key, group in groups.items()
    ]


def _summary(
    key: Group,
    group: list[Record],
    shift: float,
    reference: Time | None,
    best: dict[tuple[str, str], int],
) -> Summary:
    times = [record.time for record in group]
    done = [record for record in group if record.outcome in COMPLETE]
    middle = stats.median(times)
    return Summary(
        *key,
        runs=len(group),
        solved=len(done),
        wrong=sum(record.outcome is Outcome.WRONG for record in group),
        best=sum(_is_best(record, best) for record in group),
        median=middle,
        mean=stats.shifted_geometric_mean(times, shift),
        longest=stats.longest(times),
        par2_s=stats.par2(times, group[0].time_limit_s),
        ratio=None if reference is None else stats.speedup(reference, middle),
        cpu_s=_median(record.cpu_s for record in done),
        start_s=_median(record.start_s for record in done),
        build_s=_median(record.build_s for record in done),
        solve_s=_median(record.solve_s for record in done),
        certify_s=_median(record.certify_s for record in done),
        nodes=_median(record.nodes for record in done),
        peak_mb=max((r.peak_mb for r in group if r.peak_mb is not None), default=None),
    )


def _is_best(record: Record, best: dict[tuple[str, str], int]) -> bool:
    if record.outcome is Outcome.WRONG or record.objective is None:
        return False
    return record.objective == best[record.digest, record.problem]


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def profile(records: Sequence[Record]) -> Profile:
    """Return the performance profile over all instances."""
    times: dict[str, dict[str, Time]] = {}
    for record in records:
        times.setdefault(record.line, {})[record.instance] = record.time
    return stats.performance_profile(times)


@dataclass(frozen=True)
class Scaling:
    """How one line's run time grows with the number of users, over all families.

    Parameters
    ----------
    line : str
    limit_s : float
    runs : list of (int, Time)
        (K, time) of every run.
    medians : list of (int, Time)
        (K, median), K ascending.
    fit : Fit or None
        Power law through the medians that are not censored.
    """

    line: str
    limit_s: float
    runs: list[tuple[int, Time]]
    medians: list[tuple[int, Time]]
    fit: Fit | None


def scaling(records: Sequence[Record]) -> list[Scaling]:
    """Return each line's growth, lines as they came."""
    lines: dict[str, list[Record]] = {}
    for record in records:
        lines.setdefault(record.line, []).append(record)
    return [_scaling(line, group) for line, group in lines.items()]


def _scaling(line: str, group: list[Record]) -> Scaling:
    sizes: dict[int, list[Time]] = {}
    for record in group:
        sizes.setdefault(record.users, []).append(record.time)
    medians = [(users, stats.median(sizes[users])) for users in sorted(sizes)]
    fit = stats.fit_exponent([users for users, _ in medians], [time for _, time in medians])
    runs = [(record.users, record.time) for record in group]
    return Scaling(line, group[0].time_limit_s, runs, medians, fit)
