"""Search the setting that the paper left out: ``python -m verify.settings --output settings``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from instances import InputError, commandline
from instances.commandline import Exit

from . import settings_report as report
from . import workers
from .many import Dask, Jobs, Resume, check_resume, one_line_if_stopped
from .settings_search import Answer, Search, search
from .settings_space import SPACE, OneOf, Setting

#: What --quick searches.
QUICK = {"first": 12, "each": 6, "rounds": 1, "instances": 1, "final_instances": 2}


def main(
    first: Annotated[int, typer.Option(min=1, help="Settings drawn anywhere.")] = Search.first,
    each: Annotated[int, typer.Option(min=1, help="Settings of a later round.")] = Search.each,
    rounds: Annotated[int, typer.Option(min=0, help="Rounds near the best.")] = Search.rounds,
    instances: Annotated[
        int, typer.Option(min=1, help="Instances of each point, while searching.")
    ] = Search.instances,
    final_instances: Annotated[
        int, typer.Option(min=1, help="Instances of each point, for the finalists.")
    ] = Search.final_instances,
    fix: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE stays as it is; repeat it.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the drawn settings.")] = Search.seed,
    quick: Annotated[bool, typer.Option("--quick", help="A few settings, one minute.")] = False,
    jobs: Jobs = None,
    dask: Dask = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for results.jsonl, settings.json, settings.md.")
    ] = None,
    resume: Resume = False,
    as_json: commandline.AsJson = False,
) -> Exit:
    """Search plausible values of what the paper does not state for the one setting that brings
    the averages it reports closest, and show what stays unexplained.

    Exit code 0: done; 2: bad input; 3: some settings could not be scored.
    """
    check_resume(resume, output)
    lengths = dict(zip(QUICK, (first, each, rounds, instances, final_instances), strict=True))
    asked = Search(seed=seed, fixed=_fixed(fix or ()), **(QUICK if quick else lengths))
    with one_line_if_stopped(output is not None):
        answer = search(asked, workers.chosen(jobs, dask), output, resume)
    _report(asked, answer, output, as_json)
    return Exit.UNDECIDED if answer.troubles else Exit.HELD


def _fixed(words: list[str] | tuple[()]) -> Setting:
    """Return the settings that ``NAME=VALUE`` words mean."""
    fixed: Setting = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or name not in SPACE:
            raise InputError(f"--fix {word}: expected NAME=VALUE, NAME one of {', '.join(SPACE)}")
        fixed[name] = _value(name, text)
    return fixed


def _value(name: str, text: str) -> object:
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    dimension = SPACE[name]
    if isinstance(dimension, OneOf):
        good = any(value == known and type(value) is type(known) for known in dimension.values)
    else:
        good = isinstance(value, (int, float)) and dimension.low <= value <= dimension.high
    if not good:
        raise InputError(f"--fix {name}={text}: must be in {dimension}")
    return value


def _report(asked: Search, answer: Answer, output: Path | None, as_json: bool) -> None:
    data = report.to_json(asked, answer)
    if output is not None:
        commandline.write(output / "settings.json", data + "\n")
        commandline.write(output / "settings.md", report.to_markdown(answer))
    if as_json:
        print(data)
        return
    console = commandline.console()
    console.print(*report.tables(answer))
    for line in [*answer.troubles, report.closing(answer)]:
        console.print(line, markup=False, soft_wrap=True)


COMMAND = commandline.Command(main, "verify.settings", "--quick")

if __name__ == "__main__":
    COMMAND.run()
