"""Two exact methods for small MMKPs in integer arithmetic, independent of any solver's search."""

from __future__ import annotations

import math
from dataclasses import dataclass

from heuristics.mmkp import heu
from instances import stopwatch
from instances.mmkp import MMKP, ItemClass, Selection

from .mmkp_bounds import lp_multipliers
from .mmkp_solvers import Progress

Amounts = tuple[int, ...]


def _options(group: ItemClass) -> list[tuple[int | None, int, Amounts | None]]:
    """Return a class's choices: position, profit, weights (None, 0, None for choosing nothing)."""
    options: list[tuple[int | None, int, Amounts | None]] = [
        (j, int(item.profit), tuple(int(w) for w in item.weights))
        for j, item in enumerate(group.items)
    ]
    return [*options, (None, 0, None)] if group.optional else options


def _least(problem: MMKP) -> list[Amounts]:
    """Return, per class and one beyond, what all classes from there on must use at least."""
    least = [tuple(0 for _ in problem.capacities)]
    for group in reversed(problem.classes):
        needs = (
            (0,) * len(problem.capacities)
            if group.optional
            else (min(int(i.weights[r]) for i in group.items) for r in range(len(least[0])))
        )
        least.append(tuple(a + b for a, b in zip(needs, least[-1], strict=True)))
    return least[::-1]


@dataclass(frozen=True)
class _State:
    profit: int
    used: Amounts
    choice: int | None = None
    before: _State | None = None

    def selection(self) -> Selection:
        chosen: list[int | None] = []
        state = self
        while state.before is not None:
            chosen.append(state.choice)
            state = state.before
        return tuple(reversed(chosen))


def dynamic_programme(problem: MMKP, time_limit: float | None = None) -> Progress:
    """Return an integer MMKP's optimum by a dynamic programme over non-dominated states.

    Classes one after another; of two partial selections the one that uses no less of any resource
    and earns no more is dropped, as is one that leaves too little for the classes to come
    (Nemhauser and Ullmann 1969, in several dimensions). Meant for few classes or few resources.
    """
    ends = math.inf if time_limit is None else stopwatch.seconds() + time_limit
    capacities = [int(c) for c in problem.capacities]
    states = [_State(0, tuple(0 for _ in capacities))]
    largest = 1
    for group, least in zip(problem.classes, _least(problem)[1:], strict=True):
        limits = tuple(c - need for c, need in zip(capacities, least, strict=True))
        kept = _undominated(_extend(states, group, limits), ends)
        if kept is None:
            return Progress(None, None, "time_limit", {"states": largest})
        states = kept
        largest = max(largest, len(states))
    best = max(states, key=lambda state: state.profit, default=None)
    if best is None:
        return Progress(None, None, None, {"states": largest})
    return Progress(best.selection(), best.profit, None, {"states": largest})


def _extend(states: list[_State], group: ItemClass, limits: Amounts) -> list[_State]:
    extended: dict[Amounts, _State] = {}
    for state in states:
        for choice, profit, weights in _options(group):
            used = state.used
            if weights is not None:
                used = tuple(u + w for u, w in zip(used, weights, strict=True))
            if any(u > limit for u, limit in zip(used, limits, strict=True)):
                continue
            earned = state.profit + profit
            if used not in extended or extended[used].profit < earned:
                extended[used] = _State(earned, used, choice, state)
    return list(extended.values())


def _undominated(states: list[_State], ends: float) -> list[_State] | None:
    """Return the states that no other one beats or equals in profit and every resource.

    None when the time is up.
    """
    kept: list[_State] = []
    for state in sorted(states, key=lambda s: (-s.profit, s.used)):
        if stopwatch.seconds() > ends:
            return None
        if not any(all(a <= b for a, b in zip(k.used, state.used, strict=True)) for k in kept):
            kept.append(state)
    return kept


def branch_and_bound(problem: MMKP, time_limit: float | None = None) -> Progress:
    """Return an integer MMKP's optimum by depth-first branch and bound.

    With multipliers u >= 0 a partial selection earns at most its profit, plus what the resources
    left are worth (``Σ_r u_r left_r``), plus each open class's best reduced profit
    ``p - Σ_r u_r w_r`` (`mmkp_bounds.lagrangian_bound`). The multipliers come from the LP, but any
    would do: the bound is evaluated in integers. Classes with one outstanding item come first.
    """
    return _Tree(problem, time_limit).search()


class _Tree:
    def __init__(self, problem: MMKP, time_limit: float | None) -> None:
        self._ends = math.inf if time_limit is None else stopwatch.seconds() + time_limit
        self._problem = problem
        multipliers = lp_multipliers(problem)
        self._scale = math.lcm(*(u.denominator for u in multipliers))
        self._prices = [int(u * self._scale) for u in multipliers]
        ranked = [self._ranked(group) for group in problem.classes]
        self._order = sorted(range(len(ranked)), key=lambda i: self._lead(ranked[i]), reverse=True)
        self._ranked_options = [ranked[i] for i in self._order]
        self._open = [0]
        for options in reversed(self._ranked_options):
            self._open.append(self._open[-1] + options[0][0])
        self._open.reverse()
        self._least = _least(
            MMKP(tuple(problem.classes[i] for i in self._order), problem.capacities)
        )
        self._zero = tuple(0 for _ in problem.capacities)
        start = heu(problem)
        self._best = start
        self._profit = -math.inf if start is None else int(problem.profit(start))
        self._chosen: list[int | None] = [None] * len(ranked)
        self._nodes = 0
        self._stopped = False

    def _ranked(self, group: ItemClass) -> list[tuple[int, int | None, int, Amounts | None]]:
        """Return a class's options by reduced profit, in units of 1 / scale, best first."""
        options = [
            (self._scale * profit - self._cost(weights), j, profit, weights)
            for j, profit, weights in _options(group)
        ]
        return sorted(options, key=lambda option: -option[0])

    def _cost(self, weights: Amounts | None) -> int:
        return sum(p * w for p, w in zip(self._prices, weights, strict=True)) if weights else 0

    @staticmethod
    def _lead(options: list[tuple[int, int | None, int, Amounts | None]]) -> float:
        return options[0][0] - options[1][0] if len(options) > 1 else math.inf

    def search(self) -> Progress:
        left = tuple(int(c) for c in self._problem.capacities)
        worth = sum(p * c for p, c in zip(self._prices, left, strict=True))
        root = (worth + self._open[0]) // self._scale
        self._descend(0, 0, worth, left)
        statistics = {"nodes": self._nodes}
        if self._stopped:
            return Progress(self._best, root, "time_limit", statistics)
        bound = None if self._best is None else int(self._profit)
        return Progress(self._best, bound, None, statistics)

    def _descend(self, depth: int, profit: int, worth: int, left: Amounts) -> None:
        """Extend a selection of the first classes; `worth` prices its profit's room to grow."""
        if depth == len(self._order):
            if profit > self._profit:
                self._profit, self._best = profit, tuple(self._chosen)
            return
        later, least = self._open[depth + 1], self._least[depth + 1]
        for reduced, choice, gain, weights in self._ranked_options[depth]:
            if (worth + reduced + later) // self._scale <= self._profit or self._stopped:
                return
            self._nodes += 1
            if self._nodes % 4096 == 0 and stopwatch.seconds() > self._ends:
                self._stopped = True
            after = left
            if weights is not None:
                after = tuple(a - w for a, w in zip(left, weights, strict=True))
            if any(a < need for a, need in zip(after, least, strict=True)):
                continue
            self._chosen[self._order[depth]] = choice
            self._descend(depth + 1, profit + gain, worth + reduced, after)
