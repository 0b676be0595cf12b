"""Hunt for the worst case of an algorithm: ``python -m verify.hunt --algorithm printed``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import heuristics
from instances import InputError, commandline, dumps
from instances.commandline import Exit

from . import algorithms
from .hunting import MOST_USERS, Quarry, Tracks, Trial, hunt
from .kernels import READY, ready_enumeration


def main(
    algorithm: Annotated[
        str,
        typer.Option(
            help="A name of heuristics.solve, or yourmodule:function.",
            autocompletion=commandline.completing(heuristics.algorithms),
        ),
    ] = "balance",
    users: Annotated[int, typer.Option(min=1, max=MOST_USERS, help="In every instance.")] = 5,
    objective: Annotated[
        Literal["P1", "P2"], typer.Option(help="Whose optimum the algorithm is compared with.")
    ] = "P1",
    seconds: Annotated[
        float | None, typer.Option(min=0.001, help="Time; 120 if --evaluations is left out too.")
    ] = None,
    evaluations: Annotated[
        int | None, typer.Option(min=1, help="Instances; then the hunt can be repeated exactly.")
    ] = None,
    until: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Stop at this ratio or below.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Of the random instances.")] = 0,
    output: Annotated[Path, typer.Option(help="Folder for what is found.")] = Path("balance-hunt"),
    as_json: commandline.AsJson = False,
) -> Exit:
    """Search for instances on which an algorithm serves few of the users that can be served.

    The hunt starts at random instances and changes their numbers, downhill in the ratio of the
    algorithm to the exact optimum. The worst instance is saved, its optimum certified by another
    solver, the algorithm's schedule judged in exact arithmetic. With --until RATIO the hunt stops
    as soon as it has that ratio; else it goes on to the end of its time or number of instances.

    Exit code 0: never below 1/2 (so --until 0.5 ends with 0 when it finds 1/2); 1: below 1/2, or an
    infeasible schedule; 2: bad usage.
    """
    algorithms.find(algorithm)
    quarry = Quarry(algorithm, objective, users)
    limit = 120.0 if seconds is None and evaluations is None else seconds
    console = commandline.console(quiet=as_json)
    tracks = Tracks()
    for get_ready in (*READY, ready_enumeration):  # before the clock runs
        get_ready()
    try:
        for tracks in hunt(quarry, seed, limit, evaluations, until):
            console.print(_progress(tracks), markup=False, soft_wrap=True)
            _saved(quarry, tracks, output)  # an interrupted hunt keeps its find
    except ValueError as error:
        raise InputError(str(error)) from None
    except KeyboardInterrupt:
        return _interrupted(quarry, tracks, output)
    assert tracks.worst is not None, "a hunt yields after its first trial"
    quarry.certified(tracks.worst)
    data = _saved(quarry, tracks, output) | {"seed": seed}
    if as_json:
        print(json.dumps(data, indent=1, ensure_ascii=False))
    for line in _closing(data):
        console.print(line, markup=False, soft_wrap=True)
    return Exit.HELD if data["held"] else Exit.VIOLATION


def _interrupted(quarry: Quarry, tracks: Tracks, folder: Path) -> Exit:
    """Save what an interrupted hunt has found, and say where it lies."""
    found = ""
    if tracks.worst is not None:
        found = f"; the worst so far lies in {_saved(quarry, tracks, folder)['worst']['file']}"
    print(f"interrupted{found}", file=sys.stderr)
    return Exit.INTERRUPTED


def _progress(tracks: Tracks) -> str:
    worst = tracks.worst
    assert worst is not None, "a hunt yields after its first trial"
    return (
        f"{tracks.seconds:7.1f} s {tracks.evaluations:9,} instances: worst serves "
        f"{worst.served} of {worst.best} = {float(worst.ratio):.3f}"
    )


def _saved(quarry: Quarry, tracks: Tracks, folder: Path) -> dict[str, Any]:
    """Save what was found so far; return it as JSON data."""
    worst = tracks.worst
    assert worst is not None, "a hunt yields after its first trial"
    found = {"worst": worst} | ({"infeasible": tracks.infeasible} if tracks.infeasible else {})
    trials = {name: _saved_trial(quarry, trial, name, folder) for name, trial in found.items()}
    return {
        "algorithm": quarry.algorithm,
        "objective": quarry.problem,
        "evaluations": tracks.evaluations,
        "restarts": tracks.restarts,
        "ratio": float(worst.ratio),
        "held": 2 * worst.ratio >= 1 and tracks.infeasible is None,
        **trials,
    }


def _saved_trial(quarry: Quarry, trial: Trial, name: str, folder: Path) -> dict[str, Any]:
    path = folder / f"{name}-{quarry.algorithm.replace(':', '-')}.json"
    commandline.write(path, dumps(trial.instance))
    again = f"python -m verify.bound --input {path} --algorithm {quarry.algorithm}"
    return {"served": trial.served, "optimum": trial.best, "file": str(path), "again": again}


def _closing(data: dict[str, Any]) -> list[str]:
    worst = data["worst"]
    lines = [
        f"worst of {data['evaluations']:,} instances: {data['algorithm']} serves "
        f"{worst['served']} of {worst['optimum']}, certified: {worst['again']}"
    ]
    if "infeasible" in data:
        lines.append(f"infeasible schedule: {data['infeasible']['again']}")
    if data["held"]:
        return [*lines, "PASS: no instance below 1/2"]
    below = [f"{data['ratio']:.3f} < 1/2"] if 2 * data["ratio"] < 1 else []
    broken = ["an infeasible schedule"] if "infeasible" in data else []
    return [*lines, f"FAIL: {' and '.join(below + broken)}"]


COMMAND = commandline.Command(main, "verify.hunt", "--algorithm printed --seconds 120")

if __name__ == "__main__":
    COMMAND.run()
