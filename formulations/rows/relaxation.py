"""The weights that refute a box best: duals of a small LP, solved by HiGHS.

The LP relaxes the box to a knapsack with its users at the lower ends: it serves the goal
fractionally, with z anywhere between the box's ends, and minimises the factor by which its rows
are overrun. The duals weigh the rows. Any weights are valid (`weights.totals`), so neither a
tolerance of HiGHS matters nor that the duals are rounded.
"""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from instances.costs import Integers

from .box import Box, Setting
from .count import MOST
from .weights import ROWS, WEIGHT_BITS, Floats, budgets, costs, rooms


class Relaxation:
    """Solver of one box's LP after another.

    Parameters
    ----------
    solver : highspy.Highs
        Silent, on one thread.
    """

    def __init__(self, solver: Any) -> None:
        self._solver = solver

    def weights(self, setting: Setting, box: Box) -> Integers:
        """Return a weight per row and unit of its amounts; zeros if the LP gives none."""
        query = setting.query
        ticks = budgets(query, box).max(axis=1)
        room = rooms(query)
        size = box.ad.size[MOST], box.sd.size[MOST]
        limit = np.maximum(1.0, np.array([ticks[0], room[0], ticks[1], room[1], *size], float))
        model = self._model(setting, box, limit)
        self._solver.clearModel()
        self._solver.passModel(model)
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return np.zeros(ROWS, np.int64)
        duals = np.abs(np.array(self._solver.getSolution().row_dual[:ROWS])) / limit
        per_unit = np.ldexp(duals, query.shift)
        largest = float(per_unit.max()) or 1.0
        weights: Integers = np.rint(per_unit / largest * 2.0**WEIGHT_BITS).astype(np.int64)
        return weights

    def _model(self, setting: Setting, box: Box, limit: Floats) -> Any:
        """Return the LP: columns AD users, SD users, z's place between the ends, the overrun."""
        query = setting.query
        joint = setting.joint_room is not None
        ad, sd = costs(query.ad, box.ad), costs(query.sd, box.sd)
        users = np.concatenate([query.ad.users[ad[0]], query.sd.users[sd[0]]])
        _, row_of = np.unique(users, return_inverse=True)
        served = int(row_of.max()) + 1 if len(users) else 0
        goal = ROWS
        n_ad, n = ad.shape[1], len(users)
        index = np.empty((n, 5), np.int32)
        index[:n_ad, :3], index[n_ad:, :3] = (0, 1, 4), (2, 1 if joint else 3, 5)
        index[:, 3], index[:, 4] = goal, goal + 1 + row_of
        value = np.ones((n, 5))
        value[:n_ad, 0], value[:n_ad, 1] = ad[1] / limit[0], ad[2] / limit[1]
        value[n_ad:, 0], value[n_ad:, 1] = sd[1] / limit[2], sd[2] / limit[1 if joint else 3]
        value[:n_ad, 2], value[n_ad:, 2] = 1 / limit[4], 1 / limit[5]
        ends = budgets(query, box)[:, [0, -1]].astype(float)
        slope = (ends[0, 0] - ends[0, 1]) / limit[0], (ends[1, 0] - ends[1, 1]) / limit[2]
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = n + 2, goal + 1 + served
        model.col_cost_ = np.r_[np.zeros(n + 1), 1.0]
        model.col_lower_ = np.r_[np.zeros(n + 1), -1.0]
        model.col_upper_ = np.r_[np.ones(n + 1), np.inf]
        most = np.ones(ROWS)
        most[[0, 2]] = ends[0, 0] / limit[0], ends[1, 0] / limit[2]
        model.row_upper_ = np.r_[most, np.inf, np.ones(served)]
        model.row_lower_ = np.r_[np.full(ROWS, -np.inf), setting.goal, np.full(served, -np.inf)]
        matrix = model.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kColwise
        matrix.start_ = np.r_[np.arange(0, 5 * n + 1, 5), 5 * n + 2, 5 * n + 6].astype(np.int32)
        matrix.index_ = np.r_[index.ravel(), 0, 2, 0, 1, 2, 3].astype(np.int32)
        matrix.value_ = np.r_[value.ravel(), slope, -np.ones(4)]
        return model
