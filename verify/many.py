"""What the commands on many instances share: their options, and how a run ends early."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from instances import InputError
from instances.commandline import Exit

from .runner import WorkersLost

Jobs = Annotated[int | None, typer.Option(min=1, help="Processes; all cores if left out.")]
Dask = Annotated[str | None, typer.Option(help="Scheduler of a Dask cluster.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with --output's run.")]


def check_resume(resume: bool, output: Path | None) -> None:
    """Refuse to go on with a run whose folder is not named."""
    if resume and output is None:
        raise InputError("--resume needs the --output of the run that it goes on with")


@contextmanager
def one_line_if_stopped(resumable: bool) -> Iterator[None]:
    """End the command in one line on stderr when the workers are lost or Ctrl-C is pressed."""
    try:
        yield
    except WorkersLost as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(Exit.UNDECIDED) from None
    except KeyboardInterrupt:
        print("interrupted" + ("; --resume goes on" if resumable else ""), file=sys.stderr)
        raise typer.Exit(Exit.INTERRUPTED) from None
