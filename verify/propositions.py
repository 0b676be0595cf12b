"""Check the paper's propositions and theorems on instances: ``python -m verify.propositions``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from instances import InputError, commandline, dumps
from instances.commandline import Exit

from . import workers
from .campaign import CLAIMS, MOST_TOLD, Campaign, again, check_claims, draw
from .evidence import claims_table, operations_table
from .many import Jobs
from .operations_count import SIZES, Count, count_operations, grows
from .runner import WorkersLost

#: The claim that is not about instances.
COUNTED = "theorem2"


def main(
    instances: Annotated[int, typer.Option(min=1, help="How many for each claim.")] = 50,
    claim: Annotated[
        list[str] | None,
        typer.Option(
            help=f"One of {', '.join([*CLAIMS, COUNTED])} (repeat it); all if left out.",
            autocompletion=commandline.completing(lambda: [*CLAIMS, COUNTED]),
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of each claim's first instance.")] = 0,
    jobs: Jobs = None,
    time_limit: Annotated[
        float, typer.Option(min=0.001, help="Seconds for one instance and claim.")
    ] = 300.0,
    output: Annotated[
        Path | None, typer.Option(help="Folder for report.json and failing instances.")
    ] = None,
    as_json: commandline.AsJson = False,
) -> Exit:
    """Check Propositions 2, 4 and 5, Theorems 1 and 2 and the additive guarantee.

    Every algorithm is compared with optima that were found without its code: by enumeration in
    rationals where users are few, by a solver whose answer is certified where not. Where the paper
    is wrong (printed memory, finite grids of splits), some instance must show it.

    Exit code 0: all held; 1: a violation; 2: bad usage; 3: something (or everything) undecided.
    """
    names = list(dict.fromkeys(claim or [*CLAIMS, COUNTED]))
    unknown = [name for name in names if name not in (*CLAIMS, COUNTED)]
    if unknown:
        choices = ", ".join([*CLAIMS, COUNTED])
        raise InputError(f"unknown claim {unknown[0]!r}; choose from {choices}")
    counts = [count_operations(users) for users in SIZES] if COUNTED in names else []
    checked = [name for name in names if name != COUNTED]
    try:
        crew = workers.processes(jobs)
        campaign = check_claims(checked, instances, seed, crew, time_limit)
    except WorkersLost as error:
        print(f"error: {error}", file=sys.stderr)
        return Exit.UNDECIDED
    _report(campaign, counts, output, as_json)
    return Exit.VIOLATION if counts and any(grows(counts)) else campaign.verdict


def _report(campaign: Campaign, counts: list[Count], output: Path | None, as_json: bool) -> None:
    data = campaign.to_dict() | {"operations": [count.to_dict() for count in counts]}
    text = json.dumps(data, indent=1, ensure_ascii=False)
    if output is not None:
        commandline.write(output / "report.json", text + "\n")
        for name, seed, _ in campaign.faults:
            path = output / f"{name}-{seed}.json"
            commandline.write(path, dumps(draw(CLAIMS[name], seed)[0]))
    if as_json:
        print(text)
    else:
        _show(campaign, counts)


def _show(campaign: Campaign, counts: list[Count]) -> None:
    console = commandline.console()
    if campaign.claims:
        console.print(claims_table(campaign))
    if counts:
        console.print(operations_table(counts))
    for kind, told in (("FAULT", campaign.faults), ("OPEN", campaign.troubles)):
        for name, seed, sentence in told[:MOST_TOLD]:
            line = f"{kind} {name}, seed {seed}: {sentence}\n  {again(name, seed)}"
            console.print(line, markup=False, soft_wrap=True)
        if told[MOST_TOLD:]:
            console.print(f"... and {len(told) - MOST_TOLD} more", markup=False)
    console.print(*_verdict(campaign, counts), soft_wrap=True)


def _verdict(campaign: Campaign, counts: list[Count]) -> tuple[str]:
    if campaign.verdict is Exit.VIOLATION or (counts and any(grows(counts))):
        return ("[red]FAIL: a claim is contradicted",)
    if campaign.claims and campaign.verdict is Exit.UNDECIDED:
        return ("[yellow]UNDECIDED: nothing contradicted, but not everything shown",)
    return ("[green]PASS: every claim holds, every erratum shows",)


COMMAND = commandline.Command(main, "verify.propositions", "--claim prop4 --instances 200")

if __name__ == "__main__":
    COMMAND.run()
