"""``python -m instances.calibrate``: real profiles, tables, JSON, pictures, a hardware section."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from instances import generate
from instances.catalog import hardware

Terminal = tuple[pytest.CaptureFixture[str], pytest.MonkeyPatch]


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("COLUMNS", "120")
    return capsys, monkeypatch


def run(terminal: Terminal, *arguments: object) -> tuple[int, str, str]:
    capsys, monkeypatch = terminal
    monkeypatch.setattr(sys, "argv", ["calibrate", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("instances.calibrate", run_name="__main__")
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.fixture
def passes(tmp_path: Path) -> Path:
    """Twelve passes of stated FLOP that follow α = 1e-9 s/FLOP, β = 0.25 s exactly."""
    path = tmp_path / "passes.csv"
    rows = [f"{1e-9 * work + 0.25},{work}" for work in (10**7 * 2**k for k in range(12))]
    path.write_text("# device: Abacus\nseconds,flops\n" + "\n".join(rows))
    return path


def law(terminal: Terminal, profile: Path, *arguments: object) -> tuple[float, float]:
    code, out, _ = run(terminal, profile, "--model", "llama-3.1-8b", "--json", *arguments)
    document: dict[str, Any] = json.loads(out)
    executed = document["laws"]["executed"]
    assert code == 0
    errors = sorted(abs(row["error"]) for row in document["residuals"])
    assert len(errors) == document["passes"]
    assert errors[-1] == pytest.approx(document["laws"]["paper"]["worst_error"])
    assert executed["alpha_interval"][0] <= executed["alpha"] <= executed["alpha_interval"][1]
    return executed["alpha"], executed["beta"]


def test_llama_on_an_rtx_4090(terminal: Terminal, shared_data: Path) -> None:
    profile = shared_data / "profiles" / "rtx4090_llama31_8b"
    alpha, beta = law(terminal, profile)
    assert alpha == pytest.approx(4.6e-15, rel=0.05)
    assert beta == pytest.approx(0.0157, rel=0.08)
    alpha, beta = law(terminal, profile, "--from-tokens", 256)
    assert alpha == pytest.approx(6.4e-15, rel=0.02)
    assert beta == pytest.approx(0.0025, rel=0.1)
    alpha, beta = law(terminal, profile, "--loss", "relative", "--to-context", 16)
    assert alpha == pytest.approx(4.6e-15, rel=0.02)
    assert beta == pytest.approx(0.0157, rel=0.03)


def test_the_table_tells_laws_errors_and_what_was_left_out(
    terminal: Terminal, shared_data: Path
) -> None:
    profile = shared_data / "profiles" / "rtx4090_llama31_8b"
    code, out, err = run(terminal, profile, "--model", "llama-3.1-8b")
    assert (code, err) == (0, "")
    for words in ("as in an instance", "as executed", "1025–2048", "4097–16384", "8448 passes"):
        assert words in out
    assert 'For an instance\'s hardware: "alpha_llm": 5.4' in out


def test_two_calibrations_make_a_server(terminal: Terminal, passes: Path, tmp_path: Path) -> None:
    output = tmp_path / "server.json"
    code, _, err = run(terminal, passes, "--gpu", "RTX 4090", "--output", output)
    assert code == 0
    assert err.strip() == f"note: {output} still lacks alpha_slm, beta_slm"
    code, _, err = run(terminal, passes, "--role", "slm", "--output", output)
    assert (code, err) == (0, "")
    server = hardware(str(output))
    assert (server.name, server.memory_bytes) == ("Abacus", 24_000_000_000)
    assert (server.alpha_llm, server.beta_slm) == (1e-9, 0.25)
    assert generate("paper-4a", users=2, gpu=str(output)).hardware == server


def test_the_picture_has_the_form_asked_for(
    terminal: Terminal, passes: Path, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    code, _, _ = run(terminal, passes, "--plot", tmp_path / "law.svg")
    assert code == 0
    assert "α FLOP + β" in (tmp_path / "law.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--plot", "law.gif"], "ends in .png, .svg, .pdf, not in '.gif'"),
        (["--model", "nope"], "unknown model 'nope'"),
        (["--from-tokens", "5"], "has no column tokens"),
        (["--gpu", "nope"], "unknown GPU 'nope'"),
        (["--loss", "nope"], "--loss"),
        (["--output", "."], "is a directory"),
    ],
)
def test_bad_usage_is_one_line(
    terminal: Terminal, passes: Path, arguments: list[str], words: str
) -> None:
    code, _, err = run(terminal, passes, *arguments)
    assert code == 2
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1
    assert words in err


def test_a_hardware_file_with_a_gap_says_which(tmp_path: Path) -> None:
    path = tmp_path / "server.json"
    path.write_text('{"memory_bytes": 5}')
    with pytest.raises(ValueError, match=r"server\.json: bytes_per_value: is missing"):
        hardware(str(path))
