"""Prove a bound of P1 a second time, without the threshold solver: ``python -m verify.prove``."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from instances import InputError, commandline, dumps, load
from instances.commandline import Exit

#: Exit code of each verdict.
EXITS = {"proven": Exit.HELD, "refuted": Exit.VIOLATION, "open": Exit.UNDECIDED}


def main(
    instance: Annotated[Path, typer.Argument(help="Instance file.")],
    bound: Annotated[int, typer.Option(min=0, help="At most so many users can be served.")],
    time_limit: Annotated[
        float | None, typer.Option(min=0.001, help="Wall seconds; then undecided.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write the log of all boxes here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> Exit:
    """Refute "one user more" box by box: by counting, by weighted counting, or by a MILP.

    Exit code 0: proven; 1: more users can be served; 2: bad input; 3: undecided.
    """
    from formulations.proof import prove

    data = load(instance)
    if bound >= len(data.users):
        raise InputError(f"--bound {bound}: an instance of {len(data.users)} users has no more")
    try:
        proof = prove(data, bound, time_limit)
    except ValueError as error:
        raise InputError(f"{instance}: {error}") from None
    log = {
        "instance_sha256": hashlib.sha256(dumps(data).encode()).hexdigest(),
        "users": len(data.users),
        "bound": bound,
        **proof.to_dict(),
    }
    if output is not None:
        commandline.write(output, json.dumps(log, separators=(",", ":")) + "\n")
    if as_json:
        print(json.dumps(log))
    else:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in proof.counts.items())
        Console(highlight=False).print(
            f"at most {bound} of {len(data.users)} users: {proof.verdict} "
            f"({counts}; {proof.open} open; {proof.seconds:.3g} s)"
        )
    return EXITS[proof.verdict]


if __name__ == "__main__":
    commandline.run(main, "verify.prove", "python -m verify.prove instance.json --bound 24")
