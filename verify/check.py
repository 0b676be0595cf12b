"""Judge one schedule: ``python -m verify.check INSTANCE SCHEDULE``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import verify
from instances import InputError, Problem, commandline, load, load_schedule
from instances.commandline import Exit
from instances.pictures import check_picture

from .display import inequality_table, verdict
from .schedule_plots import save_schedule


def main(
    instance: Annotated[Path, typer.Argument(help="Instance file.")],
    schedule: Annotated[Path, typer.Argument(help="Schedule file, or a result with a schedule.")],
    problem: Annotated[
        Problem, typer.Option(help="P1: joint memory; P2, P3: memory split by lambda.")
    ] = "P1",
    every: Annotated[
        bool, typer.Option("--all", help="Show every user's row, not the ten tightest.")
    ] = False,
    as_json: commandline.AsJson = False,
    output: Annotated[Path | None, typer.Option(help="Also write the JSON report here.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw timeline and memory: .png, .svg or .pdf.")
    ] = None,
) -> Exit:
    """Check a schedule against every inequality of the paper, in exact arithmetic.

    Exit code 0: feasible; 1: some inequality is violated; 2: bad input.
    """
    if plot is not None:
        check_picture(plot)
    problem_data = load(instance)
    decisions = load_schedule(schedule, problem_data)
    try:
        report = verify.check(problem_data, decisions, problem)
    except ValueError as error:
        raise InputError(f"{schedule}: {error}") from None
    text = json.dumps(report.to_dict(), indent=1, ensure_ascii=False)
    if output is not None:
        commandline.write(output, text + "\n")
    if plot is not None:
        save_schedule(problem_data, decisions, report, plot)
    if as_json:
        print(text)
    else:
        console = commandline.console()
        console.print(inequality_table(report, most=None if every else 10))
        style = "green" if report.feasible else "red"
        console.print(verdict(report), style=style, markup=False, soft_wrap=True)
    return Exit.HELD if report.feasible else Exit.VIOLATION


COMMAND = commandline.Command(main, "verify.check", "instance.json optimum.json --plot when.svg")

if __name__ == "__main__":
    COMMAND.run()
