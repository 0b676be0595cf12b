"""The files of a benchmark: runs, summaries, profile and growth as CSV, everything as JSON."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any

from instances import InputError, commandline
from instances.files import writing
from instances.pictures import has_matplotlib

from .bench_plots import save_pictures
from .bench_records import Outcome, Record, csv_rows, csv_text, to_csv
from .bench_session import Findings, Session
from .bench_stats import Profile
from .bench_summary import Scaling, Summary, profile, scaling


def to_json(findings: Findings) -> str:
    """Return protocol, summaries and runs with their schedules as JSON."""
    rows = []
    for run in findings.runs:
        schedule = None if run.schedule is None else run.schedule.model_dump(by_alias=True)
        rows.append({**asdict(run.record), "schedule": schedule})
    data = {
        "protocol": findings.session.to_dict(),
        "summaries": [asdict(summary) for summary in findings.summaries],
        "scaling": [asdict(line) for line in scaling(findings.records)],
        "runs": rows,
    }
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)


def prepare(folder: Path) -> None:
    """Make a folder, and see that files can be written there before hours are spent.

    Raises
    ------
    InputError
        If they cannot, or an earlier benchmark's would be lost.
    """
    if (runs := folder / "runs.csv").exists():
        raise InputError(f"{runs}: exists; name another --output")
    with writing(folder):
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def keeper(folder: Path | None, session: Session) -> Callable[[Record], None]:
    """Begin ``runs.csv`` and return what appends a record to it; without a folder, nothing is kept.

    The rows lie in the order in which runs ended, until `save` puts them in order.
    """
    if folder is None:
        return lambda record: None
    path = folder / "runs.csv"
    commandline.write(path, to_csv([], session.to_dict()))

    def keep(record: Record) -> None:
        with writing(path), path.open("a", encoding="utf-8") as file:
            file.write(csv_rows([astuple(record)]))

    return keep


def save(folder: Path, findings: Findings) -> bool:
    """Write all files of a benchmark; return whether pictures are among them.

    ``runs.csv``, ``summary.csv``, ``profile.csv``, ``scaling.csv`` start with the protocol as
    comment lines; ``bench.json`` holds it all; ``profile.png`` and ``scaling.png`` need matplotlib.
    """
    records, protocol = findings.records, findings.session.to_dict()
    curves, growth = profile(records), scaling(records)
    texts = {
        "runs.csv": to_csv(records, protocol),
        "summary.csv": csv_text(_summary_rows(findings.summaries), protocol),
        "profile.csv": csv_text(_profile_rows(curves), protocol),
        "scaling.csv": csv_text(_scaling_rows(growth), protocol),
        "bench.json": to_json(findings) + "\n",
    }
    for name, text in texts.items():
        commandline.write(folder / name, text)
    if has_matplotlib():
        save_pictures(curves, growth, folder, unproven(records))
    return has_matplotlib()


def unproven(records: Iterable[Record]) -> set[str]:
    """Return the lines that answered, but never with a proof."""
    seen: dict[str, set[Outcome]] = {}
    for record in records:
        seen.setdefault(record.line, set()).add(record.outcome)
    return {
        line
        for line, outcomes in seen.items()
        if Outcome.ANSWERED in outcomes and Outcome.SOLVED not in outcomes
    }


def _summary_rows(summaries: Sequence[Summary]) -> Iterator[list[Any]]:
    """Times in two columns: seconds, and whether they are a lower end."""
    for i, summary in enumerate(summaries):
        row: dict[str, Any] = {}
        for name in summary.__dataclass_fields__:
            value = getattr(summary, name)
            if name in ("median", "mean", "longest"):
                row |= {f"{name}_s": value.seconds, f"{name}_censored": value.censored}
            elif name == "ratio":
                row["ratio"] = None if value is None else value.seconds
                row["ratio_censored"] = None if value is None else value.censored
            else:
                row[name] = value
        if i == 0:
            yield list(row)
        yield list(row.values())


def _profile_rows(curves: Profile) -> Iterator[list[Any]]:
    yield ["line", "tau", "share"]
    for line, steps in curves.steps.items():
        yield from ([line, tau, share] for tau, share in steps)


def _scaling_rows(growth: Sequence[Scaling]) -> Iterator[list[Any]]:
    """One row a median; the fit's numbers repeat in each row of a line."""
    yield ["line", "users", "median_s", "censored", "exponent", "exponent_error", "factor_s"]
    for line in growth:
        fit = line.fit
        law = [None] * 3 if fit is None else [fit.exponent, fit.error, fit.factor]
        for users, time in line.medians:
            yield [line.line, users, time.seconds, time.censored, *law]
