"""What keeps floating-point and 32-bit solvers honest on an MMKP: coarser rows, and cover cuts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from instances.mmkp import MMKP, Item, ItemClass, Selection

#: A choice: (class, item).
Choice = tuple[int, int]


def relaxed(problem: MMKP, largest_sum: int) -> MMKP:
    """Return a relaxation of an integer MMKP in which each row's coefficients sum to less.

    A row whose weights sum above `largest_sum` is divided by a whole number and rounded down, its
    capacity too: Σ ⌊w/d⌋ ≤ ⌊Σw / d⌋ ≤ ⌊c/d⌋, so no feasible selection is lost. Rows within the
    limit stay as they are; a capacity is cut back to what a row can use.

    Parameters
    ----------
    problem : MMKP
        In integers (`instances.mmkp.to_integers`).
    largest_sum : int
        Limit on the sum of a row's weights.
    """
    items = [item for group in problem.classes for item in group.items]
    totals = [sum(int(item.weights[r]) for item in items) for r in range(len(problem.capacities))]
    divisors = [max(1, -(-total // largest_sum)) for total in totals]

    def coarse(item: Item) -> Item:
        weights = tuple(w // d for w, d in zip(item.weights, divisors, strict=True))
        return Item(item.profit, weights, item.label)

    capacities = [
        min(c, total) // d for c, total, d in zip(problem.capacities, totals, divisors, strict=True)
    ]
    classes = (ItemClass(tuple(map(coarse, g.items)), g.optional) for g in problem.classes)
    return MMKP(tuple(classes), tuple(capacities), problem.name)


def with_slack(problem: MMKP) -> MMKP:
    """Return an integer MMKP with half a unit more of each resource.

    The same selections are feasible, but none sits within a float solver's tolerance of a row.
    """
    capacities = tuple(capacity + Fraction(1, 2) for capacity in problem.capacities)
    return MMKP(problem.classes, capacities, problem.name)


def cover(problem: MMKP, selection: Selection) -> list[list[int]]:
    """Return, per class, the items of an extended cover inequality that a selection violates.

    Take the selected items of an overused resource, heaviest first, until they alone overuse it: a
    cover C. In each class of C every item at least as heavy as the one in C can stand in for it, so
    if all of C's classes choose such items the resource is overused again:

    ``Σ_{i ∈ C} Σ_{j : w_ij >= w_i} x_ij <= |C| - 1``

    Returns
    -------
    list of list of int
        Positions of items; empty for classes outside the cover. |C| classes are not empty.

    Raises
    ------
    ValueError
        If the selection overuses no resource.
    """
    overused = [r for r, amount in enumerate(problem.excess(selection)) if amount > 0]
    if not overused:
        raise ValueError("the selection overuses no resource")
    r = overused[0]
    weights = {
        i: problem.classes[i].items[j].weights[r] for i, j in enumerate(selection) if j is not None
    }
    result: list[list[int]] = [[] for _ in problem.classes]
    used = Fraction(0)
    for i in sorted(weights, key=lambda i: weights[i], reverse=True):
        items = problem.classes[i].items
        result[i] = [j for j, item in enumerate(items) if item.weights[r] >= weights[i]]
        used += weights[i]
        if used > problem.capacities[r]:
            break
    return result


def choices(cut: Sequence[Sequence[int]]) -> tuple[list[Choice], int]:
    """Return a cover cut's left side as choices, and its right side."""
    left = [(i, j) for i, items in enumerate(cut) for j in items]
    return left, sum(1 for items in cut if items) - 1
