"""The MILP of one point (z, λ) as plain integer rows, in several formulations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from formulations.points import Point
from instances import CostTables

from .compact import build_compact
from .data import Row, Rows

__all__ = ["FORMULATIONS", "Row", "Rows", "build_rows", "check_formulation"]

#: Builders by the name that ``formulation=`` takes.
FORMULATIONS: dict[str, Callable[[CostTables, Point], Rows]] = {"compact": build_compact}


def build_rows(tables: CostTables, point: Point, formulation: str = "compact") -> Rows:
    """Return the MILP of one point.

    Raises
    ------
    ValueError
        If no formulation has that name.
    """
    check_formulation({"formulation": formulation})
    return FORMULATIONS[formulation](tables, point)


def check_formulation(options: Mapping[str, Any]) -> None:
    """Raise ValueError if a solver's options name a formulation that does not exist."""
    name = options.get("formulation", "compact")
    if name not in FORMULATIONS:
        raise ValueError(f"unknown formulation {name!r}; choose from {', '.join(FORMULATIONS)}")
