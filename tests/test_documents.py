"""The Python in the README and the documents runs as it stands, block after block."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(path: Path) -> list[str]:
    return BLOCK.findall(path.read_text(encoding="utf-8"))


WITH_CODE = [path for path in DOCUMENTS if blocks(path)]


@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: path.name)
def test_python_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document's blocks share their names, as for someone who types them one by one."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in blocks(path):
        exec(compile(code, str(path), "exec"), names)


def test_the_readme_has_code() -> None:
    assert ROOT / "README.md" in WITH_CODE
