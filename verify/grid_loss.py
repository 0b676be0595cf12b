"""What a coarse grid of compute shares costs: P1's optimum on it against that on a finer one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import formulations
from formulations.api import DEFAULT_SOLVER
from instances import InputError, Instance, Result, values, worth
from instances.model import GRID_DECIMALS

#: Proven bounds on an optimum.
Interval = tuple[int, int]


@dataclass(frozen=True)
class GridLoss:
    """P1's optima on an instance's Z and on a finer grid that contains it.

    Attributes
    ----------
    coarse, fine : (int, int)
        Proven bounds on both optima; equal ends are certified.
    """

    coarse: Interval
    fine: Interval

    @property
    def proven(self) -> bool:
        """Whether both optima are certified."""
        return self.coarse[0] == self.coarse[1] and self.fine[0] == self.fine[1]

    @property
    def loss(self) -> Interval:
        """Users (or value) that the coarse grid loses: proven bounds."""
        return max(0, self.fine[0] - self.coarse[1]), self.fine[1] - self.coarse[0]


def finer(instance: Instance, points: int) -> Instance:
    """Return the instance with so many equidistant shares z more, 0 and 1 among them.

    Raises
    ------
    InputError
        If fewer than two, or shares that are no decimals of an instance's grid.
    """
    whole = steps(points)
    shares = {float(Fraction(step, whole)) for step in range(points)}
    return instance.model_copy(update={"z_grid": tuple(sorted({*instance.z_grid, *shares}))})


def steps(points: int) -> int:
    """Return the steps between so many equidistant points.

    Raises
    ------
    InputError
        If they are no decimals of an instance's grid.
    """
    if points < 2 or 10**GRID_DECIMALS % (points - 1):
        raise InputError(
            f"a grid of {points} points has no finite decimals; take 11, 21, 51, 101, 201 or 1001"
        )
    return points - 1


def grid_loss(
    instance: Instance,
    points: int = 101,
    coarse: Result | None = None,
    solver: str | None = DEFAULT_SOLVER,
    time_limit: float | None = None,
) -> GridLoss:
    """Return what P1 loses to an instance's grid of z, against one of so many points.

    λ has no part in it: P1 shares the memory, as P2 would with a continuous λ (Proposition 2), so
    what a grid Λ loses is P1's optimum less P2's.

    Parameters
    ----------
    instance : Instance
    points : int
        Equidistant shares of the finer grid, which also holds the instance's own.
    coarse : Result, optional
        P1's result on the instance, if at hand.
    solver : str, optional
        As `formulations.solve` takes it.
    time_limit : float, optional
        Wall seconds for each optimum.

    Raises
    ------
    InputError
        If shares of the finer grid are no decimals.
    """
    fine = finer(instance, points)
    if coarse is None:
        coarse = formulations.solve(instance, solver=solver, time_limit=time_limit)
    found = formulations.solve(fine, solver=solver, time_limit=time_limit, start=coarse)
    return GridLoss(bounds(instance, coarse), bounds(fine, found))


def bounds(instance: Instance, result: Result) -> Interval:
    """Return the proven bounds on an optimum; serving nobody and serving all always bound it."""
    lower = 0 if result.schedule is None else worth(instance, result.schedule)
    return lower, values.total(instance) if result.bound is None else result.bound
