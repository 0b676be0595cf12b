"""The parts that the Pyomo models of P1 and P3 share: choices of modes, and a block per mode.

Every time is a fraction of the latest end that a batch of the mode can have, and every memory a
fraction of R(z): a solver's tolerances mean the same on every instance, and no big M exceeds 1.
Written from the equations through `sides`, not through `rows`, so that each checks the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pyomo.environ as pyo

from instances import CostTables
from instances.costs import Integers

from .points import Point
from .rows.scaled import NEGLIGIBLE

Term = tuple[int, Any]  # ticks or bytes, column


class Sum(NamedTuple):
    """A sum over members that a level multiplies: ``time[level] * Σ_k count[k]``, bytes alike.

    Attributes
    ----------
    count : (K,)
        What a member adds to the sum.
    time, memory : callable
        Ticks and bytes per unit of the sum, by a user who sets the level.
    """

    count: Callable[[int], int]
    time: Callable[[int], int]
    memory: Callable[[int], int]


class Mode(NamedTuple):
    """One mode of the problem, as data of a block.

    Attributes
    ----------
    users : list of int
    share : float
        The mode's share of the GPU, > 0.
    base, memory : (K,)
        Ticks and bytes of a member that no level changes.
    maxima : list
        Per max-term (L1; L3 and L4): its values, and the sums it multiplies.
    lengths : (K,)
        The values whose maximum, L2 or N1, costs `step` ticks a unit.
    step, fixed : int
    """

    users: list[int]
    share: float
    base: Integers
    memory: Integers
    maxima: list[tuple[Integers, list[Sum]]]
    lengths: Integers
    step: int
    fixed: int


def ad_mode(tables: CostTables, point: Point) -> Mode:
    """Return the AD mode's data at a point."""
    t, (share, whole) = tables, point.shares(tables)
    members = Sum(
        lambda k: 1, lambda j: int(t.ad_prefill[j]), lambda j: t.kv_ad * int(t.input_tokens[j])
    )
    slopes = Sum(lambda k: int(t.ad_slope[k]), lambda j: int(t.input_tokens[j]), lambda j: 0)
    return Mode(
        users=point.ad_users(t).tolist(),
        share=share / whole,
        base=t.ad_base,
        memory=t.ad_memory,
        maxima=[(t.input_tokens, [members, slopes])],
        lengths=t.output_tokens,
        step=t.ad_step,
        fixed=0,
    )


def sd_mode(tables: CostTables, point: Point) -> Mode:
    """Return the SD mode's data at a point."""
    t, (share, whole) = tables, point.shares(tables)
    members = Sum(
        lambda k: 1, lambda j: int(t.sd_prefill[j]), lambda j: t.kv_sd * int(t.input_tokens[j])
    )
    slopes = Sum(lambda k: int(t.sd_slope[k]), lambda j: int(t.input_tokens[j]), lambda j: 0)
    pairs = Sum(lambda k: int(t.sd_pairs[k]), lambda j: int(t.sd_growth[j]), lambda j: 0)
    steps = Sum(lambda k: int(t.sd_steps[k]), lambda j: 0, lambda j: int(t.sd_memory_growth[j]))
    return Mode(
        users=point.sd_users(t).tolist(),
        share=(whole - share) / whole,
        base=t.sd_base,
        memory=t.sd_memory,
        maxima=[(t.input_tokens, [members, slopes]), (t.accept_rank, [pairs, steps])],
        lengths=t.iterations,
        step=t.sd_step,
        fixed=t.sd_fixed,
    )


def choices(tables: CostTables, point: Point, margin: float) -> Any:
    """Return a model with the binaries x and y, the objective, and the blocks `ad` and `sd`.

    Parameters
    ----------
    tables : CostTables
    point : Point
    margin : float
        Added to every row that holds non-integers, so that no solver's rounding cuts off a
        feasible schedule.

    Returns
    -------
    pyomo.environ.ConcreteModel
        Each block has an expression `memory`, the mode's bytes as a fraction of R(z).
    """
    model = pyo.ConcreteModel()
    ad, sd = ad_mode(tables, point), sd_mode(tables, point)
    model.x = pyo.Var(ad.users, domain=pyo.Binary, doc="user is served in AD")
    model.y = pyo.Var(sd.users, domain=pyo.Binary, doc="user is served in SD")
    model.served = pyo.Objective(
        expr=pyo.quicksum(
            int(tables.value[k]) * chosen[k] for chosen in (model.x, model.y) for k in chosen
        ),
        sense=pyo.maximize,
    )
    both = [k for k in ad.users if k in set(sd.users)]
    model.one_mode = pyo.Constraint(both, rule=lambda m, k: m.x[k] + m.y[k] <= 1)
    room = max(1, point.room(tables))
    for name, mode, chosen in (("ad", ad, model.x), ("sd", sd, model.y)):
        block = pyo.Block()
        model.add_component(name, block)
        block.memory = pyo.Expression(expr=0.0)
        if mode.users:
            _Builder(block, mode, chosen, tables, margin).build(room)
    return model


