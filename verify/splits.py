"""What the grid Λ of memory splits costs: Proposition 2, and Theorem 1 for any Λ with 0 and 1.

The optima are certified solutions on the same tables as the algorithms' own; with few users
(`brute.MOST_TRIED`) all batches are tried in rationals besides, and both optima must agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import formulations
import heuristics
from instances import Instance, Schedule
from instances.exact import ad_memory, room, sd_memory
from instances.model import GRID_DECIMALS
from instances.randomness import Stream

from .brute import Brute, agree
from .claims import Case, Claim
from .judge import check
from .optima import optimum

#: Sizes of the equidistant grids Λ.
SIZES = (3, 6, 11, 21, 101)
#: Every pair of sizes of which the second grid holds all values of the first.
NESTED = ((3, 11), (6, 11), (11, 21), (21, 101))
OWN = "Λ with P1's own split"
ENDS, RANDOM = "Λ = {0, 1}", "random Λ"

#: Certified by enumeration, so that neither claim rests on a cleverer solver.
SOLVER = "exhaustive"


def examine_finite(instance: Instance, stream: Stream) -> list[Case]:
    """Compare P2's optimum over grids of several sizes with P1's, and with P1's own split.

    P2 may lie below P1 (erratum E4), but not below half of it (structure point 3), never above,
    and no finer grid below a coarser one that it contains.
    """
    brute = Brute(instance)
    p1 = agree(instance, "P1", optimum(instance, solver=SOLVER), brute)
    p2 = {size: _p2(instance, equidistant(size), brute) for size in SIZES}
    falls = {fine: coarse for coarse, fine in NESTED if p2[fine] < p2[coarse]}
    cases = []
    for size in SIZES:
        fault = _outside(p2[size], p1)
        if size in falls:
            fault = f"P2 serves {p2[size]}, with the coarser Λ of {falls[size]} more"
        cases.append(Case(f"|Λ| = {size}", p2[size], p1, fault))
    own = own_split(instance)
    if own is not None:
        served = _p2(instance, own, brute)
        fault = "" if served == p1 else f"P2 serves {served}, P1 {p1}"
        cases.append(Case(OWN, served, p1, fault))
    return cases


def examine_half(instance: Instance, stream: Stream) -> list[Case]:
    """Compare Algorithm 3 with P1's optimum for Λ = {0, 1}, a random one and the instance's."""
    best = agree(instance, "P1", optimum(instance, solver=SOLVER))
    grids = {ENDS: (0.0, 1.0), RANDOM: random_grid(stream), "Λ in tenths": equidistant(11)}
    cases = []
    for group, grid in grids.items():
        split = with_split(instance, grid)
        schedule = heuristics.solve(split).schedule
        assert schedule is not None, "Algorithm 3 always has a schedule"
        broken = check(split, schedule, "P2").violations
        fault = f"breaks {', '.join(broken)}" if broken else _outside(schedule.served, best)
        cases.append(Case(group, schedule.served, best, fault))
    return cases


def equidistant(size: int) -> tuple[float, ...]:
    """Return `size` values from 0 to 1 in equal steps."""
    return tuple(step / (size - 1) for step in range(size))


def random_grid(stream: Stream) -> tuple[float, ...]:
    """Return 0, 1 and up to four whole percentages between."""
    drawn = {stream.integer(1, 99) / 100 for _ in range(stream.integer(0, 4))}
    return (0.0, *sorted(drawn), 1.0)


def own_split(instance: Instance) -> tuple[float, ...] | None:
    """Return a grid with a split that suits one optimal schedule of P1, so that P2 equals P1.

    Any λ with ``q_ad <= λ R`` and ``q_sd <= (1 - λ) R`` will do. None where no decimal of the
    length that instances allow lies between, or nobody can be served.
    """
    schedule = formulations.solve(instance, solver=SOLVER, start=False).schedule
    if schedule is None or not schedule.served:
        return None
    least, most = _interval(instance, schedule)
    share = math.ceil(least * 10**GRID_DECIMALS) / 10**GRID_DECIMALS
    return tuple(sorted({0.0, share, 1.0})) if share <= most else None


def with_split(instance: Instance, lambda_grid: Sequence[float]) -> Instance:
    """Return the instance with another Λ."""
    return instance.model_copy(update={"lambda_grid": tuple(lambda_grid)})


def _p2(instance: Instance, lambda_grid: Sequence[float], brute: Brute) -> int:
    split = with_split(instance, lambda_grid)
    return agree(split, "P2", optimum(split, "P2", solver=SOLVER), brute)


def _interval(instance: Instance, schedule: Schedule) -> tuple[Fraction, Fraction]:
    ad = [instance.users[instance.index[name]] for name in schedule.ad]
    sd = [instance.users[instance.index[name]] for name in schedule.sd]
    total = room(instance, schedule.z)
    return Fraction(ad_memory(instance, ad), total), 1 - sd_memory(instance, sd) / total


def _outside(served: int, best: int) -> str:
    """Return the fault of a number that should lie between half of P1's optimum and all of it."""
    if served > best:
        return f"serves {served}, more than P1's optimum {best}"
    return f"serves {served}, less than half of P1's {best}" if 2 * served < best else ""


_FAMILIES = ("memory-tight", "paper-4a", "deadline-tight", "ties", "tight-half", "printed-trap")

PROPOSITION_2 = Claim(
    "prop2", "Prop. 2: P2 = P1", examine_finite, _FAMILIES, (1, 9), (f"|Λ| = {SIZES[0]}",)
)
THEOREM_1 = Claim(
    "theorem1", "Theorem 1: ½ for any Λ ∋ 0, 1", examine_half, (*_FAMILIES, "no-ad"), (1, 9)
)
