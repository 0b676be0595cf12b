"""Prove a bound of P1 a second time, without the threshold solver: ``python -m verify.prove``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from instances import InputError, commandline, load
from instances.commandline import Exit

#: Exit code of each verdict.
EXITS = {"proven": Exit.HELD, "refuted": Exit.VIOLATION, "open": Exit.UNDECIDED}


def main(
    instance: Annotated[Path, typer.Argument(help="Instance file.")],
    bound: Annotated[
        int | None, typer.Option(min=0, help="At most so many users can be served.")
    ] = None,
    check: Annotated[
        Path | None, typer.Option(help="Recheck this proof, box by box, instead of making one.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0.001, help="Wall seconds; then undecided.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Write the proof here; until it is done, a .jsonl beside it goes on."),
    ] = None,
    as_json: commandline.AsJson = False,
) -> Exit:
    """Prove that at most --bound users can be served, without the solver that found the bound.

    "One user more" is refuted box by box: by counting, by weighted counting, or by a MILP.

    A run that was killed or met its limit goes on where it stopped if it is started again with the
    same --output. A proof holds all that a recheck needs; --check redoes every box in integers,
    without any LP, and says how many rest on a MILP solver.

    Exit code 0: proven; 1: more users can be served, or the proof does not hold; 2: bad input; 3:
    undecided.
    """
    from . import proofs  # loads numba and HiGHS

    data = load(instance)
    if (bound is None) == (check is None):
        raise InputError("give either --bound, to make a proof, or --check FILE")
    if check is not None:
        if output is not None or time_limit is not None:
            raise InputError("--check takes neither --output nor --time-limit")
        outcome = proofs.check(data, check)
    else:
        assert bound is not None
        try:
            outcome = proofs.make(data, bound, time_limit, output)
        except ValueError as error:
            raise InputError(f"{instance}: {error}") from None
    if as_json:
        print(proofs.to_json(outcome))
    else:
        commandline.console().print(_line(outcome), markup=False, soft_wrap=True)
    return EXITS[outcome["verdict"]]


def _line(outcome: Mapping[str, object]) -> str:
    """Return the outcome in one line."""
    counts = outcome["counts"]
    assert isinstance(counts, dict)
    claim = f"at most {outcome['bound']} of {outcome['users']} users"
    if "failure" in outcome:
        return f"{claim}: the proof does not hold: {outcome['failure']}"
    seconds = f"{outcome['seconds']:.3g} s"
    if outcome["verdict"] == "refuted":
        return f"{claim}: refuted, a schedule serves more ({sum(counts.values())} boxes; {seconds})"
    parts = [f"{count} {name}" for name, count in counts.items()]
    parts += [f"milp: {outcome['milp']}"] if outcome.get("milp") else []
    verdict = "proven"
    if outcome["verdict"] == "open":
        verdict = f"undecided, {outcome['open']} boxes left at the time limit"
    how = "rechecked in integers; " if "rechecked" in outcome else ""
    return f"{claim}: {verdict} ({how}{', '.join(parts)}; {seconds})"


COMMAND = commandline.Command(main, "verify.prove", "instance.json --bound 7")

if __name__ == "__main__":
    COMMAND.run()
