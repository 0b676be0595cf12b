"""Readers of the two file formats in which the MMKP literature keeps its benchmarks.

Both are lines of numbers, with empty lines ignored:

- *Khan* (Khan, Li, Manning and Akbar 2002; the files I01-I13): first ``classes items
  constraints``, then the capacities, then per class a line with its index and one line ``profit
  w1 ... wm`` per item. ``items`` is the most a class has; a class may have fewer. A line that
  starts with "Solutions" ends the data: what follows are published results.
- *Shojaei* (Shojaei, Basten, Geilen and Davoodi 2013; the INST and irregular sets in the ``N M``
  form): first ``classes constraints``, then the capacities, then per class a line with its number
  of items and one line ``profit w1 ... wm`` per item.

The first line tells them apart: three numbers or two. In both exactly one item of a class is
chosen. Numbers are decimals and are read exactly (``4.20`` is 21/5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from .files import InputError, read_text
from .mmkp import MMKP, Item, ItemClass, Number

#: A decimal as these files write it; a bound on the exponent keeps exact numbers small.
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?", re.ASCII)


class _Lines:
    """The numbers of a file line by line; complaints name the file and the line."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = self._numbered(text)
        self.line = 0

    @staticmethod
    def _numbered(text: str) -> Iterator[tuple[int, list[str]]]:
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("Solutions"):
                return
            if line.strip():
                yield number, line.split()

    def error(self, message: str) -> InputError:
        place = f"line {self.line}: " if self.line else ""
        return InputError(f"{self._path}: {place}{message}")

    def next(self) -> list[Number] | None:
        """Return the next line's numbers; None at the end of the data."""
        self.line, words = next(self._lines, (self.line, []))
        return [self._number(word) for word in words] if words else None

    def need(self, what: str, count: int | None = None) -> list[Number]:
        """Return the next line's numbers, which must be there, `count` of them."""
        numbers = self.next()
        if numbers is None:
            raise self.error(f"the data end where {what} should follow")
        if count is not None and len(numbers) != count:
            raise self.error(f"found {len(numbers)} numbers where {what} should be")
        return numbers

    def count(self, value: Number, what: str, least: int = 1) -> int:
        if not isinstance(value, int) or value < least:
            raise self.error(f"{what} must be a whole number from {least} up, found {value}")
        return value

    def _number(self, word: str) -> Number:
        if not _DECIMAL.fullmatch(word):
            shown = word if len(word) <= 40 else word[:37] + "..."
            raise self.error(f"{shown!r} is not a number")
        value = Fraction(word)
        return value.numerator if value.denominator == 1 else value


def load_mmkp(path: str | Path) -> MMKP:
    """Return the MMKP in a file of either format, named after the file.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    InputError
        In one line: the file, the line, what is wrong.
    """
    path = Path(path)
    lines = _Lines(path, read_text(path, may_be_empty=True))
    head = lines.need("'classes items constraints' or 'classes constraints'")
    if len(head) == 3:
        classes, capacities = _khan(lines, head)
    elif len(head) == 2:
        classes, capacities = _shojaei(lines, head)
    else:
        raise lines.error(
            "expected 'classes items constraints' or 'classes constraints', "
            f"found {len(head)} numbers"
        )
    return MMKP(tuple(classes), tuple(capacities), path.name)


def _khan(lines: _Lines, head: list[Number]) -> tuple[list[ItemClass], list[Number]]:
    count = lines.count(head[0], "the number of classes")
    most = lines.count(head[1], "the number of items")
    resources = lines.count(head[2], "the number of constraints")
    capacities = _capacities(lines, resources)
    classes: list[ItemClass] = []
    numbers = lines.next()
    for index in range(1, count + 1):
        if numbers is None:
            raise lines.error(f"the data end where class {index} of {count} should follow")
        if numbers != [index]:
            raise lines.error(f"expected the index of class {index}")
        items: list[Item] = []
        while (numbers := lines.next()) is not None and len(numbers) > 1:
            items.append(_item(lines, numbers, resources))
        if not 1 <= len(items) <= most:
            raise lines.error(f"class {index} has {len(items)} items, not 1 to {most}")
        classes.append(ItemClass(tuple(items)))
    if numbers is not None:
        raise lines.error(f"more follows after class {count}, the last")
    return classes, capacities


def _shojaei(lines: _Lines, head: list[Number]) -> tuple[list[ItemClass], list[Number]]:
    count = lines.count(head[0], "the number of classes")
    resources = lines.count(head[1], "the number of constraints")
    capacities = _capacities(lines, resources)
    classes: list[ItemClass] = []
    for index in range(1, count + 1):
        what = f"the number of items of class {index}"
        size = lines.count(lines.need(what, 1)[0], what)
        items = [
            _item(lines, lines.need(f"item {j} of class {index}"), resources)
            for j in range(1, size + 1)
        ]
        classes.append(ItemClass(tuple(items)))
    if lines.next() is not None:
        raise lines.error(f"more follows after class {count}, the last")
    return classes, capacities


def _capacities(lines: _Lines, resources: int) -> list[Number]:
    capacities = lines.need(f"the {resources} capacities", resources)
    if min(capacities) < 0:
        raise lines.error("a capacity is negative")
    return capacities


def _item(lines: _Lines, numbers: list[Number], resources: int) -> Item:
    if len(numbers) != resources + 1:
        raise lines.error(
            f"an item has a profit and {resources} weights, found {len(numbers)} numbers"
        )
    if min(numbers[1:]) < 0:
        raise lines.error("a weight is negative")
    return Item(numbers[0], tuple(numbers[1:]))
