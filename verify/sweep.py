"""Run a study of one's own, or a figure of the paper: ``python -m verify.sweep study.toml``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from instances import commandline
from instances.commandline import Exit

from . import study_report as report
from . import workers
from .many import Dask, Jobs, Resume, check_resume, one_line_if_stopped
from .results import Row
from .study import Study, load, shipped
from .study_rows import to_csv, verdict
from .study_run import run
from .study_stats import summarise


def main(
    study: Annotated[
        str,
        typer.Argument(
            help="A TOML file, or a study that is shipped: " + ", ".join(shipped()),
            autocompletion=commandline.completing(shipped),
        ),
    ],
    seeds: Annotated[
        str | None, typer.Option(help="Instances of each point, instead of the study's: 1-20.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few seeds, to see that it runs.")] = False,
    jobs: Jobs = None,
    dask: Dask = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for rows, summary, pictures and results.jsonl.")
    ] = None,
    resume: Resume = False,
    as_json: commandline.AsJson = False,
    as_csv: commandline.AsCsv = False,
) -> Exit:
    """Run a grid of instances × algorithms × seeds; how to write one: `pydoc verify.study`.

    Every schedule is rechecked in exact arithmetic, every bound held against all of them.

    Exit code 0: all answers right; 1: a wrong one; 2: bad input; 3: runs without an answer.
    """
    check_resume(resume, output)
    form = commandline.form(as_json, as_csv)
    chosen = load(study)
    chosen = chosen.quick() if quick else chosen
    chosen = chosen if seeds is None else chosen.with_seeds(seeds)
    crew = workers.chosen(jobs, dask)
    with one_line_if_stopped(output is not None):
        rows = run(chosen, crew, output, resume)
    for missing in () if output is None else report.save(chosen, rows, output):
        print(f"note: {missing}", file=sys.stderr)
    _show(chosen, rows, form)
    return verdict(rows)


def _show(study: Study, rows: list[Row], form: str) -> None:
    cells = summarise(study, rows)
    if form == "json":
        print(json.dumps(report.to_dict(study, rows, cells), indent=1, ensure_ascii=False))
    elif form == "csv":
        print(to_csv(rows), end="")
    else:
        console = commandline.console()
        for line in report.wrong_lines(rows):
            console.print(line, markup=False, soft_wrap=True)
        console.print(study.title, report.table(study, cells), "", sep="\n")
        for line in report.lines(study, rows, cells):
            console.print(line, markup=False, soft_wrap=True)


COMMAND = commandline.Command(main, "verify.sweep", "figure-4a --quick --output sweep")

if __name__ == "__main__":
    COMMAND.run()
