"""Write seeded instances: ``python -m instances.generate --family NAME``.

A command only: importing this module would put it in the place of the function
`instances.generate`, which lives in `instances.generators`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import commandline
from .catalog import GPUS, MODELS
from .families import find
from .files import InputError, dumps
from .generators import FAMILIES, Overrides, generate
from .model import Instance
from .server_options import DraftLength, Gpu, Llm, Slm


def main(
    family: Annotated[
        str | None,
        typer.Option(
            help="Kind of instance; --list shows them.",
            autocompletion=commandline.completing(lambda: FAMILIES),
        ),
    ] = None,
    users: Annotated[
        int | None, typer.Option(help="Number of users (default: typical of the family).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same bytes.")] = 1,
    count: Annotated[
        int, typer.Option(help="Instances, of consecutive seeds; more than one needs --output.")
    ] = 1,
    output: Annotated[
        Path | None, typer.Option(help="A file; a folder if it is one or --count is over 1.")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(help="CSV of request lengths, for the family trace.")
    ] = None,
    llm: Llm = None,
    slm: Slm = None,
    gpu: Gpu = None,
    true_kv_heads: Annotated[
        bool, typer.Option("--true-kv-heads", help="Keep grouped key/value heads.")
    ] = False,
    draft_length: DraftLength = None,
    bits_per_token: Annotated[float | None, typer.Option(help="Bits sent per token.")] = None,
    names: Annotated[bool, typer.Option("--list", help="Show all names and stop.")] = False,
) -> commandline.Exit:
    """Generate instances of a family as JSON, on stdout or in files.

    Exit code 0: written; 2: bad usage or input.
    """
    if names:
        _show_names()
        return commandline.Exit.HELD
    if family is None:
        raise InputError("name a --family, or see --list")
    if count < 1:
        raise InputError(f"--count: {count} is less than 1")
    if count > 1 and output is None:
        raise InputError("--count over 1 needs --output, a folder")
    if trace is not None and family != "trace":
        raise InputError(f"--trace is for the family trace, not for {family}")
    given = {
        "trace": trace,
        "llm": llm,
        "slm": slm,
        "gpu": gpu,
        "draft_length": draft_length,
        "bits_per_token": bits_per_token,
        "true_kv_heads": true_kv_heads or None,
    }
    overrides = Overrides(**{key: value for key, value in given.items() if value is not None})  # type: ignore[typeddict-item]
    for number in range(seed, seed + count):
        _write(generate(family, users, number, **overrides), output, into_folder=count > 1)
    return commandline.Exit.HELD


def _write(instance: Instance, output: Path | None, into_folder: bool) -> None:
    if output is None:
        print(dumps(instance), end="")
        return
    if into_folder or output.is_dir():
        output = output / f"{instance.name}.json"
    commandline.write(output, dumps(instance))


def _show_names() -> None:
    from rich.table import Table

    table = Table("family", "users", "what")
    for name in FAMILIES:
        kind = find(name)
        first_line = (kind.make.__doc__ or "").strip().splitlines()[0]
        table.add_row(name, "{}-{}".format(*kind.sizes), first_line)
    console = commandline.console()
    console.print(table)
    console.print(f"models: {', '.join(MODELS)}", markup=False)
    console.print(f"GPUs: {', '.join(GPUS)}", markup=False)


COMMAND = commandline.Command(
    main, "instances.generate", "--family paper-4a --output instance.json"
)

if __name__ == "__main__":
    COMMAND.run()
