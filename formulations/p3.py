"""Pyomo model of P3: P2 at a fixed compute share z and memory share λ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances import CostTables, Instance, build_tables

from .points import Point

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


def build_p3(instance: Instance, z: float, lam: float) -> ConcreteModel:
    """Return the Pyomo model of P3 at one (z, λ): each mode has its own part of the memory.

    Parameters
    ----------
    instance : Instance
    z, lam : float
        Compute and memory share of the AD mode, values of the instance's grids.

    Returns
    -------
    pyomo.environ.ConcreteModel
        As `build_p1`, with ``q_ad <= λ R(z)`` and ``q_sd <= (1 - λ) R(z)`` for the joint row.

    Raises
    ------
    ValueError
        If z or λ is not in its grid.
    """
    for name, value, grid in (("z", z, instance.z_grid), ("lam", lam, instance.lambda_grid)):
        if value not in grid:
            raise ValueError(f"{name} = {value} is not in the instance's grid {list(grid)}")
    point = Point(instance.z_grid.index(z), instance.lambda_grid.index(lam))
    return p3_model(build_tables(instance, False), point)


def p3_model(tables: CostTables, point: Point, margin: float = 0.0) -> ConcreteModel:
    """Return the model from tables; `margin` relaxes every row that holds non-integers."""
    import pyomo.environ as pyo

    from .pyomo_model import choices

    model = choices(tables, point, margin)
    room = max(1, point.room(tables))
    ad_room, sd_room = point.split_room(tables)
    if len(model.x):
        model.ad_memory = pyo.Constraint(expr=model.ad.memory <= ad_room / room + margin)
    if len(model.y):
        model.sd_memory = pyo.Constraint(expr=model.sd.memory <= sd_room / room + margin)
    return model
