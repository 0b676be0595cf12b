"""Recompute the paper's evaluation: ``python -m verify.paper --figure all --quick``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from instances import InputError, commandline
from instances.commandline import Exit
from instances.files import read_json
from instances.pictures import MISSING, has_matplotlib

from . import paper_report as report
from . import workers
from .many import Dask, Jobs, Resume, one_line_if_stopped
from .paper_reported import FIGURES
from .paper_run import ABLATIONS, GROUPS, Recomputed, chosen, recompute, studies


def main(
    figure: Annotated[
        list[str] | None,
        typer.Option(
            help=f"1, 4a, ..., 7b, an ablation, or {', '.join(GROUPS)}; repeat it.",
            autocompletion=commandline.completing(lambda: (*FIGURES, *ABLATIONS, *GROUPS)),
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="Instances of each point, instead of the studies': 1-20.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer points and seeds, to see that it runs.")
    ] = False,
    trace: Annotated[
        Path | None, typer.Option(help="CSV of request lengths for the trace's ablation.")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(help="A settings.json of verify.settings, for the report.")
    ] = None,
    jobs: Jobs = None,
    dask: Dask = None,
    output: Annotated[
        Path, typer.Option(help="Folder for report.html, averages.md, a folder for each figure.")
    ] = Path("balance-paper"),
    resume: Resume = False,
    as_json: commandline.AsJson = False,
) -> Exit:
    """Recompute the figures of the paper's Section V, with the certified optimum as one more curve
    and the paper's averages beside ours.

    On every instance it is checked that BALANCE serves at least as many users as each baseline and
    at most as many as the optimum, and that every schedule is feasible in exact arithmetic.

    Exit code 0: all held; 1: a violation; 2: bad input; 3: something is open.
    """
    todo = studies(chosen(figure or ["all"]), seeds, quick, trace)
    searched = None if settings is None else _searched(settings)
    console = commandline.console(quiet=as_json)
    found: list[Recomputed] = []
    with one_line_if_stopped(True), workers.kept(workers.chosen(jobs, dask)) as crew:
        for study in todo:
            found.append(recompute(study, crew, output, resume))
            report.save_figure(found[-1], output)
            console.print(report.line(found[-1]), markup=False, soft_wrap=True)
    evaluation = report.Evaluation(
        found, shlex.join(["python", "-m", "verify.paper", *sys.argv[1:]])
    )
    report.save(evaluation, output, searched)
    _show(evaluation, output, console, as_json)
    return evaluation.verdict


def _searched(path: Path) -> dict[str, Any]:
    """Return what a search for settings wrote.

    Raises
    ------
    InputError
        If the file is none of its.
    """
    data = read_json(path)
    if not isinstance(data, dict) or data.get("schema") != "balance-settings/1":
        raise InputError(f"{path}: is not a settings.json of verify.settings")
    return data


def _show(evaluation: report.Evaluation, output: Path, console: Console, as_json: bool) -> None:
    if as_json:
        print(report.to_json(evaluation))
    if not has_matplotlib():
        print(f"note: {MISSING}", file=sys.stderr)
    for line in evaluation.violations:
        console.print(f"WRONG: {line}", markup=False, soft_wrap=True, style="bold red")
    for line in evaluation.open:
        console.print(f"open: {line}", markup=False, soft_wrap=True, style="yellow")
    console.print(report.table(evaluation))
    console.print(f"report: {output / 'report.html'}", markup=False, soft_wrap=True)
    console.print(evaluation.closing, markup=False, soft_wrap=True)


COMMAND = commandline.Command(main, "verify.paper", "--figure 4a --seeds 1-20 --jobs 2")

if __name__ == "__main__":
    COMMAND.run()
