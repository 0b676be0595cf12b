"""What README and documents show: Python runs, commands parse, studies are studies."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from verify.study import Study
from verify.umbrella import load

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(path: Path, language: str = "python") -> list[str]:
    found = BLOCK.findall(path.read_text(encoding="utf-8"))
    return [text for kind, text in found if kind == language]


def commands(path: Path) -> list[list[str]]:
    """Return the words of every ``python -m ...`` in a document, without what the shell takes."""
    lines = "".join(blocks(path, "sh") + blocks(path, "")).replace("\\\n", " ").splitlines()
    calls = [part.strip() for line in lines for part in line.split("&&")]
    words = [shlex.split(call, comments=True) for call in calls if call.startswith("python -m ")]
    return [call[2 : call.index(">") if ">" in call else None] for call in words]


WITH_CODE = [path for path in DOCUMENTS if blocks(path)]


@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: path.name)
def test_python_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document's blocks share their names, as for someone who types them one by one."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in blocks(path):
        exec(compile(code, str(path), "exec"), names)


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_parse(path: Path) -> None:
    for name, *arguments in commands(path):
        if name.split(".")[0] in ("instances", "heuristics", "formulations", "verify"):
            load(name).build(name).make_context(name, arguments)


def test_studies_are_studies() -> None:
    texts = [text for path in DOCUMENTS for text in blocks(path, "toml")]
    assert len([Study.model_validate(tomllib.loads(text)) for text in texts]) > 1


def test_the_readme_has_code_and_commands() -> None:
    assert ROOT / "README.md" in WITH_CODE
    assert len(commands(ROOT / "README.md")) > 5


def test_the_citation_is_one() -> None:
    """Title and version are those of CITATION.cff and of the package."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    titles = re.findall(r'title: "(.*)"', citation)
    (bibtex,) = blocks(ROOT / "README.md", "bibtex")
    assert re.findall(r"title   = {{(.*)}}", bibtex) == titles
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"\nversion: {project['version']}\n" in citation
    assert f"Version {project['version']}" in bibtex
