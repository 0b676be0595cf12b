"""Check the paper's ½ bound on many instances: ``python -m verify.bound --instances 1000``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from formulations import solver_names
from heuristics import algorithms
from instances import FAMILIES, InputError, commandline
from instances.commandline import Exit

from . import sources, summary, workers
from .algorithms import find
from .grid_loss import steps
from .guarantee import Guarantee, find_solver
from .many import Dask, Jobs, Resume, check_resume, one_line_if_stopped
from .outcome import Outcome, check_all, save_violations

#: Where failing instances go if no --output is named.
FAILURES = Path("balance-failures")


def main(
    more: Annotated[list[Path] | None, typer.Argument(help="More instance files.")] = None,
    instances: Annotated[int, typer.Option(min=1, help="How many are drawn.")] = 1000,
    family: Annotated[
        list[str] | None,
        typer.Option(
            help="A family to draw (repeat it); all if left out.",
            autocompletion=commandline.completing(lambda: FAMILIES),
        ),
    ] = None,
    files: Annotated[
        list[Path] | None, typer.Option("--input", help="Instance files, instead of drawing.")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(help="CSV of request lengths for the family 'trace'.")
    ] = None,
    users: Annotated[int | None, typer.Option(min=0, help="Users in each instance.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of each family's first instance.")] = 0,
    algorithm: Annotated[
        str,
        typer.Option(
            help="A name of heuristics.solve, or yourmodule:function.",
            autocompletion=commandline.completing(algorithms),
        ),
    ] = "balance",
    solver: Annotated[
        str, typer.Option(help="Exact solver.", autocompletion=commandline.completing(solver_names))
    ] = Guarantee.solver,
    time_limit: Annotated[
        float,
        typer.Option(
            min=0.001,
            help="Seconds for each exact solution; an instance, your algorithm included, gets "
            "twice that and a minute.",
        ),
    ] = 60.0,
    fine_grid: Annotated[
        int | None, typer.Option(help="Also solve P1 with so many z; report what the grids lose.")
    ] = None,
    jobs: Jobs = None,
    dask: Dask = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for results.jsonl, report.json and failures.")
    ] = None,
    resume: Resume = False,
    as_json: commandline.AsJson = False,
    as_csv: commandline.AsCsv = False,
) -> Exit:
    """Compare an algorithm with the certified optima of P1 and P2 on many instances.

    Checked in exact arithmetic: every schedule is feasible, the algorithm
    serves at least half of both optima, and P2's optimum is at most P1's.

    Exit code 0: all held; 1: a violation; 2: bad input; 3: undecided, or
    nothing checked.
    """
    check_resume(resume, output)
    form = commandline.form(as_json, as_csv)
    paths = [*(files or ()), *(more or ())]
    for word in map(str, more or ()):
        if word in FAMILIES and not Path(word).exists():
            raise InputError(f"{word} is a family, not a file; repeat --family for {word}")
    if paths and (family or trace or users is not None):
        raise InputError("instance files exclude --family, --trace and --users")
    drawn = (instances, family or (), seed, users, trace)
    chosen = sources.from_files(paths) if paths else sources.drawn(*drawn)
    find(algorithm)
    find_solver(solver)
    if fine_grid is not None:
        steps(fine_grid)
    guarantee = Guarantee(chosen, algorithm, solver, time_limit, fine_grid)
    crew = workers.chosen(jobs, dask)
    with one_line_if_stopped(output is not None):
        outcome = check_all(guarantee, crew, output, resume)
    save_violations(outcome, guarantee, FAILURES if output is None else output / "failures")
    _report(outcome, guarantee, output, form)
    return outcome.verdict


def _report(outcome: Outcome, guarantee: Guarantee, output: Path | None, form: str) -> None:
    data = json.dumps(summary.to_dict(outcome, guarantee.to_dict()), indent=1, ensure_ascii=False)
    if output is not None:
        commandline.write(output / "report.json", data + "\n")
    if form == "json":
        print(data)
    elif form == "csv":
        print(summary.to_csv(outcome), end="")
    else:
        console = commandline.console()
        console.print(summary.table(outcome), "")
        for line in summary.lines(outcome, guarantee.algorithm):
            console.print(line, markup=False, soft_wrap=True)


COMMAND = commandline.Command(main, "verify.bound", "--family paper-4a --users 12 --instances 100")

if __name__ == "__main__":
    COMMAND.run()
