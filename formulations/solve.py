"""Find the exact optimum of one instance: ``python -m formulations.solve INSTANCE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from instances import (
    InputError,
    Instance,
    Problem,
    Result,
    Status,
    commandline,
    load,
    load_schedule,
)
from instances.result_output import hand_over, served_table
from instances.schedule import ROUNDING
from instances.values import total

from . import api, rows
from .backend import names


def main(
    instance: Annotated[Path, typer.Argument(help="Instance file.")],
    problem: Annotated[
        Problem, typer.Option(help="P1: shared memory; P2: also choose λ; P3: P2 at one z and λ.")
    ] = "P1",
    solver: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(names())}, or pyomo:NAME for any Pyomo solver; "
            f"{api.DEFAULT_SOLVER} if left out ({api.WEIGHTED_SOLVER} where users' values differ).",
            autocompletion=commandline.completing(names),
        ),
    ] = None,
    z: Annotated[float | None, typer.Option(help="Fix the compute share of AD.")] = None,
    lam: Annotated[
        float | None, typer.Option("--lambda", help="Fix the memory share of AD.")
    ] = None,
    modes: Annotated[api.Modes, typer.Option(help="Leave one mode empty.")] = "both",
    start: Annotated[
        Path | None, typer.Option(help="Schedule or result to start from; else Algorithm 3's.")
    ] = None,
    no_start: Annotated[bool, typer.Option("--no-start", help="Start from nothing.")] = False,
    formulation: Annotated[
        str | None,
        typer.Option(
            help="The MILP's formulation, for solvers that have several.",
            autocompletion=commandline.completing(rows.names),
        ),
    ] = None,
    cuts: Annotated[
        str | None,
        typer.Option(
            help="Cuts of the MILP: none, pairs,dominance,count or all.",
            autocompletion=commandline.completing(lambda: ("none", *rows.CUTS, "all")),
        ),
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Wall seconds.")] = None,
    node_limit: Annotated[int | None, typer.Option(help="Search nodes.")] = None,
    seed: Annotated[int, typer.Option(help="For solvers that are seeded.")] = 0,
    as_json: commandline.AsJson = False,
    output: Annotated[Path | None, typer.Option(help="Also write the JSON result here.")] = None,
) -> commandline.Exit:
    """Serve as many users as possible, or the most valuable, and prove it.

    Exit code 0: optimal; 2: bad input; 3: undecided: a limit was met first, or
    less than a microsecond decides.
    """
    data = load(instance)
    if start is not None and no_start:
        raise InputError("--start and --no-start contradict each other")
    given = None if start is None else load_schedule(start, data)
    named = {"formulation": formulation, "cuts": cuts}
    options = {name: value for name, value in named.items() if value is not None}
    try:
        result = api.solve(
            data,
            problem,
            solver,
            z,
            lam,
            time_limit,
            False if no_start else given,
            node_limit,
            seed,
            modes,
            **options,
        )
    except (ValueError, ModuleNotFoundError) as error:
        raise InputError(str(error)) from None
    hand_over(data, result, output, as_json, _show)
    optimal = result.status is Status.OPTIMAL
    return commandline.Exit.HELD if optimal else commandline.Exit.UNDECIDED


def _show(instance: Instance, result: Result) -> None:
    """Print who is served how, then one line with the outcome."""
    console = commandline.console()
    everybody, values = len(instance.users), total(instance)
    found = f"no schedule, at most {result.bound} of {values}"
    found += " users" if values == everybody else f" that all {everybody} users are worth"
    if (schedule := result.schedule) is not None:
        console.print(served_table(instance, schedule))
        split = "" if schedule.lam is None else f", lambda = {schedule.lam:g}"
        length = schedule.draft_length
        drafted = "" if length is None else f", draft length {length}"
        found = f"{schedule.served} of {everybody} users, "
        found += "" if values == everybody else f"worth {result.objective} of {values}, "
        found += f"bound {result.bound}, z = {schedule.z:g}{split}{drafted}"
    cause = "" if result.stopped_by is None else f" (stopped by {result.stopped_by})"
    if result.stopped_by == ROUNDING:
        cause = " (less than a microsecond decides)"
    console.print(
        f"{result.problem}, {result.solver}: {result.status}{cause}: {found}; "
        f"{result.runtime_s:.3g} s",
        markup=False,
        soft_wrap=True,
    )


COMMAND = commandline.Command(main, "formulations.solve", "instance.json --output optimum.json")

if __name__ == "__main__":
    COMMAND.run()
