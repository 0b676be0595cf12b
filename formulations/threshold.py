"""`ThresholdBackend`: the exact optimum by branch and bound over the max-terms' thresholds.

It asks "can G users be served?" for G = incumbent + 1, ... until the answer is no, once for z = 1
and once for all other z together. A question is a depth-first search over boxes of thresholds:

- `threshold_levels`  thresholds as levels; which z and λ share a tree
- `threshold_box`     lower bounds on costs in a box; counting; dominance
- `threshold_bound`   the Lagrangian bound
- `threshold_peg`     what the bound rules out without branching
- `threshold_branch`  where to split
- `threshold_primal`  the exact test of a schedule
- `threshold_search`  the tree

Whatever is cut off is proven empty in floats with a margin that covers every rounding; whatever is
accepted has passed the tables' integers. The search is deterministic.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from importlib import metadata

import numpy as np

from instances import CostTables
from instances.assignment import Assignment

from .backend import Answer, Backend, Request, check_options
from .threshold_levels import Levels, Shares, build_levels, trees
from .threshold_primal import Exact, pack
from .threshold_search import (
    FOUND,
    FULL,
    LEAVES,
    NODES,
    REFUTED,
    Tree,
    grown,
    new_tree,
    plant,
    search,
)

#: Seconds between two looks at the clock and at Ctrl-C.
SLICE_S = 0.03


class ThresholdBackend:
    """Branch and bound over thresholds; see the module."""

    name = "threshold"

    def version(self) -> str:
        """Return the version of the compiler that the kernels depend on."""
        return f"numba {metadata.version('numba')}"

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
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        request = self.request
        self.exact: Exact = pack(self.tables)
        self.levels: Levels = build_levels(self.tables, request.allow_ad, request.allow_sd)
        self.tree: Tree = new_tree(self.tables.users)
        self.best = request.start or self._nobody()
        self.most = int(np.count_nonzero(self.levels.options > 1))
        self.slice = 64

    def answer(self) -> Answer:
        open_trees = trees(self.tables, self.request.z_indices, self.request.lam_indices)
        built = time.perf_counter()
        stopped_by = None
        try:
            while open_trees and self.best.served < self.most:
                if self._ask(open_trees[0], self.best.served + 1) == REFUTED:
                    open_trees.pop(0)
        except _Stop as stop:
            stopped_by = str(stop)
        except KeyboardInterrupt:
            stopped_by = "interrupt"
        bound = self.best.served
        if stopped_by is not None:
            bound = max([bound, *(self._root_bound(shares) for shares in open_trees)])
        tally = self.tree.tally
        return Answer(
            self.best,
            bound,
            stopped_by,
            {
                "nodes": int(tally[NODES]),
                "leaves": int(tally[LEAVES]),
                "build_s": built - self.started,
                "solve_s": time.perf_counter() - built,
            },
        )

    def _nobody(self) -> Assignment:
        lam = None if self.request.lam_indices is None else self.request.lam_indices[0]
        return Assignment(np.zeros(self.tables.users, np.int8), self.request.z_indices[0], lam)

    def _ask(self, shares: Shares, goal: int) -> int:
        """Return FOUND (a better incumbent) or REFUTED."""
        plant(self.levels, shares, self.tree, goal)
        while True:
            nodes = self._next_slice()
            began = time.perf_counter()
            state = search(self.exact, self.levels, shares, self.tree, goal, nodes)
            if state == FOUND:
                self._keep(shares)
            if state in (FOUND, REFUTED):
                return state
            if state == FULL:
                self.tree = grown(self.tree)
            self._adapt(nodes, time.perf_counter() - began)

    def _keep(self, shares: Shares) -> None:
        z, lam = (int(position) for position in self.tree.point)
        self.best = Assignment(self.tree.answer.copy(), z, None if shares.joint else lam)

    def _next_slice(self) -> int:
        """Return how many nodes to search before the next look at the clock."""
        limits = self.request
        spent = time.perf_counter() - self.started
        if limits.time_limit is not None and spent >= limits.time_limit:
            raise _Stop("time_limit")
        if limits.node_limit is None:
            return self.slice
        left = limits.node_limit - int(self.tree.tally[NODES])
        if left <= 0:
            raise _Stop("node_limit")
        return min(self.slice, left)

    def _adapt(self, nodes: int, seconds: float) -> None:
        if seconds > 2 * SLICE_S:
            self.slice = max(1, nodes // 2)
        elif seconds < SLICE_S / 2:
            self.slice = 2 * nodes

    def _root_bound(self, shares: Shares) -> int:
        """Return an upper bound on the users of a tree: goals that its root alone refutes.

        Any refuted goal bounds all larger ones, so bisection is valid whichever it meets.
        """
        low, high = self.best.served, self.most
        while low < high:
            goal = (low + high + 1) // 2
            probe = new_tree(self.tables.users)
            plant(self.levels, shares, probe, goal)
            state = search(self.exact, self.levels, shares, probe, goal, 1)
            low, high = (low, goal - 1) if state == REFUTED else (goal, high)
        return high
