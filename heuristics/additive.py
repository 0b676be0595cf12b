"""The additive algorithm: within three users of P1's optimum (with a fixed λ: four), and the bound.

**Theorem.** At a fixed z, let every maximum of the paper's batches be a given *threshold*: longest
input, longest output, earliest deadline and latest upload of AD; longest input, most accepted
drafts, most iterations, earliest deadline and latest upload of SD. Then a user costs a mode fixed
ticks and bytes, and P1 restricted to schedules within the thresholds is a knapsack problem: for
each user at most one of two options, and three rows (AD time, SD time, memory; with a λ four). A
basic optimum of its linear relaxation (LP) has at most three (four) *split* users, and serving only
those whom one mode serves whole loses at most three (four) users against the relaxation.

*Proof.* Take a basic solution with K' + m basic variables: K' rows ``x_ad + x_sd + slack = 1``, one
for each user, and m others. Each user's row needs a basic variable that is not zero, and a split
user has two at least. So K' + (split users) <= K' + m. Rounding down keeps every row, since all
coefficients are non-negative, and takes less than or exactly one from each split user: what is left
is an integer I >= LP - m, so I >= ⌊LP⌋ - m. □

An optimal schedule meets the LP of its own thresholds and z, so the greatest LP over all thresholds
is an upper bound on r*, and its rounding serves at least r* - m. There are at most |Z| K^9 choices
and an LP is polynomial, so this is a polynomial algorithm.

**Algorithm.** The choices are not enumerated but searched: "can m + 1 users more than the
incumbent's be served?" is asked of boxes of thresholds (`threshold_search`), which bounds refute
long before they are points. What it asks is answered in one of three ways:

- no: then ``r* <= incumbent + m``, which was to be proven;
- a schedule is found on the way;
- a box is a point and not refuted. Its LP is solved: either it refutes the box, or it is at least
  the goal, and its rounding serves ``goal - m``, one user more than the incumbent.

A new incumbent starts the next question, so there are at most K, each of at most polynomially many
boxes: a box is cut between two levels, and a point is never cut. Since the search begins with a
schedule no worse than Algorithm 3's (`balance_plus`), ``r >= max(r*/2, r* - m)``.

Then harder questions follow, "m more", ..., "one more", until `ENOUGH` boxes, or `PATIENCE` times
those of the first question, have been visited: mostly the bound ends 0 or 1 above the schedule.
Here a point that is not refuted is branched on its users, as in the exact search.

**Rounding.** Bounds are those of tables built *down*, schedules those of tables built *up*. A
schedule that the first accept and the second do not (a difference of less than a microsecond) is
filled anew on the second; in case that serves nobody more the question stays open and the bound is
larger: it always holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances import build_tables
from instances.assignment import Assignment

from .balance_plus import improved
from .filling import filled
from .point import relax
from .task import Found, Task
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
    new_tree,
    plant,
    search,
)

#: Rows of the relaxation at fixed thresholds, hence users that rounding may lose.
JOINT_GAP, SPLIT_GAP = 3, 4
#: Boxes after which no harder question is asked: so many, or so many times the guarantee's.
ENOUGH, PATIENCE = 15_000, 2
#: Boxes between two looks at Ctrl-C.
SLICE = 64
#: What a float optimum may be off by.
TOLERANCE = 1e-5


def additive(task: Task) -> Found:
    """Return a schedule within three users of the optimum, and the bound that proves it.

    Parameters
    ----------
    task : Task
        Without a λ the memory is shared (P1) and the gap at most 3; with one it is at most 4.

    Raises
    ------
    ValueError
        If memory is to be padded: the guarantee is about the model's memory.
    """
    task.refuse_padded("additive")
    run = _Run(task)
    run.close(run.gap)
    last, slack = max(ENOUGH, PATIENCE * run.nodes), run.gap - 1
    while slack >= 0 and run.close(slack, last - run.nodes):
        slack -= 1
    statistics = {"nodes": run.nodes, "leaves": run.leaves, "linear_programs": run.solved}
    return Found(run.best.to_schedule(task.instance), statistics, run.bound)


@dataclass
class _Run:
    """The incumbent, and what is proven of each tree."""

    task: Task
    nodes: int = 0
    leaves: int = 0
    solved: int = 0

    def __post_init__(self) -> None:
        task = self.task
        lam = None if task.lam is None else tuple(task.lam_indices)
        self.relaxed = build_tables(task.instance, rounded_up=False)
        self.levels: Levels = build_levels(self.relaxed)
        self.exact: Exact = pack(self.relaxed)
        self.shares = trees(self.relaxed, tuple(task.z_indices), lam)
        self.gap = JOINT_GAP if lam is None else SPLIT_GAP
        self.best = improved(task)
        most = int(np.count_nonzero(self.levels.options > 1))
        self.most = [most] * len(self.shares)

    @property
    def bound(self) -> int:
        """What no schedule can exceed."""
        return max([self.best.served, *self.most])

    def close(self, slack: int, nodes: int | None = None) -> bool:
        """Prove that nothing exceeds the incumbent by more than `slack`.

        Returns False if more nodes would be needed, or a tick decides (see the module).
        """
        last = None if nodes is None else self.nodes + nodes
        for i in range(len(self.shares)):
            while self.most[i] > self.best.served + slack:
                if not self._ask(i, self.best.served + slack + 1, last):
                    return False
        return True

    def _ask(self, i: int, goal: int, last: int | None) -> bool:
        """Refute a goal in a tree, or improve the incumbent; False: neither by node `last`."""
        tree = new_tree(self.relaxed.users)
        plant(self.levels, self.shares[i], tree, goal)
        tree.tally[HALT] = last is None
        while last is None or self.nodes < last:
            begun = tree.tally[NODES], tree.tally[LEAVES]
            nodes = SLICE if last is None else min(SLICE, last - self.nodes)
            state = search(self.exact, self.levels, self.shares[i], tree, goal, nodes)
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
        """Make a schedule the incumbent, filled up, if the tables built up let it serve more."""
        order = np.argsort(self.relaxed.output_tokens, kind="stable")
        lam = self.best.lam_index
        full = filled(self.task.tables, modes, order, z, -1 if lam is None else lam)
        if np.count_nonzero(full) <= self.best.served:
            return False
        self.best = Assignment(full, z, lam)
        return True
