"""Run one of the paper's algorithms: ``python -m heuristics.solve INSTANCE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from instances import InputError, Instance, Result, Status, commandline, load
from instances.result_output import hand_over, served_table

from . import api
from .api import Memory


def main(
    instance: Annotated[Path, typer.Argument(help="Instance file.")],
    algorithm: Annotated[
        str,
        typer.Option(
            help=f"{', '.join(api.ALGORITHMS)}, or MODULE:FUNCTION of your own.",
            autocompletion=commandline.completing(lambda: api.ALGORITHMS),
        ),
    ] = "balance",
    z: Annotated[float | None, typer.Option(help="Fix the compute share of AD.")] = None,
    lam: Annotated[
        float | None, typer.Option("--lambda", help="Fix the memory share of AD.")
    ] = None,
    memory: Annotated[
        Memory, typer.Option(help="exact: eqs. (15), (16); padded: as the paper's algorithms.")
    ] = "exact",
    effort: Annotated[
        int, typer.Option(min=1, help="How long balance+ searches; from 2 on with a bound.")
    ] = 1,
    as_json: commandline.AsJson = False,
    output: Annotated[Path | None, typer.Option(help="Also write the JSON result here.")] = None,
) -> commandline.Exit:
    """Schedule users between AD and SD by the paper's Algorithm 3 or one of its baselines.

    Exit code 0: a feasible schedule; 1: the schedule violates an inequality; 2: bad input;
    130: stopped by Ctrl-C, with what `additive` had found.
    """
    data = load(instance)
    try:
        result = api.solve(data, algorithm, z, lam, memory, effort)
    except ValueError as error:
        raise InputError(str(error)) from None
    hand_over(data, result, output, as_json, _show)
    if result.stopped_by is not None:
        return commandline.Exit.INTERRUPTED
    violated = result.status is Status.VIOLATED
    return commandline.Exit.VIOLATION if violated else commandline.Exit.HELD


def _show(instance: Instance, result: Result) -> None:
    """Print who is served how, then one line with the outcome."""
    schedule = result.schedule
    if schedule is None:
        return
    console = commandline.console()
    console.print(served_table(instance, schedule))
    split = "" if schedule.lam is None else f", lambda = {schedule.lam:g}"
    value = "" if result.objective == schedule.served else f", worth {result.objective}"
    length = schedule.draft_length
    split += "" if length is None else f", draft length {length}"
    cause = "" if result.stopped_by is None else f", stopped by {result.stopped_by}"
    padded = ", padded memory" if result.options.get("memory") == "padded" else ""
    console.print(
        f"{result.solver}{padded}: serves {schedule.served} of {len(instance.users)}{value} "
        f"({result.status}{cause}), z = {schedule.z:g}{split}, {result.runtime_s:.3g} s",
        markup=False,
        soft_wrap=True,
    )


COMMAND = commandline.Command(main, "heuristics.solve", "instance.json --algorithm balance+")

if __name__ == "__main__":
    COMMAND.run()
