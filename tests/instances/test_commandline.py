"""What the commands share: lists of values, completed names, spared inputs, crashes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pytest
import typer

from instances.commandline import Command, Exit, completing, finish, spread, write
from instances.files import read_text


def copied(source: Path, late: str = "", output: Annotated[Path, typer.Option()] = Path()) -> Exit:
    """Copy a file."""
    write(Path(late) if late else output, read_text(source))
    return Exit.HELD


def crashing() -> Exit:
    """Fail like an algorithm of a reader's own."""
    raise ZeroDivisionError("in an algorithm")


def ended(command: Callable[..., Exit], *words: str | Path) -> int:
    built = Command(command, "command", "").build("command")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["command", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            finish(built, "command")
    assert isinstance(end.value.code, int)
    return end.value.code


def test_bare_words_belong_to_the_list_option_before_them() -> None:
    spelled = "--users 10 20 --jobs 1 --seeds 1-5 7 --json --users=3 4"
    spread_out = "--users 10 --users 20 --jobs 1 --seeds 1-5 --seeds 7 --json --users=3 --users 4"
    assert spread(spelled.split(), ("--users", "--seeds")) == spread_out.split()


def test_the_last_of_several_names_is_completed() -> None:
    complete = completing(lambda: ("highs", "heuristic", "scip"))
    assert complete("h") == ["highs", "heuristic"]
    assert complete("scip,hi") == ["scip,highs"]
    assert complete("x") == []


@pytest.mark.parametrize("option", ["--output", "--late"])
def test_an_input_is_not_written_over(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An instance that was named as --output too was gone, with exit code 0."""
    path, link = tmp_path / "instance.json", tmp_path / "link.json"
    path.write_text("kept")
    link.symlink_to(path)
    assert ended(copied, path, option, link) == Exit.BAD_INPUT
    told = f"error: {link}: is an input of this command; name another file to write\n"
    assert (capsys.readouterr().err, path.read_text()) == (told, "kept")
    assert ended(copied, path, option, tmp_path / "other.json") == Exit.HELD
    write(path, read_text(path) + ", changed")  # in Python everything may be written
    assert path.read_text() == "kept, changed"


def test_a_crash_is_no_violation(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(crashing) == Exit.CRASHED == 70
    told = capsys.readouterr().err
    assert told.startswith("Traceback")
    assert told.endswith("ZeroDivisionError: in an algorithm\n")
