"""What the commands share: how they are parsed and end, exit codes, files written or refused."""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from .files import InputError, noting_inputs, refuse_input, writing

if TYPE_CHECKING:
    from rich.console import Console

#: typer's base of all usage errors: click's own, or typer's copy of it, by version.
_UsageError = cast(type[Exception], typer.BadParameter.__mro__[1])


#: Options that name what a command writes.
WRITTEN = ("output", "plot")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV only.")]


class Exit(IntEnum):
    """What a command's exit code says."""

    HELD = 0
    VIOLATION = 1
    BAD_INPUT = 2
    UNDECIDED = 3
    CRASHED = 70
    INTERRUPTED = 130


@dataclass(frozen=True)
class Command:
    """A function as a command line.

    Parameters
    ----------
    function : callable
        Its annotations are the options, its docstring the help text; it returns the exit code.
    name : str
        The module that holds it.
    example : str
        Arguments that the help text shows.
    """

    function: Callable[..., Exit]
    name: str
    example: str

    def build(self, program: str) -> TyperCommand:
        """Return the parser of the command that is called by the words of `program`."""
        app = typer.Typer(add_completion=False)
        told = _paragraphs(self.function.__doc__ or "")
        shown = f"Example: {program} {self.example}"
        app.command(cls=_Parsed, help=told, epilog=shown)(self.function)
        return cast(TyperCommand, typer.main.get_command(app))

    def run(self) -> NoReturn:
        """Run it on the process's arguments, as ``python -m NAME``, and exit."""
        program = f"python -m {self.name}"
        finish(self.build(program), program)


class _Parsed(TyperCommand):
    """Takes ``--users 10 20`` as ``--users 10 --users 20``, and no nan or inf for a number.

    It does not begin if it would end by overwriting one of its inputs.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if all(isinstance(parameter, TyperOption) for parameter in self.params):
            options = [name for option in self.params if option.multiple for name in option.opts]
            args = spread(args, options)
        rest = super().parse_args(ctx, args)
        for parameter in self.params:
            for value in _each(ctx.params.get(parameter.name)):
                if isinstance(value, float) and not math.isfinite(value):
                    wrong = f"{value} is not a finite number"
                    raise typer.BadParameter(wrong, ctx, cast(Any, parameter))
        _refuse_overwriting(ctx.params)
        return rest


def _refuse_overwriting(options: dict[str, Any]) -> None:
    written = [options[name] for name in WRITTEN if isinstance(options.get(name), Path)]
    others = (_each(value) for name, value in options.items() if name not in WRITTEN)
    read = {path.resolve() for paths in others for path in paths if isinstance(path, Path)}
    for path in written:
        refuse_input(path, read)


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else (value,)


def spread(arguments: Sequence[str], lists: Collection[str]) -> list[str]:
    """Return arguments with ``--users 10 20`` written as ``--users 10 --users 20``.

    For commands without positional arguments: every bare word after a value of a list option is
    one more value of it.
    """
    result: list[str] = []
    option: str | None = None  # the list option that bare words belong to
    for word, before in zip(arguments, ("", *arguments), strict=False):
        if word.startswith("-"):
            name = word.partition("=")[0]
            option = name if name in lists else None
        elif option is not None and before != option:
            result.append(option)
        result.append(word)
    return result


def finish(command: TyperCommand | TyperGroup, program: str) -> NoReturn:
    """Run a command on the process's arguments and exit with the code that it returns.

    Bad usage and `InputError` end in one line on stderr and exit code 2; any other exception, such
    as one of a reader's own algorithm, in its traceback and exit code 70.
    """
    try:
        with noting_inputs():
            code = command.main(prog_name=program, standalone_mode=False)
    except _UsageError as error:
        code = _refuse(error.format_message())  # type: ignore[attr-defined]
    except InputError as error:
        code = _refuse(str(error))
    except (KeyboardInterrupt, typer.Abort):
        code = _say("interrupted", Exit.INTERRUPTED)
    except Exception:
        code = _say(traceback.format_exc().rstrip(), Exit.CRASHED)
    sys.exit(int(code or 0))


def completing(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what completes a name in a shell, or the last of several between commas.

    Where a name has a blank, which ends a shell's word, a hyphen is offered.
    """

    def complete(incomplete: str) -> list[str]:
        done, comma, begun = incomplete.rpartition(",")
        words = (name.replace(" ", "-") for name in names())
        return [done + comma + word for word in words if word.startswith(begun)]

    return complete


def console(quiet: bool = False) -> Console:
    """Return a console on stdout that prints words as they are, `:ok:` too; rich loads on use."""
    from rich.console import Console

    return Console(quiet=quiet, emoji=False, highlight=False)


def write(path: Path, text: str) -> None:
    """Write a text file, making its folder.

    Raises
    ------
    InputError
        If the path cannot be written, or the running command has read it.
    """
    refuse_input(path)
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


def _paragraphs(docstring: str) -> str:
    """Return a docstring whose line ends are a terminal's to choose."""
    paragraphs = docstring.split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _refuse(message: str) -> Exit:
    return _say(f"error: {' '.join(message.split())}", Exit.BAD_INPUT)


def _say(line: str, code: Exit) -> Exit:
    print(line, file=sys.stderr)
    return code
