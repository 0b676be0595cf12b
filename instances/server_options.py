"""The options that name a server's models and GPU."""

from __future__ import annotations

from typing import Annotated

import typer

from .catalog import GPUS, MODELS
from .commandline import completing

_MODEL = completing(lambda: MODELS)
_GPU = completing(lambda: GPUS)

Llm = Annotated[
    str | None,
    typer.Option(help="Large model: a name or a config.json.", autocompletion=_MODEL),
]
Slm = Annotated[str | None, typer.Option(help="Small model, likewise.", autocompletion=_MODEL)]
Gpu = Annotated[
    str | None,
    typer.Option(help="GPU: a name, or a hardware section's .json.", autocompletion=_GPU),
]
DraftLength = Annotated[int | None, typer.Option(help="Draft tokens an iteration.")]
