"""Every command's help: an example that parses, a line for each option, the exit codes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from verify.umbrella import COMMANDS, load

ROOT = Path(__file__).resolve().parents[1]
#: Other tests import some of the modules that are run here as ``python -m`` would.
pytestmark = pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
NAMES = [f"{package}.{name}" for package, names in COMMANDS.items() for name in names]


def test_every_command_is_listed() -> None:
    files = [path for package in COMMANDS for path in (ROOT / package).glob("*.py")]
    commands = [path for path in files if "\nCOMMAND = " in path.read_text(encoding="utf-8")]
    found = {f"{path.parent.name}.{path.stem}" for path in commands}
    assert found == set(NAMES)


def test_no_console_makes_pictures_of_names() -> None:
    """A solver called mysol:ok was printed as mysol and an emoji."""
    for package in COMMANDS:
        for path in (ROOT / package).glob("*.py"):
            made = re.findall(r"\bConsole\((.*?)\)", path.read_text(encoding="utf-8"))
            assert all("emoji=False" in options or "stderr=True" in options for options in made)


@pytest.mark.parametrize("name", NAMES)
def test_help_says_how_to_call_a_command(name: str) -> None:
    command = load(name)
    assert command.name == name
    built = command.build(f"python -m {name}")
    shown = built.epilog or ""
    assert shown == f"Example: python -m {name} {command.example}"
    assert len(shown) < 80  # a terminal must not break it
    built.make_context(name, shlex.split(command.example))
    assert "Exit code" in (built.help or "")
    assert [option.name for option in built.params if not getattr(option, "help", None)] == []
