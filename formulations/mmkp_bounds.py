"""An exact upper bound on an MMKP from inexact dual values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from instances.mmkp import MMKP, ItemClass, Number

#: Bits kept of a multiplier.
_BITS = 40


def lagrangian_bound(problem: MMKP, multipliers: Sequence[Fraction]) -> Fraction:
    """Return the Lagrangian bound ``Σ_r u_r c_r + Σ_i max_j (p_ij - Σ_r u_r w_ijr)``, exactly.

    Any u >= 0 gives an upper bound: a feasible selection's profit is at most its profit plus
    ``Σ_r u_r (c_r - use_r)``, and the classes then maximise independently. At the LP's optimal dual
    values it equals the LP bound. An optional class may also contribute 0.

    Parameters
    ----------
    problem : MMKP
    multipliers : sequence of Fraction
        u, one per resource, >= 0.
    """
    if any(multiplier < 0 for multiplier in multipliers):
        raise ValueError("multipliers must not be negative")
    total = _dot(multipliers, problem.capacities)
    for group in problem.classes:
        total += _best(group, multipliers)
    return total


def _dot(multipliers: Sequence[Fraction], amounts: Sequence[Number]) -> Fraction:
    total = Fraction(0)
    for multiplier, amount in zip(multipliers, amounts, strict=True):
        total += multiplier * Fraction(amount)
    return total


def _best(group: ItemClass, multipliers: Sequence[Fraction]) -> Fraction:
    values = [Fraction(item.profit) - _dot(multipliers, item.weights) for item in group.items]
    return max([*values, Fraction(0)] if group.optional else values)


def lp_multipliers(problem: MMKP) -> tuple[Fraction, ...]:
    """Return the resources' dual values in the LP relaxation as rationals, >= 0."""
    from .mmkp_highs import lp_duals

    return tuple(_rounded(dual) for dual in lp_duals(problem))


def _rounded(value: float) -> Fraction:
    """Return a float as a fraction of few bits, so that bounds stay cheap to evaluate."""
    mantissa, exponent = math.frexp(value)
    power = exponent - _BITS
    return Fraction(round(mantissa * 2**_BITS) * 2 ** max(power, 0), 2 ** max(-power, 0))


def lp_bound(problem: MMKP) -> Fraction:
    """Return the LP relaxation's bound, proven exactly whatever the LP solver's tolerances.

    The LP gives the multipliers, `lagrangian_bound` the bound; it lies within rounding of the LP's
    optimum, never below the MMKP's.
    """
    return lagrangian_bound(problem, lp_multipliers(problem))
