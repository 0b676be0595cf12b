"""Shared by all tests: where the real data lie, if they do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

#: The suite draws the same few examples each time; ``--hypothesis-profile=thorough`` many others.
settings.register_profile("suite", max_examples=12, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=300, deadline=None)
settings.load_profile("suite")

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real traces, profiles and benchmark files; the test skips without it."""
    if not SHARED.is_dir():
        pytest.skip("reads ../shared/data, which this clone does not have beside it")
    return SHARED
