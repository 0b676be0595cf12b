"""A number in a file means the decimal it shows."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instances.numbers import exact


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        (0.1, Fraction(1, 10)),
        (1e-12, Fraction(1, 10**12)),
        (4.5e-15, Fraction(45, 10**16)),
        (16, Fraction(16)),
        (2.5e20, Fraction(25 * 10**19)),
        (-0.0, Fraction(0)),
    ],
)
def test_a_float_is_its_shortest_decimal(value: float, meaning: Fraction) -> None:
    assert exact(value) == meaning


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_exact_reads_what_repr_shows(value: float) -> None:
    assert exact(value) == Fraction(repr(value))
    assert float(exact(value)) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_no_meaning_without_a_finite_value(value: float) -> None:
    with pytest.raises((ValueError, OverflowError)):
        exact(value)
