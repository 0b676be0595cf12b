"""`Questions`: "can so many users be served?", asked of all schedules until the answers suffice.

A question is put to boxes of thresholds (`threshold_search`); a box that shrinks to a point may be
answered by rounding its linear relaxation, as `heuristics.additive` explains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances import build_tables
from instances.assignment import Assignment, fits
from instances.feasible import is_feasible

from .filling import filled
from .point import relax
from .task import Task
from .threshold_levels import SHARE, Levels, build_levels, trees
from .threshold_primal import Exact, pack
from .threshold_search import (
    FOUND,
    FULL,
    HALT,
    LEAF,
    LEAVES,
    NODES,
    REFUTED,
    TOP,
    Tree,
    grown,
    new_space,
    new_tree,
    plant,
    search,
)

#: Rows of the relaxation at fixed thresholds, hence users that rounding may lose.
JOINT_GAP, SPLIT_GAP = 3, 4
#: Boxes between two looks at Ctrl-C.
SLICE = 64
#: What a float optimum may be off by.
TOLERANCE = 1e-5


@dataclass
class Questions:
    """An incumbent, and what is proven of each tree.

    Parameters
    ----------
    task : Task
    best : Assignment
        An incumbent that the task's tables accept, or that holds in rationals.

    Attributes
    ----------
    reached : int
        The most users that the tables built down are known to be able to serve: no fewer than
        `best` serves, and more only where less than a microsecond decides.
    gap : int
        Users that rounding the relaxation at a point may lose (m).
    """

    task: Task
    best: Assignment
    nodes: int = 0
    leaves: int = 0
    solved: int = 0

    def __post_init__(self) -> None:
        task = self.task
        lam = None if task.lam is None else tuple(task.lam_indices)
        self.relaxed = task.tables if task.relaxed else build_tables(task.instance, False)
        self.levels: Levels = build_levels(self.relaxed)
        self.exact: Exact = pack(self.relaxed)
        self.shares = trees(self.relaxed, tuple(task.z_indices), lam)
        self.space = new_space(self.levels, self.shares)
        self.gap = JOINT_GAP if lam is None else SPLIT_GAP
        self.reached = self.best.served
        most = int(np.count_nonzero(self.levels.options > 1))
        self.most = [most] * len(self.shares)

    @property
    def statistics(self) -> dict[str, int]:
        """Counters of the search."""
        return {"nodes": self.nodes, "leaves": self.leaves, "linear_programs": self.solved}

    @property
    def bound(self) -> int:
        """What no schedule can exceed."""
        return max([self.best.served, *self.most])

    def close(self, slack: int, nodes: int | None = None) -> bool:
        """Prove that the tables serve at most `slack` users more than they are known to serve.

        Returns False if more nodes would be needed.
        """
        last = None if nodes is None else self.nodes + nodes
        for i in range(len(self.shares)):
            while self.most[i] > self.reached + slack:
                if not self._ask(i, self.reached + slack + 1, last):
                    return False
        return True

    def verify_gap(self) -> None:
        """Raise RuntimeError unless the theorem's bound holds; call it after `close(gap)`."""
        if self.bound - self.reached > self.gap:
            raise RuntimeError(
                f"the additive bound is broken: {self.reached} users are served, but the bound is "
                f"{self.bound}, more than {self.gap} above; please report the instance"
            )

    def _ask(self, i: int, goal: int, last: int | None) -> bool:
        """Refute a goal in a tree, or raise `reached`; False: neither by node `last`."""
        shares, tree = self.shares[i], new_tree(self.relaxed.users)
        plant(self.levels, shares, tree, goal)
        tree.tally[HALT] = last is None
        while last is None or self.nodes < last:
            begun = tree.tally[NODES], tree.tally[LEAVES]
            nodes = SLICE if last is None else min(SLICE, last - self.nodes)
            state = search(self.exact, self.levels, shares, self.space, tree, goal, nodes)
            self.nodes += int(tree.tally[NODES] - begun[0])
            self.leaves += int(tree.tally[LEAVES] - begun[1])
            if state == REFUTED:
                self.most[i] = goal - 1
                return True
            if state == FOUND:
                return self._accept(tree.answer, int(tree.point[0]))
            if state == LEAF and self._round(i, tree, goal):
                return True
            if state == FULL:
                tree = grown(tree)
        return False

    def _round(self, i: int, tree: Tree, goal: int) -> bool:
        """Round the relaxation of the point at which a tree has halted."""
        shares, point = self.shares[i], tree.box[tree.tally[TOP], 0]
        relaxed = relax(self.levels, shares, point)
        self.solved += 1
        if relaxed.value < goal - TOLERANCE:
            return False
        if self._accept(relaxed.rounded_down(), int(shares.z[point[SHARE]])):
            return True
        tree.tally[TOP] += 1  # the same box again, to be branched on users
        tree.tally[HALT] = 0
        return False

    def _accept(self, modes: NDArray[np.int8], z: int) -> bool:
        """Fill a schedule up; return whether `reached` has risen.

        The incumbent is what the tables built down accept, if the task is relaxed or it holds in
        rationals, else what those built up accept.
        """
        order = np.argsort(self.relaxed.output_tokens, kind="stable")
        lam = self.best.lam_index
        split = -1 if lam is None else lam
        full = Assignment(filled(self.relaxed, modes, order, z, split), z, lam)
        risen = full.served > self.reached
        self.reached = max(self.reached, full.served)
        if full.served > self.best.served and not self._holds(full):
            full = Assignment(filled(self.task.tables, modes, order, z, split), z, lam)
        self.best = max(self.best, full, key=lambda found: found.served)
        return risen

    def _holds(self, found: Assignment) -> bool:
        """Return whether a schedule of the tables built down may be the incumbent."""
        if self.task.relaxed or fits(self.task.tables, found):
            return True
        schedule = found.to_schedule(self.task.instance)
        return is_feasible(self.task.instance, schedule, "P1" if found.lam_index is None else "P2")
