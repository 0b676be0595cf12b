"""Finished keys: found again, repeated ones known, and small."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from verify.keys import Keys, digest


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=4)), st.text(max_size=4))
def test_a_set_of_strings(names: list[str], other: str) -> None:
    keys = Keys(iter(names))
    assert len(keys) == len(names)
    assert all(name in keys for name in names)
    assert (other in keys) == (other in names)
    assert keys.repeated == {digest(name) for name in names if names.count(name) > 1}


def test_digests_with_zeros_are_found() -> None:
    """numpy cuts closing zeros off byte strings: one key in 256 was not known again."""
    names = [f"tiny:{number}" for number in range(2000)]
    keys = Keys(names)
    assert all(name in keys for name in names)
    assert not any(f"ties:{number}" in keys for number in range(2000))
