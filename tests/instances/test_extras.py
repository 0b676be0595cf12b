"""What a message says to install is what the package's extra installs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from instances.extras import EXTRAS, needs

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_packages_are_the_extras(extra: str) -> None:
    stated = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    packages = [re.split(r"\W", name)[0] for name in stated["optional-dependencies"][extra]]
    assert list(EXTRAS[extra]) == packages
    assert needs("it needs more", extra).startswith(f"it needs more: pip install {packages[0]}")
