"""The command ``balance``: it is ``python -m`` with another spelling, and shells complete it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from instances import generate, save
from verify import umbrella

pytestmark = pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
ROOT = Path(__file__).resolve().parents[2]
Balance = Callable[..., tuple[int, str, str]]


@pytest.fixture
def balance(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Balance:
    """Run the command in this process; return its exit code, stdout and stderr."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["balance", *arguments])
        with pytest.raises(SystemExit) as ended:
            umbrella.main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


def test_a_command_runs_as_its_module_does(balance: Balance, tmp_path: Path) -> None:
    path = tmp_path / "instance.json"
    save(generate("paper-4a", users=4, seed=1), path)
    code, printed, _ = balance("instances", "generate", *["--family", "paper-4a", "--users", "4"])
    assert (code, printed) == (0, path.read_text(encoding="utf-8"))
    code, _, complaint = balance("verify", "check", str(path), "missing.json")
    assert (code, complaint) == (2, "error: missing.json: No such file or directory\n")


def test_help_lists_the_commands_and_their_words(balance: Balance) -> None:
    assert all(package in balance()[1] for package in umbrella.COMMANDS)
    _, printed, _ = balance("verify")
    assert "Check the paper's ½ bound on many instances" in printed
    assert balance("verify", "bound", "--help")[1].strip().startswith("Usage: balance verify bound")


def test_unknown_commands_are_refused_in_one_line(balance: Balance) -> None:
    assert balance("verify", "guess") == (2, "", "error: No such command 'guess'.\n")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("balance ver", {"verify"}),
        ("balance verify pr", {"propositions", "prove"}),
        ("balance verify bound --al", {"--algorithm"}),
        ("balance verify bound --algorithm balance", {"balance", "balance+"}),
        ("balance verify bound --family paper", {"paper-4a", "paper-5a"}),
        ("balance verify bench --solvers threshold,hi", {"threshold,highs"}),
        ("balance verify sweep figure-7", {"figure-7a", "figure-7b"}),
        ("balance formulations solve --problem P", {"P1", "P2", "P3"}),
        ("balance formulations solve --formulation le", {"levels"}),
        ("balance instances generate --llm Llama-2", {"Llama-2-7B", "Llama-2-13B"}),
        ("balance instances generate --gpu A", {"A100-40GB", "A100-80GB"}),
        ("balance formulations solve inst", set()),  # the shell's own files
    ],
)
def test_names_are_completed(
    balance: Balance, monkeypatch: pytest.MonkeyPatch, typed: str, offered: set[str]
) -> None:
    monkeypatch.setenv("_BALANCE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
    assert set(balance()[1].split()) == offered


def test_bash_itself_completes(
    balance: Balance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Source what --install-completion installs, and call it as the key does."""
    program = tmp_path / "balance"
    code = "from verify.umbrella import main; main()"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("_BALANCE_COMPLETE", "source_bash")
    script = balance()[1]
    script += "COMP_WORDS=(balance verify pr); COMP_CWORD=2\n"
    script += f"_balance_completion {program}; echo ${{COMPREPLY[*]}}\n"
    run = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["propositions", "prove"]


def test_listing_commands_imports_none() -> None:
    code = "import sys; from verify import umbrella; umbrella.build(); "
    code += (
        "print(*[name for name in ('formulations', 'heuristics', 'numba') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert run.stdout.split() == []
