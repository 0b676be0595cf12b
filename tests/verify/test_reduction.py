"""``verify.reduction``: its verdicts, and the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from verify import reduction
from verify.reduction_checks import CHECKS, Reduction
from verify.reduction_report import collect, save_violations


def row(**changes: Any) -> dict[str, Any]:
    made = {"key": "3", "thresholds": 9, "problems": 4, "yes": True, "faults": {}, "open": []}
    return made | changes


def test_verdicts(tmp_path: Path) -> None:
    assert collect([]).verdict == 3
    assert collect([row()]).verdict == 0
    assert collect([row(open=["maximum"])]).verdict == 3
    assert collect([{"key": "1", "error": "crashed"}, row()]).verdict == 3
    findings = collect([row(open=["maximum"]), row(faults={"optimum": "4 is not 5"})])
    assert findings.verdict == 1
    save_violations(findings, Reduction(1, solver="highs"), tmp_path)
    failure = findings.violations[0]
    assert failure.again == ("python -m verify.reduction --instances 1 --seed 3 --solver highs")
    assert [Path(name).name for name in failure.files] == ["mapping-3.json", "partition-3.json"]
    assert all(Path(name).is_file() for name in failure.files)


def command(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "verify.reduction", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)


def test_the_command(tmp_path: Path) -> None:
    output = tmp_path / "run"
    done = command("--instances", "4", "--json", "--jobs", "1", "--output", str(output))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["verdict"] == "held"
    assert report["checked"] == 4
    assert report["checks"].keys() == CHECKS.keys()
    assert report["problems"] > 0
    assert json.loads((output / "report.json").read_text()) == report
    again = command("--instances", "4", "--resume", "--jobs", "1", "--output", str(output))
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-1] == "PASS: both reductions held on all 4 instances"


def test_an_interrupt_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reduction, "_check_all", interrupted)
    with pytest.raises(typer.Exit) as ended:
        reduction.main(output=tmp_path)
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == "interrupted; --resume goes on\n"


@pytest.mark.parametrize(
    "words",
    [
        ("--instances", "0"),
        ("--solver", "nobody"),
        ("--resume",),
        ("--dask", "tcp://x", "--jobs", "2"),
    ],
)
def test_bad_usage_is_one_line(words: tuple[str, ...]) -> None:
    done = command(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout
