"""All commands in one that shells complete: ``balance verify bound``, ``python -m verify.bound``.

Nothing of a command is imported before it is called or its options are completed.
"""

from __future__ import annotations

import ast
import os
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup

from instances import commandline

#: The modules of each package that are commands.
COMMANDS = {
    "instances": ("generate", "measure", "calibrate", "schema"),
    "formulations": ("solve",),
    "heuristics": ("solve", "replay"),
    "verify": (
        *("check", "bound", "errata", "propositions", "reduction", "hunt", "bench", "prove"),
        *("sizes", "sweep", "scale", "paper", "settings"),
    ),
}


class _Deferred(TyperCommand):
    """A command that is known by its name alone until it is parsed."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **more: Any
    ) -> Any:
        command = load(f"{parent.info_name}.{info_name}")
        sys.argv[1:] = args  # as after python -m
        program = f"{parent.command_path} {info_name}"
        return command.build(program).make_context(info_name, args, parent, **more)


def load(name: str) -> commandline.Command:
    """Return the command that a module holds.

    As ``python -m`` does, this does not enter the module among the imported ones: it would take
    the place of the function that its package exports under the same name.
    """
    return cast(commandline.Command, runpy.run_module(name, run_name=name)["COMMAND"])


def told(path: Path) -> str:
    """Return what a module's docstring says in its first line, before any colon."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].partition(": ``")[0]


def build() -> TyperGroup:
    """Return the command ``balance``."""
    app = typer.Typer(help="Exact baselines, the paper's algorithms and a verifier.")
    app.callback(invoke_without_command=True)(_help)
    for package, names in COMMANDS.items():
        spec = find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        place = Path(spec.origin)
        group = typer.Typer(help=told(place))
        group.callback(invoke_without_command=True)(_help)
        for name in names:
            group.command(name, help=told(place.with_name(f"{name}.py")), cls=_Deferred)(_nothing)
        app.add_typer(group, name=package)
    return cast(TyperGroup, typer.main.get_command(app))


def _help(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help(), nl=False)


def _nothing() -> None:
    """Stand in for the function of a command."""


def main() -> NoReturn:
    """Run ``balance`` on the process's arguments and exit."""
    sys.path.insert(0, os.getcwd())  # as python -m does: MODULE:FUNCTION is sought here
    commandline.finish(build(), "balance")
