"""The MILP of one point (z, λ) as plain integer rows, in several formulations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from formulations.points import Point
from instances import CostTables

from .compact import build_compact
from .data import Row, Rows

__all__ = [
    "BOXED",
    "CUTS",
    "FORMULATIONS",
    "STRONGEST",
    "STRONGEST_WEIGHTED",
    "Row",
    "Rows",
    "build_rows",
    "chosen_formulation",
    "cuts_of",
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
#: What ``cuts=`` may hold (`formulations.rows.cuts`).
CUTS = ("pairs", "dominance", "count")
#: What solvers that know all formulations use by default: where users are counted, and where their
#: values differ. (Counting boxes out needs equal values; the rows take any objective.)
STRONGEST, STRONGEST_WEIGHTED = BOXED, "compact"


def names() -> tuple[str, ...]:
    """Return what ``formulation=`` may be."""
    return (*FORMULATIONS, BOXED)


def build_rows(
    tables: CostTables, point: Point, formulation: str = "compact", cuts: Iterable[str] = ()
) -> Rows:
    """Return the MILP of one point.

    Parameters
    ----------
    tables : CostTables
    point : Point
    formulation : str
    cuts : iterable of str
        Names of cuts to add (`formulations.rows.cuts`).

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
    if names := tuple(cuts):
        from .box import setting_at, whole_box
        from .cuts import add_cuts, find_cuts

        setting = setting_at(tables, point, tables.users)
        add_cuts(rows, find_cuts(setting, whole_box(setting), names))
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


def cuts_of(options: Mapping[str, Any], default: str = "none") -> tuple[str, ...]:
    """Return the cuts that a solver's option ``cuts`` names: a list, or text as ``"pairs,count"``.

    ``"all"`` and ``"none"`` are all of them and none. Whoever names a formulation and no cuts gets
    the formulation as it is; `default` is for options that name neither.

    Raises
    ------
    ValueError
        If there is no such cut.
    """
    value = options.get("cuts", "none" if "formulation" in options else default)
    words = value.split(",") if isinstance(value, str) else list(value)
    if words in (["none"], ["all"]):
        return CUTS if words == ["all"] else ()
    for word in words:
        if word not in CUTS:
            raise ValueError(f"unknown cut {word!r}; choose from none, {', '.join(CUTS)}, all")
    return tuple(name for name in CUTS if name in words)
