"""Every function that docs/model.md sets beside an equation exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

MODEL = Path(__file__).resolve().parents[1] / "docs" / "model.md"
NAMED = re.findall(r"\| `((?:\w+\.)+\w+)` \|$", MODEL.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", NAMED)
def test_function_exists(name: str) -> None:
    module, _, function = name.rpartition(".")
    assert callable(getattr(importlib.import_module(module), function))


def test_all_equations_are_covered() -> None:
    """Every public function of the two modules of equations stands in the document."""
    for module in ("instances.workload", "instances.exact"):
        loaded = importlib.import_module(module)
        public = {
            f"{module}.{name}"
            for name, value in vars(loaded).items()
            if callable(value) and getattr(value, "__module__", "") == module
            if not name.startswith("_")
        }
        assert public <= set(NAMED)
