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
    "STRONGEST_WEIGHTED",
    "Row",
    "Rows",
    "build_rows",
    "chosen_formulation",
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
#: What solvers that know all formulations use by default: where users are counted, and where their
#: values differ. (Counting boxes out needs equal values; the rows take any objective.)
STRONGEST, STRONGEST_WEIGHTED = BOXED, "compact"


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
    rows = FORMULATIONS[formulation](tables, point)
    rows.count(tables.value)
    return rows


def chosen_formulation(options: Mapping[str, Any], weighted: bool) -> str:
    """Return the formulation that a solver's options name, or the strongest there is.

    Raises
    ------
    ValueError
        If it does not exist, or only counts users where their values differ.
    """
    name: str = options.get("formulation", STRONGEST_WEIGHTED if weighted else STRONGEST)
    choices = tuple(FORMULATIONS) if weighted else names()
    if name in names() and name not in choices:
        raise ValueError(
            f"formulation {name!r} counts users, but their values differ; "
            f"choose from {', '.join(choices)}"
        )
    if name not in choices:
        raise ValueError(f"unknown formulation {name!r}; choose from {', '.join(choices)}")
    return name
