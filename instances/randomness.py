"""Random numbers that are the same on every machine and with every version of numpy."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")

#: Derived floats carry this many significant digits, so that no last bit of a libm shows.
DIGITS = 6


def rounded(value: float, digits: int = DIGITS) -> float:
    """Return a number rounded to `digits` significant digits."""
    return float(f"{value:.{digits}g}")


class Stream:
    """Draws from PCG64, seeded by a name and a number.

    Only the raw 64-bit words of ``PCG64(SeedSequence([crc32(name), seed]))`` are used, which
    numpy guarantees to stay as they are (it does not for `Generator`'s distributions). Every draw
    takes exactly one word.

    Parameters
    ----------
    name : str
        What the numbers are for; two names give independent streams.
    seed : int
        Not negative.
    """

    def __init__(self, name: str, seed: int) -> None:
        words = np.random.SeedSequence([zlib.crc32(name.encode()), seed])
        self._bits = np.random.PCG64(words)

    def word(self) -> int:
        """Return 64 random bits."""
        return int(self._bits.random_raw())

    def integer(self, low: int, high: int) -> int:
        """Return an integer from low to high, both included."""
        return low + (self.word() * (high - low + 1) >> 64)

    def uniform(self, low: float, high: float) -> float:
        """Return a number between low and high, rounded to six significant digits."""
        return rounded(low + (high - low) * self.fraction())

    def fraction(self) -> float:
        """Return a number in [0, 1) with all its 53 bits."""
        return (self.word() >> 11) * 2.0**-53

    def magnitude(self, low: int, high: int) -> float:
        """Return m × 10^e with m in [1, 10) and an integer e from low to high, both included."""
        exponent = self.integer(low, high)
        return float(f"{self.uniform(1, 10):.{DIGITS}g}e{exponent}")

    def length(self, bits: int) -> int:
        """Return an integer from 1 to 2^bits - 1, each number of binary digits equally likely."""
        size = self.integer(0, bits - 1)
        return self.integer(2**size, 2 ** (size + 1) - 1)

    def choice(self, items: Sequence[Item]) -> Item:
        """Return one of the items."""
        return items[self.integer(0, len(items) - 1)]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in random order (Fisher-Yates from the back)."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.integer(0, last)
            result[last], result[other] = result[other], result[last]
        return result
