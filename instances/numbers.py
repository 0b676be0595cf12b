"""What a number in an instance file means: the decimal it shows, as a rational."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache


@lru_cache(maxsize=4096)  # grids, bandwidths and the hardware's numbers come again and again
def ratio(value: float) -> tuple[int, int]:
    """Return numerator and denominator, in lowest terms, of what a number shows (see `exact`)."""
    if isinstance(value, int):
        return value, 1
    return Decimal(repr(float(value))).as_integer_ratio()


@lru_cache(maxsize=4096)
def exact(value: float) -> Fraction:
    """Return the rational that a number's shortest decimal form shows.

    Parameters
    ----------
    value : int or float
        A finite number. ``0.1`` means 1/10, not the binary double nearest to it.

    Returns
    -------
    Fraction
        The value of ``repr(value)`` read as a decimal.

    Raises
    ------
    ValueError
        If `value` is NaN or infinite.
    """
    return Fraction(*ratio(value))
