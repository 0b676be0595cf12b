"""The multiple-choice multidimensional knapsack problem (MMKP): data, and its exact arithmetic.

Choose one item per class (or at most one, where the class is optional), so that no resource is
used beyond its capacity and the total profit is as large as possible.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Number = int | Fraction
#: Position of the chosen item in each class; None where nothing is chosen.
Selection = tuple[int | None, ...]


def _number(value: Any, what: str) -> Number:
    """Return an exact number as int where it is whole, refusing floats and the like."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else value
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{what} must be an int or a Fraction, not {value!r}") from None


def _amounts(values: Sequence[Any], what: str) -> tuple[Number, ...]:
    numbers = tuple(_number(value, what) for value in values)
    if any(number < 0 for number in numbers):
        raise ValueError(f"{what} must not be negative")
    return numbers


@dataclass(frozen=True)
class Item:
    """One candidate of a class.

    Parameters
    ----------
    profit : int or Fraction
        What choosing it earns; may be negative.
    weights : tuple of int or Fraction
        What it uses of each resource, >= 0.
    label : str, optional
        For people, and for mappings back to where the item came from.
    """

    profit: Number
    weights: tuple[Number, ...]
    label: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "profit", _number(self.profit, "a profit"))
        object.__setattr__(self, "weights", _amounts(self.weights, "a weight"))


@dataclass(frozen=True)
class ItemClass:
    """Items of which one is chosen.

    Parameters
    ----------
    items : tuple of Item
        The candidates. Only an optional class may have none.
    optional : bool
        False: exactly one item is chosen; True: at most one.
    """

    items: tuple[Item, ...]
    optional: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(self.items))
        if not self.items and not self.optional:
            raise ValueError("a class of which exactly one item is chosen must have items")


@dataclass(frozen=True)
class MMKP:
    """A multiple-choice multidimensional knapsack problem.

    Parameters
    ----------
    classes : tuple of ItemClass
    capacities : tuple of int or Fraction
        What there is of each resource, >= 0.
    name : str, optional
        For people.

    Raises
    ------
    ValueError
        If a number is no int or Fraction, a weight or a capacity is negative, or an item has not
        one weight per resource; classes and items are counted from 1.
    """

    classes: tuple[ItemClass, ...]
    capacities: tuple[Number, ...]
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(self.classes))
        object.__setattr__(self, "capacities", _amounts(self.capacities, "a capacity"))
        for i, group in enumerate(self.classes, 1):
            for j, item in enumerate(group.items, 1):
                if len(item.weights) != len(self.capacities):
                    raise ValueError(
                        f"class {i}, item {j}: has {len(item.weights)} weights "
                        f"for {len(self.capacities)} resources"
                    )

    def chosen(self, selection: Selection) -> list[Item]:
        """Return the selected items.

        Raises
        ------
        ValueError
            If the selection has not one entry per class, or names an item that does not exist.
        """
        if len(selection) != len(self.classes):
            raise ValueError(f"{len(selection)} choices for {len(self.classes)} classes")
        items = []
        for i, (group, position) in enumerate(zip(self.classes, selection, strict=True), 1):
            if position is None:
                continue
            if not 0 <= position < len(group.items):
                raise ValueError(f"class {i} has no item at position {position}")
            items.append(group.items[position])
        return items

    def profit(self, selection: Selection) -> Number:
        """Return the selection's profit, exactly."""
        return _number(sum((item.profit for item in self.chosen(selection)), Fraction(0)), "")

    def usage(self, selection: Selection) -> tuple[Number, ...]:
        """Return what the selection uses of each resource, exactly."""
        items = self.chosen(selection)
        return tuple(
            _number(sum((item.weights[r] for item in items), Fraction(0)), "")
            for r in range(len(self.capacities))
        )

    def excess(self, selection: Selection) -> tuple[Number, ...]:
        """Return how far each resource is used beyond its capacity (0 where it is not)."""
        pairs = zip(self.usage(selection), self.capacities, strict=True)
        return tuple(max(0, used - capacity) for used, capacity in pairs)

    def feasible(self, selection: Selection) -> bool:
        """Return whether every class has its item and every resource suffices, exactly."""
        if any(self.excess(selection)):
            return False
        pairs = zip(self.classes, selection, strict=True)
        return all(group.optional or position is not None for group, position in pairs)


def to_integers(problem: MMKP) -> tuple[MMKP, int]:
    """Return the same problem in integers, and the factor by which its profits were multiplied.

    Each resource is multiplied by the least common denominator of its row, all profits by theirs;
    selections, their feasibility and their order by profit stay as they were.
    """
    items = [item for group in problem.classes for item in group.items]
    scale = math.lcm(*(Fraction(item.profit).denominator for item in items))
    rows = [
        math.lcm(
            Fraction(capacity).denominator,
            *(Fraction(item.weights[r]).denominator for item in items),
        )
        for r, capacity in enumerate(problem.capacities)
    ]

    def scaled(item: Item) -> Item:
        weights = tuple(w * row for w, row in zip(item.weights, rows, strict=True))
        return Item(item.profit * scale, weights, item.label)

    classes = tuple(
        ItemClass(tuple(map(scaled, group.items)), group.optional) for group in problem.classes
    )
    capacities = tuple(c * row for c, row in zip(problem.capacities, rows, strict=True))
    return MMKP(classes, capacities, problem.name), scale
