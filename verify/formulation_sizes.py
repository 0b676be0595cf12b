"""How large the MILP formulations are and how tight their LP bounds, point by point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from formulations.points import Point
from formulations.rows import FORMULATIONS, Rows, build_rows
from instances import CostTables, Instance, build_tables

#: A formulation and the cuts beside it.
Variant = tuple[str, tuple[str, ...]]


class Size(NamedTuple):
    """One formulation of one instance.

    Attributes
    ----------
    variant : str
        For example ``"compact+pairs"``.
    columns, binaries, rows, entries : int
        Largest over the points.
    bound : float
        The LP bound, largest over the points: what it proves of the instance.
    """

    variant: str
    columns: int
    binaries: int
    rows: int
    entries: int
    bound: float


def variants(cuts: Sequence[str]) -> Iterator[Variant]:
    """Yield every formulation alone, then with each cut and all of them."""
    for name in FORMULATIONS:
        yield name, ()
        for cut in cuts:
            yield name, (cut,)
        if len(cuts) > 1:
            yield name, tuple(cuts)


def sizes(instance: Instance, wanted: Iterable[Variant]) -> list[Size]:
    """Return the sizes and LP bounds of formulations of P1, on the tables built down."""
    tables = build_tables(instance, rounded_up=False)
    return [_size(tables, len(instance.z_grid), *variant) for variant in wanted]


def _size(tables: CostTables, shares: int, name: str, cuts: tuple[str, ...]) -> Size:
    models = [build_rows(tables, Point(z), name, cuts) for z in range(shares)]
    return Size(
        "+".join([name, *cuts]),
        max(len(rows.upper) for rows in models),
        max(sum(rows.integer) for rows in models),
        max(len(rows.rows) for rows in models),
        max(sum(len(row.terms) for row in rows.rows) for rows in models),
        max(lp_bound(rows) for rows in models),
    )


def lp_bound(rows: Rows) -> float:
    """Return the optimum of the rows' linear relaxation."""
    from formulations.grid import Limits
    from formulations.highs import highs_model, new_solver
    from formulations.rows.scaled import scale

    if not rows.upper:
        return 0.0
    solver, model = new_solver(Limits()), highs_model(scale(rows, relaxed=False))
    model.integrality_ = []
    solver.passModel(model)
    solver.run()
    return float(np.round(solver.getInfo().objective_function_value, 9))
