"""Show how large and how tight the MILP formulations are: ``python -m verify.sizes``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import mean
from typing import Annotated, Any

import typer
from rich.table import Table

from formulations.rows import CUTS, cuts_of
from instances import InputError, commandline
from instances.commandline import Exit

from .bench_cases import select
from .bench_options import Family, Inputs, Seeds, Users


def main(
    users: Users = None,
    family: Family = None,
    seeds: Seeds = None,
    inputs: Inputs = None,
    cuts: Annotated[
        str,
        typer.Option(
            help="Cuts to try beside: none, pairs,dominance,count or all.",
            autocompletion=commandline.completing(lambda: ("none", *CUTS, "all")),
        ),
    ] = "none",
    as_json: commandline.AsJson = False,
) -> Exit:
    """Build every MILP formulation of P1, and solve its linear relaxation at every z.

    Sizes are the largest over z, LP bounds too; both are averaged over the instances. The optimum
    is the threshold solver's.

    Exit code 0: done; 2: bad input.
    """
    import formulations

    from .formulation_sizes import Size, sizes, variants

    try:
        wanted = list(variants(cuts_of({"cuts": cuts})))
    except ValueError as error:
        raise InputError(str(error)) from None
    found: dict[tuple[str, int, str], list[tuple[Size, int]]] = {}
    for case in select(family or (), users or (), seeds or (), inputs or ()):
        optimum = formulations.solve(case.instance).bound
        assert optimum is not None
        for size in sizes(case.instance, wanted):
            group = found.setdefault((case.family, case.users, size.variant), [])
            group.append((size, optimum))
    rows = [_row(*key, group) for key, group in found.items()]
    if as_json:
        print(json.dumps(rows))
    else:
        _show(rows)
    return Exit.HELD


def _row(family: str, users: int, variant: str, group: Sequence[tuple[Any, int]]) -> dict[str, Any]:
    row: dict[str, Any] = {"family": family, "users": users, "formulation": variant}
    row["instances"] = len(group)
    for name in ("columns", "binaries", "rows", "entries", "bound"):
        row[name] = mean(getattr(size, name) for size, _ in group)
    return row | {"optimum": mean(optimum for _, optimum in group)}


def _show(rows: Sequence[dict[str, Any]]) -> None:
    console, table = commandline.console(), Table(box=None, pad_edge=False)
    names = ("family", "users", "formulation", "columns", "binaries", "rows", "entries")
    for name in (*names, "LP bound", "optimum"):
        words = name in ("family", "formulation")
        table.add_column(name, justify="left" if words else "right", no_wrap=True)
    for row in rows:
        numbers = [f"{row[name]:,.0f}" for name in names[3:]]
        ends = f"{row['bound']:.2f}", f"{row['optimum']:.2f}"
        table.add_row(row["family"], str(row["users"]), row["formulation"], *numbers, *ends)
    if not console.is_terminal:
        console.width = 120  # a file has no edge to wrap at
    console.print(table)


COMMAND = commandline.Command(main, "verify.sizes", "--users 10 20 30 --seeds 1-3 --cuts all")

if __name__ == "__main__":
    COMMAND.run()
