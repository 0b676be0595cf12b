"""The options that name a server's models and GPU."""

from __future__ import annotations

from typing import Annotated

import typer

from .catalog import GPUS, MODELS
from .commandline import completing

#: What completes a model's and a GPU's name.
model_names, gpu_names = completing(lambda: MODELS), completing(lambda: GPUS)

Llm = Annotated[
    str | None,
    typer.Option(help="Large model: a name or a config.json.", autocompletion=model_names),
]
Slm = Annotated[str | None, typer.Option(help="Small model, likewise.", autocompletion=model_names)]
Gpu = Annotated[
    str | None,
    typer.Option(help="GPU: a name, or a hardware section's .json.", autocompletion=gpu_names),
]
DraftLength = Annotated[int | None, typer.Option(help="Draft tokens an iteration.")]
