"""A whole benchmark: probe the lines, run everything, check the answers against each other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from instances.commandline import Exit

from .bench_cases import Case
from .bench_check import cross_check
from .bench_compare import evidence
from .bench_lines import Line
from .bench_protocol import Protocol
from .bench_records import COMPLETE, Outcome, Record
from .bench_runs import Probe, Run, run_all
from .bench_summary import Summary, summarise
from .progress import track
from .workers import Workers


@dataclass(frozen=True)
class Session:
    """What is measured, and how.

    Parameters
    ----------
    lines : dict of Line to Probe
        With how their warm-up went.
    cases : list of Case
    protocol : Protocol
    reference : Line or None
        The line that ratios refer to.
    old : list of Record
        An earlier benchmark's records.
    """

    lines: dict[Line, Probe]
    cases: list[Case]
    protocol: Protocol
    reference: Line | None = None
    old: list[Record] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the protocol with everything that was asked."""
        sizes = sorted({case.users for case in self.cases})
        asked = {
            "lines": [str(line) for line in self.lines],
            "families": list(dict.fromkeys(case.family for case in self.cases)),
            "users": sizes,
            "seeds": list(dict.fromkeys(c.seed for c in self.cases if c.seed is not None)),
            "instances": len(self.cases),
            "reference": None if self.reference is None else str(self.reference),
        }
        return asked | self.protocol.to_dict()


@dataclass(frozen=True)
class Findings:
    """What a session found.

    Parameters
    ----------
    session : Session
    runs : list of Run
        Instance by instance, line by line; wrong answers are marked.
    interrupted : bool
        Whether the user stopped it before all runs were made.
    """

    session: Session
    runs: list[Run]
    interrupted: bool = False

    @property
    def records(self) -> list[Record]:
        """The runs' records."""
        return [run.record for run in self.runs]

    @cached_property
    def summaries(self) -> list[Summary]:
        """One summary per family, size and line."""
        reference = self.session.reference
        name = None if reference is None else str(reference)
        return summarise(self.records, self.session.protocol.shift_s, name)

    @property
    def exit_code(self) -> Exit:
        """1 with a wrong answer, 130 if interrupted, 3 if nothing was solved, else 0."""
        outcomes = {record.outcome for record in self.records}
        if Outcome.WRONG in outcomes:
            return Exit.VIOLATION
        if self.interrupted:
            return Exit.INTERRUPTED
        return Exit.HELD if outcomes.intersection(COMPLETE) else Exit.UNDECIDED


def conduct(session: Session, keep: Callable[[Record], None], workers: Workers) -> Findings:
    """Make all runs and check them.

    Parameters
    ----------
    session : Session
    keep : callable
        Gets each record as its run ends, so that a killed benchmark leaves its rows.
    workers : Workers
        Where runs are made: `bench_runs.threads`, or a cluster's.
    """
    runs: list[Run] = []
    interrupted = False
    everything = run_all(session.lines, session.cases, session.protocol, workers)
    total = len(session.lines) * len(session.cases)
    try:
        with closing(everything):
            for run in track(everything, total, "measuring"):
                runs.append(run)
                keep(run.record)
    except KeyboardInterrupt:
        interrupted = True
        print("interrupted; reporting the runs made so far", file=sys.stderr)
    return Findings(session, checked(_ordered(runs, session), session.old), interrupted)


def _ordered(runs: Sequence[Run], session: Session) -> list[Run]:
    places = [(case.name, str(line)) for case in session.cases for line in session.lines]
    order = {place: i for i, place in enumerate(places)}
    return sorted(runs, key=lambda run: order[run.record.instance, run.record.line])


def checked(runs: Sequence[Run], old: Sequence[Record] = ()) -> list[Run]:
    """Return the runs with those marked wrong that another run, or an old one, contradicts."""
    records = [run.record for run in runs]
    marked = cross_check(records, evidence(old, records))
    return [replace(run, record=record) for run, record in zip(runs, marked, strict=True)]
