"""Print the JSON Schema of the toolkit's files: ``python -m instances.schema``."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from . import commandline
from .commandline import Exit
from .schemas import DOCUMENTS, json_schema

Kind = StrEnum("Kind", {name: name for name in DOCUMENTS})  # type: ignore[misc]
INSTANCE = Kind("instance")


def main(
    document: Annotated[Kind, typer.Argument(help="Which file's schema.")] = INSTANCE,
    output: Annotated[Path | None, typer.Option(help="Write it here, not to stdout.")] = None,
) -> Exit:
    """Print a JSON Schema for editors and other programs that write the toolkit's files.

    Exit code 0: written; 2: bad usage.
    """
    text = json.dumps(json_schema(document.value), indent=1, ensure_ascii=False) + "\n"
    if output is None:
        print(text, end="")
    else:
        commandline.write(output, text)
    return Exit.HELD


COMMAND = commandline.Command(main, "instances.schema", "instance --output schema.json")

if __name__ == "__main__":
    COMMAND.run()
