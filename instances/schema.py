"""``python -m instances.schema``: the JSON Schema of instance, schedule and result files."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .commandline import Exit, run, write
from .schemas import DOCUMENTS, json_schema

Kind = StrEnum("Kind", {name: name for name in DOCUMENTS})  # type: ignore[misc]
INSTANCE = Kind("instance")


def schema(
    document: Annotated[Kind, typer.Argument(help="Which file's schema.")] = INSTANCE,
    output: Annotated[Path | None, typer.Option(help="Write it here, not to stdout.")] = None,
) -> Exit:
    """Print a JSON Schema for editors and other programs that write the toolkit's files."""
    text = json.dumps(json_schema(document.value), indent=1, ensure_ascii=False) + "\n"
    if output is None:
        print(text, end="")
    else:
        write(output, text)
    return Exit.HELD


if __name__ == "__main__":
    run(schema, "instances.schema", "python -m instances.schema instance --output schema.json")
