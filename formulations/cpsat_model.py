"""One CP-SAT model for a whole request: modes, z and λ together, on coarse integers.

CP-SAT proves wrong optima when the coefficients of a row sum above 2^31, so times and bytes are
coarsened until every row stays below `LARGEST_ROW`: costs down and budgets up for tables built down
(the model stays a relaxation), the other way for tables built up.

A max-term is a chain of literals "level >= i"; each choice of a user implies its own. Costs grow
with the level, so rows ``work >= Σ cost at level i``, each enforced by its "level >= i", hold the
work to the cost at the level chosen. Deadline, upload and per-pass time are integer variables that
each chosen user bounds. An empty mode leaves them free, and its rows hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from instances import CostTables
from instances.assignment import AD, SD, Assignment
from instances.costs import Integers

from .backend import Request
from .covers import Cover
from .points import Point, Users
from .rows import cuts_of
from .rows.cuts import Cuts, find_everywhere
from .sides import Cost, Side, ad_side, sd_side

#: No row's coefficients, times what its integer variables can reach, sum to more.
LARGEST_ROW = 2**30
#: What measured best (docs/milp.md).
DEFAULT_CUTS = "pairs,dominance"
#: Larger denominators are replaced by it, the shares rounded like budgets.
LARGEST_DENOMINATOR = 1000

Literals = dict[int, Any]  # user, or position in a grid -> literal


@dataclass(frozen=True)
class Coarse:
    """Rounds ticks or bytes to units, towards the relaxation or (`up`) away from it."""

    unit: int
    up: bool

    def cost(self, value: int) -> int:
        """Return a cost in units."""
        return -(-value // self.unit) if self.up else value // self.unit

    def budget(self, value: int) -> int:
        """Return a budget in units."""
        return value // self.unit if self.up else -(-value // self.unit)


class CpSatModel:
    """The model of a request on one set of tables.

    Parameters
    ----------
    tables : CostTables
    request : Request
    """

    def __init__(self, tables: CostTables, request: Request) -> None:
        self.tables, self.request = tables, request
        self.model = cp_model.CpModel()
        self.z: Literals = {z: self._bool() for z in request.z_indices}
        self.lam: Literals = {lam: self._bool() for lam in request.lam_indices or ()}
        self.model.add_exactly_one(self.z.values())
        if self.lam:
            self.model.add_exactly_one(self.lam.values())
        points = [Point(z, None, request.allow_ad, request.allow_sd) for z in request.z_indices]
        self.ad = self._choices(points, [point.ad_users(tables) for point in points])
        self.sd = self._choices(points, [point.sd_users(tables) for point in points])
        for k in self.ad.keys() & self.sd.keys():
            self.model.add_at_most_one([self.ad[k], self.sd[k]])
        self.objective = sum(
            int(tables.value[k]) * x for side in (self.ad, self.sd) for k, x in side.items()
        )
        self.model.maximize(self.objective)
        self.chains: dict[tuple[int, int], list[tuple[Any, int]]] = {}
        self._rows()
        if names := cuts_of(request.options, DEFAULT_CUTS):
            self._cuts(find_everywhere(tables, points, names))

    def require(self, objective: int) -> None:
        """Add the cutoff: an objective of at least so much."""
        self.model.add(self.objective >= objective)

    def add(self, point: Point, cover: Cover) -> None:
        """Add a cover cut that holds at one point."""
        terms = [self.ad[int(k)] for k in cover.ad] + [self.sd[int(k)] for k in cover.sd]
        here = [self.z[point.z_index]]
        if point.lam_index is not None:
            here.append(self.lam[point.lam_index])
        self.model.add(sum(terms) <= cover.limit).only_enforce_if(here)

    def assignment(self, chosen: Callable[[Any], bool]) -> Assignment:
        """Return a solution, given the test of a literal."""
        modes = np.zeros(self.tables.users, np.int8)
        for mode, choices in ((AD, self.ad), (SD, self.sd)):
            for k, literal in choices.items():
                if chosen(literal):
                    modes[k] = mode
        z_index = next(z for z, literal in self.z.items() if chosen(literal))
        lam_index = next((lam for lam, literal in self.lam.items() if chosen(literal)), None)
        return Assignment(modes, z_index, lam_index)

    def _bool(self) -> Any:
        return self.model.new_bool_var("")

    def _integer(self, most: int) -> Any:
        return self.model.new_int_var(0, most, "")

    def _choices(self, points: list[Point], allowed: list[Users]) -> Literals:
        """A literal per user allowed at some z, false at the z that do not allow it."""
        everyone = sorted({int(k) for users in allowed for k in users})
        choices = {k: self._bool() for k in everyone}
        for point, users in zip(points, allowed, strict=True):
            for k in choices.keys() - set(users.tolist()):
                self.model.add_implication(choices[k], ~self.z[point.z_index])
        return choices

    def _rows(self) -> None:
        """Add both modes' time rows and the memory rows."""
        tables, whole = self.tables, self.tables.z_denominator
        numerators = {z: int(tables.z_numerator[z]) for z in self.z}
        modes = [
            (self.ad, ad_side(tables), numerators),
            (self.sd, sd_side(tables), {z: whole - share for z, share in numerators.items()}),
        ]
        room = max(0, *(int(tables.room[z]) for z in self.z))
        heaviest = sum(
            _most(layer.values, layer.memory, choices, room)
            for choices, side, _ in modes
            for layer in side.layers
        )
        unit = Coarse(-(-(heaviest + 2 * room) // LARGEST_ROW) or 1, tables.rounded_up)
        caches: list[list[Any]] = []
        for choices, side, shares in modes:
            chains = [self._chain(choices, layer.values) for layer in side.layers]
            number = len(caches)
            self.chains |= {(number, t): chain for t, chain in enumerate(chains)}
            if choices:
                self._time(choices, side, chains, shares)
            costs = [layer.memory for layer in side.layers] if choices else []
            most = unit.budget(room)
            caches.append([
                self._held(choices, chain, cost, unit, most)
                for chain, cost in zip(chains, costs, strict=False)
            ])  # fmt: skip
        self._memory(unit, *caches)

    def _chain(self, choices: Literals, values: Integers) -> list[tuple[Any, int]]:
        """Return, per level, the literal "level >= this" and a user who has this value."""
        levels: dict[int, int] = {}
        for k in sorted(choices, key=lambda k: int(values[k])):
            levels.setdefault(int(values[k]), k)
        literal = {value: self._bool() for value in levels}
        for lower, higher in pairwise(literal.values()):
            self.model.add_implication(higher, lower)
        for k, choice in choices.items():
            self.model.add_implication(choice, literal[int(values[k])])
        return [(literal[value], k) for value, k in levels.items()]

    def _held(
        self,
        choices: Literals,
        chain: list[tuple[Any, int]],
        cost: Cost,
        unit: Coarse,
        most: int,
    ) -> Any:
        """Return a variable that is at least the members' summed cost at the level chosen."""
        total = self._integer(most)
        for literal, level in chain:
            terms = [min(unit.cost(cost(k, level)), most + 1) * x for k, x in choices.items()]
            self.model.add(total >= sum(terms)).only_enforce_if(literal)
        return total

    def _time(
        self,
        choices: Literals,
        side: Side,
        chains: list[list[tuple[Any, int]]],
        shares: dict[int, int],
    ) -> None:
        """Add ``q Σ work <= p (deadline - upload - step length - fixed)`` for every z."""
        tables, users = self.tables, list(choices)
        whole = min(tables.z_denominator, LARGEST_DENOMINATOR)
        reach = max(side.fixed, int(tables.deadline[users].max()))
        heaviest = sum(_most(layer.values, layer.time, choices, reach) for layer in side.layers)
        largest = max(heaviest + reach, 5 * whole * reach)
        unit = Coarse(-(-largest // LARGEST_ROW) or 1, tables.rounded_up)
        top = max(unit.budget(reach), unit.cost(side.fixed))
        deadline, upload, passes = self._integer(top), self._integer(top), self._integer(top)
        for k, chosen in choices.items():
            latest = min(top, max(0, unit.budget(int(tables.deadline[k]))))
            sent = min(top, unit.cost(int(tables.upload[k])))
            spent = min(top, unit.cost(side.step * int(side.lengths[k])))
            self.model.add(deadline <= latest).only_enforce_if(chosen)
            self.model.add(upload >= sent).only_enforce_if(chosen)
            self.model.add(passes >= spent).only_enforce_if(chosen)
        work = sum(
            self._held(choices, chain, layer.time, unit, top)
            for chain, layer in zip(chains, side.layers, strict=True)
        )
        budget = deadline - upload - passes - unit.cost(side.fixed)
        for z, literal in self.z.items():
            share = Coarse(tables.z_denominator, tables.rounded_up).budget(shares[z] * whole)
            self.model.add(whole * work <= share * budget).only_enforce_if(literal)

    def _cuts(self, cuts: Cuts) -> None:
        """Add cuts that hold at every z."""
        users = self.tables.users
        chosen = {**self.ad, **{k + users: y for k, y in self.sd.items()}}
        for clique in cuts.cliques:
            self.model.add_at_most_one([chosen[c] for c in clique if c in chosen])
        for choices, first in cuts.served:
            serving = [chosen[c] for c in (first, first + users) if c in chosen]
            for choice in choices:
                self.model.add_bool_or([~chosen[choice], *serving])
        for (side, t), chain in self.chains.items() if cuts.caps else ():
            members = list((self.ad, self.sd)[side].values())
            above = np.maximum.accumulate(cuts.caps[side][t][::-1])[::-1]
            for (literal, _), most in zip(chain, above.tolist(), strict=True):
                if most < len(members):
                    self.model.add(sum(members) <= most).only_enforce_if(literal)

    def _memory(self, unit: Coarse, ad: list[Any], sd: list[Any]) -> None:
        """Add the joint memory row per z, or both rows per (z, λ)."""
        tables = self.tables
        for z, here in self.z.items():
            if not self.lam:
                room = unit.budget(max(0, int(tables.room[z])))
                self.model.add(sum(ad + sd) <= room).only_enforce_if(here)
            for lam, split in self.lam.items():
                for cache, rooms in ((ad, tables.ad_room), (sd, tables.sd_room)):
                    room = unit.budget(max(0, int(rooms[z, lam])))
                    self.model.add(sum(cache) <= room).only_enforce_if([here, split])


def _most(values: Integers, cost: Cost, users: Iterable[int], cap: int) -> int:
    """Return the users' summed costs at the highest level, none above `cap` + 1."""
    members = list(users)
    if not members:
        return 0
    level = max(members, key=lambda k: int(values[k]))
    return sum(min(cost(k, level), cap + 1) for k in members)
