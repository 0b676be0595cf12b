"""Check both reductions of the paper: ``python -m verify.reduction --instances 100``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from formulations import solver_names
from instances import commandline
from instances.commandline import Exit

from . import workers
from .guarantee import find_solver
from .kernels import READY
from .many import Dask, Jobs, Resume, check_resume, one_line_if_stopped
from .progress import track
from .reduction_checks import Reduction
from .reduction_report import Findings, collect, lines, save_violations, table
from .results import results_in
from .runner import Task, run

#: Where failing instances go if no --output is named.
FAILURES = Path("balance-failures")
#: Seconds for everything but the three exact solutions of a seed.
ASIDE_SECONDS = 300.0


def main(
    instances: Annotated[int, typer.Option(min=1, help="How many are drawn.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first.")] = 0,
    solver: Annotated[
        str, typer.Option(help="Exact solver.", autocompletion=commandline.completing(solver_names))
    ] = Reduction.solver,
    time_limit: Annotated[
        float, typer.Option(min=0.001, help="Seconds for each exact solution.")
    ] = Reduction.time_limit,
    jobs: Jobs = None,
    dask: Dask = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for results.jsonl, report.json and failures.")
    ] = None,
    resume: Resume = False,
    as_json: commandline.AsJson = False,
) -> Exit:
    """Check that P1 and P3 are MMKPs at fixed thresholds, and that P1 is NP-hard.

    For every drawn instance: (a) the MMKPs' optima are those of the best schedules under the same
    thresholds (all thresholds up to 4 users, a sample above), found without MMKPs; (b) the largest
    is the certified optimum of P3 (P1), which up to 6 users enumeration in rationals confirms; (c)
    the judge accepts what MMKPs select. And for 2 to 12 drawn integers: all users of the
    reduction's instance can be served if and only if half of the integers have half of their sum.

    Exit code 0: all held; 1: a violation; 2: bad input; 3: something (or everything) undecided.
    """
    check_resume(resume, output)
    find_solver(solver)
    reduction = Reduction(instances, seed, solver, time_limit)
    crew = workers.chosen(jobs, dask)
    with one_line_if_stopped(output is not None):
        findings = _check_all(reduction, crew, output, resume)
    save_violations(findings, reduction, FAILURES if output is None else output / "failures")
    _report(findings, reduction, output, as_json)
    return findings.verdict


def _check_all(
    reduction: Reduction, crew: workers.Workers, output: Path | None, resume: bool
) -> Findings:
    tasks = (Task(key, key) for key in reduction)
    with results_in(output, reduction.to_dict(), resume) as results:
        limit = 3 * reduction.time_limit + ASIDE_SECONDS
        rows = run(reduction, tasks, crew, results, limit, READY)
        return collect(track(rows, reduction.count, "checking"))


def _report(findings: Findings, reduction: Reduction, output: Path | None, as_json: bool) -> None:
    data = json.dumps(findings.to_dict(reduction.to_dict()), indent=1, ensure_ascii=False)
    if output is not None:
        commandline.write(output / "report.json", data + "\n")
    if as_json:
        print(data)
        return
    console = commandline.console()
    console.print(table(findings), "")
    for line in lines(findings):
        console.print(line, markup=False, soft_wrap=True)


COMMAND = commandline.Command(main, "verify.reduction", "--instances 50 --seed 7")

if __name__ == "__main__":
    COMMAND.run()
