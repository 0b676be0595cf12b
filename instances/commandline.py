"""What the commands share: exit codes, one line for an error, files written or refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from .files import InputError, writing

#: typer's base of all usage errors: click's own, or typer's copy of it, by version.
_UsageError = cast(type[Exception], typer.BadParameter.__mro__[1])


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV only.")]


class Exit(IntEnum):
    """What a command's exit code says."""

    HELD = 0
    VIOLATION = 1
    BAD_INPUT = 2
    UNDECIDED = 3
    INTERRUPTED = 130


def run(function: Callable[..., Exit], name: str, example: str) -> None:
    """Run a function as the command line ``python -m NAME`` and exit with the code it returns.

    Bad usage and `InputError` end in one line on stderr and exit code 2.

    Parameters
    ----------
    function : callable
        Its annotations are the options, its docstring the help text.
    name : str
        Module name, for usage lines.
    example : str
        A command line that the help text shows.
    """
    app = typer.Typer(add_completion=False)
    app.command(epilog=f"Example: {example}")(function)
    command = typer.main.get_command(app)
    try:
        code = command.main(prog_name=f"python -m {name}", standalone_mode=False)
    except _UsageError as error:
        code = _refuse(error.format_message())  # type: ignore[attr-defined]
    except InputError as error:
        code = _refuse(str(error))
    except (KeyboardInterrupt, typer.Abort):
        code = _say("interrupted", Exit.INTERRUPTED)
    sys.exit(int(code or 0))


def write(path: Path, text: str) -> None:
    """Write a text file, making its folder.

    Raises
    ------
    InputError
        If the path cannot be written.
    """
    with writing(path):
        path.write_text(text, encoding="utf-8")


def form(as_json: bool, as_csv: bool) -> Literal["json", "csv", "table"]:
    """Return the form in which to print.

    Raises
    ------
    InputError
        If both are asked for.
    """
    if as_json and as_csv:
        raise InputError("--json and --csv exclude each other")
    return "json" if as_json else "csv" if as_csv else "table"


def _refuse(message: str) -> Exit:
    return _say(f"error: {' '.join(message.split())}", Exit.BAD_INPUT)


def _say(line: str, code: Exit) -> Exit:
    print(line, file=sys.stderr)
    return code
