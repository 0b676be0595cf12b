"""Measure solvers against each other, honestly: ``python -m verify.bench``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from formulations import rows, solver_names
from instances import commandline
from instances.commandline import Exit
from instances.pictures import MISSING

from . import bench_files as files
from .bench_cases import select
from .bench_lines import Line, cross, find
from .bench_options import Family, Inputs, Seeds, Users, Words
from .bench_protocol import Protocol
from .bench_records import read_csv, to_csv
from .bench_report import show
from .bench_runs import Probe, settle, threads
from .bench_session import Findings, Session, conduct
from .many import Dask
from .workers import chosen

#: What is measured if no solver is named.
SOLVERS = ("threshold", "highs")


def main(
    solvers: Annotated[
        Words,
        typer.Option(
            help="NAME, NAME@FORMULATION+CUT, pyomo:NAME, heuristics:NAME, MODULE:NAME.",
            autocompletion=commandline.completing(solver_names),
        ),
    ] = None,
    formulations: Annotated[
        Words,
        typer.Option(
            help="Run the solvers that take a formulation with each of these.",
            autocompletion=commandline.completing(rows.names),
        ),
    ] = None,
    users: Users = None,
    family: Family = None,
    seeds: Seeds = None,
    inputs: Inputs = None,
    problem: Annotated[
        Literal["P1", "P2"], typer.Option(help="P1: joint memory; P2: memory split by lambda.")
    ] = "P1",
    time_limit: Annotated[float, typer.Option(min=0.001, help="Seconds for each run.")] = 60.0,
    grace: Annotated[
        float, typer.Option(min=0.1, help="Seconds after the limit until a run is killed.")
    ] = 5.0,
    warm_up_limit: Annotated[
        float, typer.Option(min=1, help="Seconds until a run's clock must start, or it is killed.")
    ] = 300.0,
    repeat: Annotated[
        int, typer.Option(min=1, help="Calls of a run under 0.1 s; the median counts.")
    ] = 7,
    warm: Annotated[
        bool, typer.Option("--warm/--cold", help="Cold: imports and kernel loading count.")
    ] = True,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time, 1; more disturb timings.")
    ] = None,
    dask: Dask = None,
    reference: Annotated[
        str | None, typer.Option(help="Line that ratios refer to; highs, if it runs.")
    ] = None,
    shift: Annotated[
        float, typer.Option(min=0, help="Seconds, shift of the geometric mean.")
    ] = 0.01,
    compare: Annotated[
        Path | None, typer.Option(help="An earlier benchmark's runs.csv: show what changed.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Folder for CSV, JSON, pictures.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the runs as CSV only.")] = False,
    as_json: commandline.AsJson = False,
) -> Exit:
    """Run every solver line on every instance, each in a process of its own, and compare.

    List options take several values: --users 10 20 30, --users 10,20,30, or repeated.

    Exit code 0: all answers consistent; 1: a wrong answer; 2: bad input; 3: nothing solved.
    """
    form = commandline.form(as_json, as_csv)
    crew = threads(jobs or 1) if dask is None else chosen(jobs, dask)
    protocol = Protocol(
        problem, time_limit, grace, repeat, warm, warm_up_limit, jobs=crew.width, shift_s=shift
    )
    if dask is not None:
        protocol = replace(protocol, load_at_start=None)  # this machine's says nothing
    old = [] if compare is None else read_csv(compare)
    cases = select(family or (), users or (), seeds or (), inputs or ())
    wanted = cross(solvers or SOLVERS, formulations or ())
    if reference is not None:
        find([*wanted, *(line for lines in wanted.values() for line in lines)], reference)
    if output is not None:
        files.prepare(output)
    lines = settle(wanted, protocol)
    _warn(lines)
    _tell_left_out(wanted, lines)
    session = Session(lines, cases, protocol, find(list(lines), reference), old)
    findings = conduct(session, files.keeper(output, session), crew)
    _report(findings, compare, output, form)
    return findings.exit_code


def _warn(lines: dict[Line, Probe]) -> None:
    """Say at once which lines will not be run."""
    for line, answer in lines.items():
        if not answer.usable:
            print(
                f"warning: solver line {line} failed its warm-up: {answer.message}", file=sys.stderr
            )


def _tell_left_out(wanted: dict[Line, list[Line]], lines: dict[Line, Probe]) -> None:
    """Say which formulations some solver does not take."""
    for line, crossings in wanted.items():
        names = [str(one.formulation) for one in crossings if one not in lines]
        rest = "; run as it is" if line in lines else ""
        if names:
            print(
                f"note: {line} does not take --formulations {' '.join(names)}{rest}",
                file=sys.stderr,
            )


def _report(findings: Findings, old: Path | None, output: Path | None, form: str) -> None:
    if output is not None and not files.save(output, findings):
        print(f"note: {MISSING}", file=sys.stderr)
    if form == "json":
        print(files.to_json(findings))
    elif form == "csv":
        print(to_csv(findings.records, findings.session.to_dict()), end="")
    else:
        console = commandline.console()
        if not console.is_terminal:
            console.width = 120  # a file has no edge to wrap at
        show(findings, console, old)


COMMAND = commandline.Command(main, "verify.bench", "--solvers threshold highs --users 10 20")

if __name__ == "__main__":
    COMMAND.run()
