"""Pyomo model of P1 at a fixed compute share z."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances import CostTables, Instance, build_tables

from .points import Point

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


def build_p1(instance: Instance, z: float) -> ConcreteModel:
    """Return the Pyomo model of P1 at one z: memory is shared by both modes.

    Parameters
    ----------
    instance : Instance
    z : float
        Compute share of the AD mode, a value of the instance's z grid.

    Returns
    -------
    pyomo.environ.ConcreteModel
        Maximises ``served``; binaries ``x[k]`` (AD) and ``y[k]`` (SD) by the user's position in
        ``instance.users``, only for users who fit the mode at all. Times are fractions of the
        latest end possible and memory of R(z), from tables rounded towards feasibility by less
        than 1 µs a user: recheck a solution with `verify.check`.

    Raises
    ------
    ValueError
        If z is not in the grid.

    Notes
    -----
    P1 with (15), (16) and the latencies of both modes; docs/milp.md lists columns and rows and
    proves that the linearisation is exact. With n = n1 + n3 + n4 levels: 2K + n binaries, at most
    2n + 6 continuous variables and 10K + 2n + 12 rows.
    """
    if z not in instance.z_grid:
        raise ValueError(f"z = {z} is not in the instance's grid {list(instance.z_grid)}")
    return p1_model(build_tables(instance, False), Point(instance.z_grid.index(z)))


def p1_model(tables: CostTables, point: Point, margin: float = 0.0) -> ConcreteModel:
    """Return the model from tables; `margin` relaxes every row that holds non-integers."""
    import pyomo.environ as pyo

    from .pyomo_model import choices

    model = choices(tables, point, margin)
    if len(model.x) + len(model.y):
        model.memory = pyo.Constraint(expr=model.ad.memory + model.sd.memory <= 1 + margin)
    return model
