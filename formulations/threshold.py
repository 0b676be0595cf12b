"""`ThresholdBackend`: the exact optimum by branch and bound over the max-terms' thresholds.

It asks "can G users be served?" for G = incumbent + 1, ... until the answer is no, once for z = 1
and once for all other z together. A question is a depth-first search over boxes of thresholds; its
kernels are in `heuristics`, whose additive algorithm asks easier questions:

- `threshold_levels`  thresholds as levels; which z and λ share a tree
- `threshold_box`     lower bounds on costs in a box; dominance
- `threshold_count`   what counting on sorted costs rules out
- `threshold_bound`   the Lagrangian bound
- `threshold_peg`     what the bound rules out without branching
- `threshold_branch`  where to split
- `threshold_primal`  the exact test of a schedule
- `threshold_search`  the tree

Whatever is cut off is proven empty in floats with a margin that covers every rounding; whatever is
accepted has passed the tables' integers. The search is deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import metadata

import numpy as np

from heuristics.threshold_levels import Levels, Shares, build_levels, trees
from heuristics.threshold_primal import Exact, pack
from heuristics.threshold_search import (
    FOUND,
    FULL,
    LEAVES,
    NODES,
    PAUSED,
    REFUTED,
    grown,
    new_space,
    new_tree,
    plant,
    search,
)
from instances import CostTables, stopwatch
from instances.assignment import Assignment

from .backend import Answer, Backend, Request, check_options

#: Names of the trees: the question asked, and harder ones.
MAIN, PROBE = "main", "probe"
#: Nodes of a question before harder ones are tried.
PATIENCE = 40_000
#: Seconds between two looks at the clock and at Ctrl-C.
SLICE_S = 0.03


class ThresholdBackend:
    """Branch and bound over thresholds; see the module."""

    name = "threshold"

    def version(self) -> str:
        """Return the version of the compiler that the kernels depend on."""
        return _version()

    def check(self, request: Request) -> None:
        """Refuse options: there are none."""
        check_options(self.name, request, frozenset())

    def solve(self, tables: CostTables, request: Request) -> Answer:
        """Maximise the users served (see `formulations.backend.Backend`).

        Raises
        ------
        ValueError
            If no z (or, with λ, no λ) may be chosen.
        """
        if not request.z_indices or request.lam_indices == ():
            raise ValueError("nothing to choose from: z_indices or lam_indices is empty")
        return _Run(tables, request).answer()


@cache  # reading a package's metadata takes longer than a small instance
def _version() -> str:
    return f"numba {metadata.version('numba')}"


def backend() -> Backend:
    """Return the back end."""
    return ThresholdBackend()


class _Stop(Exception):
    """A limit was reached; the argument names it."""


@dataclass
class _Run:
    """One maximisation."""

    tables: CostTables
    request: Request
    started: float = field(default_factory=stopwatch.seconds)

    def __post_init__(self) -> None:
        request = self.request
        self.exact: Exact = pack(self.tables)
        self.levels: Levels = build_levels(self.tables, request.allow_ad, request.allow_sd)
        self.shares = trees(self.tables, request.z_indices, request.lam_indices)
        self.space = new_space(self.levels, self.shares)
        self.trees = {MAIN: new_tree(self.tables.users)}
        self.best = request.start or self._nobody()
        self.most = int(np.count_nonzero(self.levels.options > 1))
        self.slice = 64

    def answer(self) -> Answer:
        uppers = dict.fromkeys(range(len(self.shares)), self.most)
        built = stopwatch.seconds()
        stopped_by = None
        try:
            for i in list(uppers):
                uppers[i] = self._exhaust(self.shares[i], uppers, i)
        except _Stop as stop:
            stopped_by = str(stop)
        except KeyboardInterrupt:
            stopped_by = "interrupt"
        bound = self.best.served
        for i, upper in uppers.items():
            if upper > bound:
                bound = max(bound, self._root_bound(self.shares[i], upper))
        leaves = sum(int(tree.tally[LEAVES]) for tree in self.trees.values())
        statistics = {
            "nodes": self._nodes(),
            "leaves": leaves,
            "build_s": built - self.started,
            "solve_s": stopwatch.seconds() - built,
        }
        return Answer(self.best, bound, stopped_by, statistics)

    def _nobody(self) -> Assignment:
        lam = None if self.request.lam_indices is None else self.request.lam_indices[0]
        return Assignment(np.zeros(self.tables.users, np.int8), self.request.z_indices[0], lam)

    def _nodes(self) -> int:
        return sum(int(tree.tally[NODES]) for tree in self.trees.values())

    def _exhaust(self, shares: Shares, uppers: dict[int, int], i: int) -> int:
        """Improve the incumbent until the tree holds no better one; return its upper bound.

        A question that takes long is interrupted for harder ones: their refutation, far cheaper,
        narrows the interval that a limit would leave.
        """
        while self.best.served < uppers[i]:
            goal, patience = self.best.served + 1, PATIENCE
            self._plant(MAIN, shares, goal)
            state = self._pursue(MAIN, shares, goal, patience)
            while state == PAUSED:
                state = self._narrow(shares, goal, patience // 8, uppers, i)
                if state == PAUSED:
                    state = self._pursue(MAIN, shares, goal, patience)
                    patience *= 2
            if state == REFUTED:
                break
        return self.best.served

    def _narrow(self, shares: Shares, goal: int, nodes: int, uppers: dict[int, int], i: int) -> int:
        """Bisect for the least goal above `goal` that so many nodes refute.

        Returns FOUND if the incumbent has improved, else PAUSED.
        """
        unknown = goal
        while unknown < uppers[i]:
            harder = (unknown + uppers[i] + 1) // 2
            self._plant(PROBE, shares, harder)
            state = self._pursue(PROBE, shares, harder, nodes)
            if state == FOUND:
                return FOUND
            if state == REFUTED:
                uppers[i] = harder - 1
            else:
                unknown = harder
        return PAUSED

    def _plant(self, name: str, shares: Shares, goal: int) -> None:
        if name not in self.trees:
            self.trees[name] = new_tree(self.tables.users)
        plant(self.levels, shares, self.trees[name], goal)

    def _pursue(self, name: str, shares: Shares, goal: int, nodes: int) -> int:
        """Search a tree for so many nodes, in slices; a schedule found becomes the incumbent."""
        last = int(self.trees[name].tally[NODES]) + nodes
        while True:
            tree = self.trees[name]
            left = last - int(tree.tally[NODES])
            if left <= 0:
                return PAUSED
            step = min(left, self._next_slice())
            began = stopwatch.seconds()
            state: int = search(self.exact, self.levels, shares, self.space, tree, goal, step)
            if state == FOUND:
                z, lam = (int(position) for position in tree.point)
                self.best = Assignment(tree.answer.copy(), z, None if shares.joint else lam)
            if state in (FOUND, REFUTED):
                return state
            if state == FULL:
                self.trees[name] = grown(tree)
            self._adapt(step, stopwatch.seconds() - began)

    def _next_slice(self) -> int:
        """Return how many nodes to search before the next look at the clock."""
        limits = self.request
        spent = stopwatch.seconds() - self.started
        if limits.time_limit is not None and spent >= limits.time_limit:
            raise _Stop("time_limit")
        if limits.node_limit is None:
            return self.slice
        left = limits.node_limit - self._nodes()
        if left <= 0:
            raise _Stop("node_limit")
        return min(self.slice, left)

    def _adapt(self, nodes: int, seconds: float) -> None:
        if seconds > 2 * SLICE_S:
            self.slice = max(1, nodes // 2)
        elif seconds < SLICE_S / 2 and nodes == self.slice:
            self.slice = 2 * nodes

    def _root_bound(self, shares: Shares, high: int) -> int:
        """Return the largest goal up to `high` that the root of the tree alone does not refute.

        Any refuted goal bounds all larger ones, so bisection is valid whichever it meets.
        """
        low = self.best.served
        while low < high:
            goal = (low + high + 1) // 2
            probe = new_tree(self.tables.users, 8)
            plant(self.levels, shares, probe, goal)
            state = search(self.exact, self.levels, shares, self.space, probe, goal, 1)
            low, high = (low, goal - 1) if state == REFUTED else (goal, high)
        return high