def _kept(coefficient: float) -> float:
    """Return a cost's coefficient, or 0 where no solver would notice it (a relaxation)."""
    return coefficient if coefficient > NEGLIGIBLE else 0.0


class _Builder:
    """Fills a mode's block."""

    def __init__(
        self, block: Any, mode: Mode, chosen: Any, tables: CostTables, margin: float
    ) -> None:
        self.block, self.mode, self.chosen = block, mode, chosen
        self.tables, self.margin = tables, margin
        self.work: list[Term] = [(int(mode.base[k]), chosen[k]) for k in mode.users]
        self.bytes: list[Term] = [(int(mode.memory[k]), chosen[k]) for k in mode.users]
        self.heaviest = sum(int(mode.base[k]) for k in mode.users)

    def build(self, room: int) -> None:
        """Add the max-terms, the time row and the expression of the memory."""
        for number, (values, sums) in enumerate(self.mode.maxima, 1):
            self._maximum(number, values, sums)
        self._time()
        cache = pyo.quicksum(_kept(size / room) * column for size, column in self.bytes)
        self.block.memory.set_value(cache)

    def _maximum(self, number: int, values: Integers, sums: list[Sum]) -> None:
        """Add one max-term: a one-hot level, and its sums, each on the chosen level only."""
        users, block, x = self.mode.users, self.block, self.chosen
        groups: dict[int, list[int]] = {}
        for k in sorted(users, key=lambda k: int(values[k])):
            groups.setdefault(int(values[k]), []).append(k)
        levels = list(groups)
        level = pyo.Var(levels, domain=pyo.Binary, doc="this value is the maximum")
        block.add_component(f"level_{number}", level)
        self._rows(f"one_level_{number}", [0], lambda _: pyo.quicksum(level.values()) == 1)
        self._rows(
            f"admits_{number}",
            users,
            lambda k: x[k] <= pyo.quicksum(level[v] for v in levels if v >= values[k]),
        )
        for position, item in enumerate(sums, 1):
            self._sum(f"{number}_{position}", groups, level, item)

    def _sum(self, name: str, groups: dict[int, list[int]], level: Any, item: Sum) -> None:
        """Add a sum, as parts of its caps: ``part <= level`` and ``Σ cap part >= Σ count x``."""
        most, cap = 0, {}
        for value, group in groups.items():
            most += sum(item.count(k) for k in group)
            cap[value] = most
        if not most:
            return
        part = pyo.Var(list(groups), bounds=(0, 1), doc="share of the sum's cap on this level")
        self.block.add_component(f"part_{name}", part)
        self._rows(f"only_{name}", groups, lambda v: part[v] <= level[v])
        held = pyo.quicksum(cap[v] / most * part[v] for v in groups)
        total = pyo.quicksum(_kept(item.count(k) / most) * self.chosen[k] for k in self.mode.users)
        self._rows(f"total_{name}", [0], lambda _: total - held <= self.margin)
        for value, group in groups.items():
            self.work.append((item.time(group[0]) * cap[value], part[value]))
            self.bytes.append((item.memory(group[0]) * cap[value], part[value]))
        self.heaviest += most * max(item.time(group[0]) for group in groups.values())

    def _time(self) -> None:
        """Add ``work / share + upload + step length + fixed <= deadline`` and its maxima."""
        mode, tables, x = self.mode, self.tables, self.chosen
        users, margin = mode.users, self.margin
        upload = {k: int(tables.upload[k]) for k in users}
        passes = {k: mode.step * int(mode.lengths[k]) + mode.fixed for k in users}
        deadline = {k: int(tables.deadline[k]) for k in users}
        latest = max(upload.values()) + max(passes.values()) + self.heaviest / mode.share
        unit = max(1, mode.fixed, min(latest, max(deadline.values())))
        block = self.block
        block.deadline = pyo.Var(bounds=(0, 1), doc="earliest deadline")
        self._rows(
            "min_deadline",
            users,
            lambda k: block.deadline + _kept(1 - min(1.0, deadline[k] / unit)) * x[k] <= 1 + margin,
        )
        late = self._latest("upload", upload) / unit + self._latest("passes", passes) / unit
        work = pyo.quicksum(_kept(ticks / unit) * column for ticks, column in self.work)
        block.on_time = pyo.Constraint(
            expr=work - self.mode.share * (block.deadline - late) <= margin
        )

    def _latest(self, name: str, values: dict[int, int]) -> Any:
        """Add the members' maximum as a fraction of everyone's; return it in ticks."""
        most = max(1, *values.values())
        column = pyo.Var(bounds=(0, 1), doc=f"largest {name} over the largest possible")
        self.block.add_component(name, column)
        self._rows(
            f"max_{name}",
            values,
            lambda k: _kept(values[k] / most) * self.chosen[k] - column <= self.margin,
        )
        return most * column

    def _rows(self, name: str, index: Iterable[int], rule: Callable[..., Any]) -> None:
        """Add one constraint per index."""
        rows = pyo.Constraint(list(index), rule=lambda _, k: rule(k))
        self.block.add_component(name, rows)
