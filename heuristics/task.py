"""`Task`: what an algorithm is asked, and the tables it works on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from instances import CostTables, Instance, Schedule, build_tables
from instances.feasible import fitting_alone


class Found(NamedTuple):
    """A schedule, counters of the algorithm that made it, its bound, and what stopped it early."""

    schedule: Schedule
    statistics: dict[str, Any]
    bound: int | None = None
    stopped_by: str | None = None


@dataclass(frozen=True)
class Task:
    """One instance, and what may be chosen.

    Parameters
    ----------
    instance : Instance
    z, lam : float or None
        A share that is fixed to a value of its grid; None: every value of the grid.
    padded : bool
        Charge memory as the paper's algorithms print it instead of by eqs. (15) and (16).
    effort : int
        How long `balance+` searches, at least 1.
    relaxed : bool
        Work on tables built down: they accept every feasible schedule, and some that are not.
    alone : bool
        Let a user enter a mode only if it holds in rationals that the user fits there alone.

    Raises
    ------
    ValueError
        If a fixed share is not in its grid, or the effort is below 1.
    """

    instance: Instance
    z: float | None = None
    lam: float | None = None
    padded: bool = False
    effort: int = 1
    relaxed: bool = False
    alone: bool = False

    def __post_init__(self) -> None:
        """Refuse a share outside its grid and an effort below 1."""
        _ = self.z_indices, self.lam_indices
        if self.effort < 1:
            raise ValueError(f"effort = {self.effort}: must be at least 1")

    def refuse_padded(self, who: str) -> None:
        """Raise ValueError for an algorithm that is made for the model's memory alone."""
        if self.padded:
            raise ValueError(f"{who}: knows the model's memory (15), (16) only, not the padded one")

    @property
    def z_indices(self) -> list[int]:
        """Positions in the z grid that may be chosen."""
        return _positions("z", self.z, self.instance.z_grid)

    @property
    def lam_indices(self) -> list[int]:
        """Positions in the λ grid that may be chosen."""
        return _positions("lambda", self.lam, self.instance.lambda_grid)

    @cached_property
    def tables(self) -> CostTables:
        """The cost tables; built up (not relaxed), whatever they accept is exactly feasible."""
        tables = build_tables(self.instance, rounded_up=not self.relaxed)
        return fitting_alone(self.instance, tables) if self.alone else tables


def _positions(name: str, share: float | None, grid: tuple[float, ...]) -> list[int]:
    if share is None:
        return list(range(len(grid)))
    if share not in grid:
        raise ValueError(f"{name} = {share} is not in the instance's grid {list(grid)}")
    return [grid.index(share)]
