"""The options that select a benchmark's instances; each takes any number of values."""

from __future__ import annotations

from typing import Annotated

import typer

from instances import FAMILIES
from instances.commandline import completing

Words = list[str] | None
Users = Annotated[Words, typer.Option(help="Numbers of users: 10 20 30, or 10-12.")]
Family = Annotated[
    Words,
    typer.Option(help="Families of the generator.", autocompletion=completing(lambda: FAMILIES)),
]
Seeds = Annotated[Words, typer.Option(help="Seeds: 1 2 3, or 1-5.")]
Inputs = Annotated[Words, typer.Option("--input", help="Instance files, instead of generating.")]
