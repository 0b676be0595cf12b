"""HEU, the classic heuristic for the MMKP, with the aggregate resource of Toyoda.

Khan, Li, Manning and Akbar, "Solving the knapsack problem for adaptive multimedia systems",
Studia Informatica Universalis 2(1), 2002, 157-178.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.mmkp import MMKP, Selection, to_integers


def heu(problem: MMKP) -> Selection | None:
    """Return a feasible selection, or None where the heuristic finds none (one may exist).

    1. Start from each class's item of lowest profit; while a resource is overused, exchange the
       item that saves most aggregate resource, relieves the worst overuse and worsens none.
    2. While some exchange raises the profit and stays feasible, make the one that saves most
       aggregate resource or, if none saves any, earns most profit per aggregate resource.
    3. Make the best infeasible upgrade, then the cheapest downgrades until all fits again: if the
       profit is higher then, go on with 2, else return what 2 had.

    A selection's aggregate resource weighs each resource by how much of it is used. Feasibility is
    decided in integers, only the order of exchanges in floats.
    """
    search = _Search(problem)
    if not search.repair():
        return None
    search.upgrade()
    best = search.current.copy()
    while search.exchange():
        search.upgrade()
        best = search.current.copy()
    return search.selection(best)


class _Search:
    """The current selection; items of all classes in arrays padded to the largest class."""

    def __init__(self, problem: MMKP) -> None:
        problem, _ = to_integers(problem)
        most = max((len(group.items) for group in problem.classes), default=0) + 1
        shape = len(problem.classes), most
        self.sizes = [len(group.items) for group in problem.classes]
        self.exists = np.zeros(shape, np.bool_)
        # Python integers (dtype object): ticks and bytes of a mapped problem overflow int64 sums.
        self.profit = np.zeros(shape, object)
        self.weight = np.zeros((*shape, len(problem.capacities)), object)
        self.capacity = np.array(problem.capacities, object)
        for i, group in enumerate(problem.classes):
            self.exists[i, : len(group.items)] = True
            self.exists[i, len(group.items)] = group.optional  # choosing nothing: 0 for 0
            for j, item in enumerate(group.items):
                self.profit[i, j], self.weight[i, j] = item.profit, item.weights
        if sum(self._largest()) < 2**62:
            self.profit, self.weight, self.capacity = (
                a.astype(np.int64) for a in (self.profit, self.weight, self.capacity)
            )
        scale = np.maximum(self.capacity.astype(float), 1.0)
        self.relative = self.weight.astype(float) / scale  # weights in shares of the capacity
        self.rows = np.arange(len(problem.classes))
        lowest = np.where(self.exists, self.profit.astype(float), np.inf)
        self.current = lowest.argmin(axis=1) if self.rows.size else np.zeros(0, np.intp)

    def _largest(self) -> list[int]:
        """Return numbers that bound every sum the search forms."""
        tops = [abs(int(v)) for a in (self.profit, self.capacity) for v in a.flat]
        return [*tops, *(int(v) for v in self.weight.flat)]

    def selection(self, current: NDArray[np.intp]) -> Selection:
        pairs = zip(current.tolist(), self.sizes, strict=True)
        return tuple(None if position == size else position for position, size in pairs)

    def _usage(self) -> NDArray[np.int64]:
        used: NDArray[np.int64] = self.weight[self.rows, self.current].sum(axis=0)
        return used

    def _after(self) -> NDArray[np.int64]:
        """Return the usage after each possible exchange (classes, items, resources)."""
        after: NDArray[np.int64] = self._usage() + self.weight - self._now(self.weight)
        return after

    def _now(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return each class's present value, ready to compare with all of its items'."""
        present: NDArray[Any] = values[self.rows, self.current][:, None]
        return present

    def _gain(self) -> NDArray[np.float64]:
        gain: NDArray[np.float64] = (self.profit - self._now(self.profit)).astype(float)
        return gain

    def _saving(self, price: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the aggregate resource that each exchange frees, resources at these prices."""
        saving: NDArray[np.float64] = (self._now(self.relative) - self.relative) @ price
        return saving

    def _price(self) -> NDArray[np.float64]:
        """Return each resource's price: its share of all use."""
        used = self.relative[self.rows, self.current].sum(axis=0)
        norm = float(np.linalg.norm(used))
        price: NDArray[np.float64] = used / norm if norm else np.ones_like(used)
        return price

    def _make(self, allowed: NDArray[np.bool_], score: NDArray[np.float64]) -> bool:
        """Make the allowed exchange of highest score; return whether there was one."""
        allowed = allowed & self.exists
        if not allowed.any():
            return False
        i, j = divmod(int(np.where(allowed, score, -np.inf).argmax()), allowed.shape[1])
        self.current[i] = j
        return True

    def repair(self) -> bool:
        """Step 1: reach a feasible selection; return whether that succeeded."""
        while (over := self._usage() > self.capacity).any():
            used, after = self._usage(), self._after()
            ratio = self.relative[self.rows, self.current].sum(axis=0)
            worst = int(np.where(over, ratio, -np.inf).argmax())
            harmless = (after <= np.where(over, used, self.capacity)).all(axis=2)
            relieves = after[:, :, worst] < used[worst]
            if not self._make(harmless & relieves, self._saving(self._price())):
                return False
        return True

    def upgrade(self) -> None:
        """Step 2: raise the profit by feasible exchanges until none is left."""
        while True:
            saving, gain = self._saving(self._price()), self._gain()
            allowed = (self._after() <= self.capacity).all(axis=2) & (gain > 0) & self.exists
            free = allowed & (saving >= 0)
            if free.any():
                allowed, score = free, saving
            else:
                score = gain / np.where(saving < 0, -saving, 1.0)
            if not self._make(allowed, score):
                return

    def exchange(self) -> bool:
        """Step 3: one upgrade, then downgrades; undone (False) unless all fits and earns more."""
        before, earned = self.current.copy(), self._earned()
        left = 1 - self.relative[self.rows, before].sum(axis=0)
        cost = -self._saving(1 / np.maximum(left, 1e-9))
        gain = self._gain()
        done = self._make(
            gain > 0, np.where(cost > 0, gain / np.where(cost > 0, cost, 1.0), np.inf)
        )
        while done and (self._usage() > self.capacity).any():
            over = self.relative[self.rows, self.current].sum(axis=0) - 1
            saving, loss = self._saving(np.where(over > 0, over, 0.0)), -self._gain()
            spare = float(self._earned() - earned)
            useful = (loss > 0) & (loss < spare) & (saving > 0)
            done = self._make(useful, saving / np.where(loss > 0, loss, 1.0))
        if not done:
            self.current = before
        return done

    def _earned(self) -> int:
        return int(self.profit[self.rows, self.current].sum())
