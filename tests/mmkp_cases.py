"""Random small MMKPs and their optimum by trying every selection."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

from instances.mmkp import MMKP, Item, ItemClass, Number, Selection


def random_mmkp(
    rng: random.Random,
    optional: bool = False,
    fractions: bool = False,
    unit: int = 1,
    classes: int = 4,
) -> MMKP:
    """Return a problem of a few classes and resources, capacities around half of what is used.

    Parameters
    ----------
    optional : bool
        Whether classes may go without (each with probability ½).
    fractions : bool
        Whether profits and weights have denominators.
    unit : int
        Weights are about so many times a small number, off by a little.
    """
    resources = rng.randint(1, 3)

    def amount(most: int) -> Number:
        denominator = rng.choice([1, 2, 3, 10]) if fractions else 1
        return Fraction(rng.randint(0, most), denominator)

    def item() -> Item:
        weights = tuple(
            amount(9) * unit + rng.randint(0, min(unit - 1, 3)) for _ in range(resources)
        )
        return Item(amount(20), weights)

    def group() -> ItemClass:
        items = tuple(item() for _ in range(rng.randint(1, 4)))
        return ItemClass(items, optional and rng.random() < 0.5)

    groups = tuple(group() for _ in range(rng.randint(1, classes)))
    capacities = tuple(
        sum((rng.choice(g.items).weights[r] for g in groups), Fraction(0)) + rng.randint(-1, 1) ** 2
        for r in range(resources)
    )
    return MMKP(groups, capacities)


def selections(problem: MMKP) -> itertools.product[int | None]:
    """Return every selection, feasible or not."""
    return itertools.product(
        *([*range(len(g.items)), *([None] if g.optional else [])] for g in problem.classes)
    )


def brute_force(problem: MMKP) -> tuple[Number | None, Selection | None]:
    """Return the optimum and one selection that reaches it; None, None where none is feasible."""
    feasible = [s for s in selections(problem) if problem.feasible(s)]
    if not feasible:
        return None, None
    best = max(feasible, key=problem.profit)
    return problem.profit(best), best
