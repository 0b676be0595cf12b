"""``python -m instances.generate``: JSON out, one line and exit code 2 for what is wrong."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import instances
from instances import FAMILIES, dumps, generate, load, loads
from instances.catalog import GPUS, MODELS

ROOT = Path(__file__).resolve().parents[2]


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of the command in this process, run as ``-m`` does.

    Importing the module would put it in the place of the function `instances.generate`.
    """
    monkeypatch.setattr(sys, "argv", ["generate", *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("instances.generate", run_name="__main__", alter_sys=False)
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


Run = tuple[pytest.CaptureFixture[str], pytest.MonkeyPatch]


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "200")
    return capsys, monkeypatch


def test_as_a_process_it_prints_only_json_and_does_not_warn() -> None:
    words = "-W error -m instances.generate --family paper-4a --users 3 --seed 4"
    done = subprocess.run(
        [sys.executable, *words.split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == dumps(generate("paper-4a", 3, 4))


def test_the_command_does_not_shadow_the_function(terminal: Run) -> None:
    run(*terminal, "--list")
    assert instances.generate is generate
    assert "instances.generate" not in sys.modules


def test_files_and_folders(terminal: Run, tmp_path: Path) -> None:
    one = tmp_path / "sub" / "one.json"
    assert run(*terminal, "--family", "tiny", "--seed", "2", "--output", str(one)) == (0, "", "")
    assert load(one) == generate("tiny", None, 2)
    many = tmp_path / "many"
    code, out, _ = run(
        *terminal, "--family", "ties", "--users", "4", "--count", "3", "--output", str(many)
    )
    assert (code, out) == (0, "")
    assert sorted(p.name for p in many.iterdir()) == [f"ties-4-{seed}.json" for seed in (1, 2, 3)]
    assert load(many / "ties-4-2.json") == generate("ties", 4, 2)
    run(*terminal, "--family", "tiny", "--users", "1", "--output", str(many))
    assert (many / "tiny-1-1.json").is_file()


def test_models_gpu_and_trace(terminal: Run, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"n_embd": 768, "n_layer": 12, "n_head": 12}')
    trace = tmp_path / "lengths.csv"
    trace.write_text("input_tokens,output_tokens\n7,9\n")
    options = ["--llm", "mistral-7b", "--slm", str(config), "--gpu", "RTX 4090"]
    options += ["--true-kv-heads", "--draft-length", "3", "--bits-per-token", "8"]
    code, out, _ = run(
        *terminal, "--family", "trace", "--trace", str(trace), "--users", "2", *options
    )
    instance = loads(out)
    assert code == 0
    assert (instance.llm.kv_heads, instance.slm.hidden_size) == (8, 768)
    assert (instance.draft_length, instance.bits_per_token) == (3, 8)
    assert {(u.input_tokens, u.output_tokens) for u in instance.users} == {(7, 9)}


def test_the_list_names_everything(terminal: Run) -> None:
    code, out, _ = run(*terminal, "--list")
    assert code == 0
    assert all(name in out for name in (*FAMILIES, *MODELS, *GPUS))


BAD = [
    ([], "name a --family"),
    (["--family", "nope"], "unknown family 'nope'; choose from"),
    (["--family", "tiny", "--users", "-1"], "takes 0 to 100000 users, not -1"),
    (["--family", "tiny", "--users", "x"], "--users"),
    (["--family", "tiny", "--users", "1.5"], "--users"),
    (["--family", "tiny", "--seed", "-1"], "seed -1 is negative"),
    (["--family", "tiny", "--count", "0"], "--count: 0 is less than 1"),
    (["--family", "tiny", "--count", "2"], "--count over 1 needs --output"),
    (["--family", "tiny", "--bogus"], "--bogus"),
    (["--family", "tiny", "--llm", "nope"], "unknown model 'nope'"),
    (["--family", "tiny", "--llm", "/none/config.json"], "/none/config.json: No such file"),
    (["--family", "tiny", "--gpu", "L4"], "no α and β were measured on L4"),
    (["--family", "tiny", "--draft-length", "65"], "draft_length: must be at most 64"),
    (["--family", "tiny", "--bits-per-token", "nan"], "is not a finite number"),
    (["--family", "tiny", "--trace", "x.csv"], "--trace is for the family trace"),
    (["--family", "trace", "--trace", "/"], "/: is a directory"),
    (["--family", "wide", "--slm", "OPT-125M"], "family wide: fixes its own"),
    (["--family", "tiny", "--output", "/dev/null/x"], "/dev/null/x: cannot be written"),
]


@pytest.mark.parametrize(("arguments", "line"), BAD)
def test_bad_usage_is_one_line_and_exit_code_2(
    arguments: list[str], line: str, terminal: Run
) -> None:
    code, out, err = run(*terminal, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert line in err
