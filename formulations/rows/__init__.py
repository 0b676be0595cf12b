"""The MILP of one point (z, λ) as plain integer rows, in several formulations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from formulations.points import Point
from instances import CostTables

from .compact import build_compact
from .data import Row, Rows

__all__ = [
    "BOXED",
    "FORMULATIONS",
    "STRONGEST",
    "Row",
    "Rows",
    "build_rows",
    "check_formulation",
    "names",
]


def _levels(tables: CostTables, point: Point) -> Rows:
    from .chains import LEVELS, build_point

    return build_point(tables, point, LEVELS)


def _steps(tables: CostTables, point: Point) -> Rows:
    from .chains import STEPS, build_point

    return build_point(tables, point, STEPS)


#: Builders by the name that ``formulation=`` takes.
FORMULATIONS: dict[str, Callable[[CostTables, Point], Rows]] = {
    "compact": build_compact,
    "levels": _levels,
    "steps": _steps,
}
#: Box by box, ``"steps"`` for those that counting leaves (`formulations.boxed`): not one MILP.
BOXED = "boxed"
#: What solvers that know all formulations use by default.
STRONGEST = BOXED


def names() -> tuple[str, ...]:
    """Return what ``formulation=`` may be."""
    return (*FORMULATIONS, BOXED)


def build_rows(tables: CostTables, point: Point, formulation: str = "compact") -> Rows:
    """Return the MILP of one point.

    Raises
    ------
    ValueError
        If no formulation of that name is one MILP.
    """
    if formulation not in FORMULATIONS:
        choices = ", ".join(FORMULATIONS)
        raise ValueError(f"unknown formulation {formulation!r}; choose from {choices}")
    return FORMULATIONS[formulation](tables, point)


def check_formulation(options: Mapping[str, Any]) -> None:
    """Raise ValueError if a solver's options name a formulation that does not exist."""
    name = options.get("formulation", STRONGEST)
    if name not in names():
        raise ValueError(f"unknown formulation {name!r}; choose from {', '.join(names())}")
