"""The MMKP as a Pyomo model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instances.mmkp import MMKP, Item, Number, Selection

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel


def build_mmkp(problem: MMKP) -> ConcreteModel:
    """Return the MMKP as a Pyomo model.

    Maximise ``Σ_i Σ_j p_ij x_ij`` subject to ``Σ_i Σ_j w_ijr x_ij <= c_r`` for each resource r and
    ``Σ_j x_ij = 1`` (``<= 1`` where the class is optional) for each class i, x binary.

    Parameters
    ----------
    problem : MMKP

    Returns
    -------
    pyomo.environ.ConcreteModel
        Variables ``x[i, j]`` (class i, item j, both from 0), constraints ``one[i]`` and
        ``resource[r]``, objective ``profit``, and an empty list ``cuts``. Rows without variables
        are left out.
    """
    import pyomo.environ as pyo

    model = pyo.ConcreteModel(name=problem.name or "MMKP")
    pairs = [(i, j) for i, group in enumerate(problem.classes) for j in range(len(group.items))]
    model.x = pyo.Var(pairs, domain=pyo.Binary)

    def one(model: Any, i: int) -> Any:
        group = problem.classes[i]
        if not group.items:
            return pyo.Constraint.Skip
        total = pyo.quicksum(model.x[i, j] for j in range(len(group.items)))
        return total <= 1 if group.optional else total == 1

    def resource(model: Any, r: int) -> Any:
        weights = {pair: _item(problem, pair).weights[r] for pair in pairs}
        terms = [_float(weight) * model.x[pair] for pair, weight in weights.items() if weight]
        return (
            pyo.quicksum(terms) <= _float(problem.capacities[r]) if terms else pyo.Constraint.Skip
        )

    model.one = pyo.Constraint(range(len(problem.classes)), rule=one)
    model.resource = pyo.Constraint(range(len(problem.capacities)), rule=resource)
    model.profit = pyo.Objective(
        expr=pyo.quicksum(_float(_item(problem, pair).profit) * model.x[pair] for pair in pairs),
        sense=pyo.maximize,
    )
    model.cuts = pyo.ConstraintList()
    return model


def _item(problem: MMKP, choice: tuple[int, int]) -> Item:
    return problem.classes[choice[0]].items[choice[1]]


def _float(value: Number) -> int | float:
    return value if isinstance(value, int) else float(value)


def selection_of(problem: MMKP, model: ConcreteModel) -> Selection:
    """Return the selection that a solved model holds, its values rounded."""
    chosen: list[int | None] = [None] * len(problem.classes)
    for (i, j), variable in model.x.items():
        if round(variable.value):
            chosen[i] = j
    return tuple(chosen)
