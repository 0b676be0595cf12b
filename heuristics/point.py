"""The linear relaxation of P1 (or of P3) where all thresholds are fixed, and its rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import threshold_levels as ix
from .threshold_box import HALF_A_TICK
from .threshold_levels import Floats, Integers, Levels, Shares

#: Positions in a user's charges.
TIME, BYTES = 0, 1
#: An entry this close to a whole number is that number.
WHOLE = 1e-7
#: Stands for no room, so that what takes nothing fits and what takes a byte does not.
HALF_A_BYTE = 0.5


@dataclass(frozen=True)
class Relaxed:
    """An optimal basic solution.

    Attributes
    ----------
    value : float
        Users served.
    x : (2, K) float
        How much of each user is served by AD and by SD.
    """

    value: float
    x: Floats

    @property
    def split(self) -> int:
        """Users of whom some mode serves a fraction."""
        return int(np.count_nonzero((np.abs(self.x - np.round(self.x)) > WHOLE).any(axis=0)))

    def rounded_down(self) -> np.ndarray:
        """Return the modes (K,) of the users that one mode serves whole; 0 for all others."""
        whole = self.x > 1 - WHOLE
        modes: np.ndarray = np.where(whole[ix.AD], 1, np.where(whole[ix.SD], 2, 0)).astype(np.int8)
        return modes


def relax(levels: Levels, shares: Shares, point: Integers) -> Relaxed:
    """Return an optimal basic solution of the linear relaxation at fixed thresholds.

    Besides ``x_ad + x_sd <= 1`` for each user it has three rows in P1 (both modes' time, memory)
    and four with a λ (a memory row for each mode): see `heuristics.additive` for what follows.

    Parameters
    ----------
    levels, shares : Levels, Shares
        Of tables built *down*, so that the value is a bound.
    point : (13,)
        A level for each threshold, and positions of z and λ in `shares`; the last entry, a number
        of AD users, is not used.
    """
    from ortools.math_opt.python import mathopt

    model = mathopt.Model()
    sides = [_charges(levels, shares, point, mode) for mode in range(ix.MODES)]
    x = [{k: model.add_variable(lb=0, ub=1) for k in side} for side in sides]
    for k in x[ix.AD].keys() & x[ix.SD].keys():
        model.add_linear_constraint(x[ix.AD][k] + x[ix.SD][k] <= 1)
    rows = [
        [mathopt.fast_sum(side[k][row] * x[mode][k] for k in side) for row in (TIME, BYTES)]
        for mode, side in enumerate(sides)
    ]
    memory = [row[BYTES] for row in rows]
    for row in [rows[ix.AD][TIME], rows[ix.SD][TIME], *([sum(memory)] if shares.joint else memory)]:
        model.add_linear_constraint(row <= 1)
    model.maximize(mathopt.fast_sum(variable for side in x for variable in side.values()))
    result = mathopt.solve(model, mathopt.SolverType.GLOP)
    if result.termination.reason is not mathopt.TerminationReason.OPTIMAL:
        raise ArithmeticError(f"GLOP: {result.termination.detail or result.termination.reason}")
    values = np.zeros((ix.MODES, levels.user.shape[1]))
    for mode, side in enumerate(x):
        values[mode, list(side)] = result.variable_values(side.values())
    return Relaxed(result.objective_value(), values)


def _charges(
    levels: Levels, shares: Shares, point: Integers, mode: int
) -> dict[int, tuple[float, float]]:
    """Return the fractions of time and memory that each user takes who may enter a mode."""
    first, row, law = mode * ix.SIDE, mode * ix.COLUMNS, mode * ix.LAWS
    own = range(first, first + ix.SIDE)
    ticks = levels.top[mode] - sum(levels.charge[d, point[d]] for d in own)
    share, room = shares.share[mode, point[ix.SHARE]], shares.room[mode, point[ix.SPLIT]]
    if ticks < 0 or share <= 0 or room < 0:
        return {}
    budget, room = share * max(float(ticks), HALF_A_TICK), max(room, HALF_A_BYTE)
    tokens, prefill = levels.level[law : law + 2, point[first + ix.INPUT]]
    growth, wider = levels.level[law + 2 : law + 4, point[first + ix.ACCEPT]]
    base, slope, _, pairs, _, memory, steps = levels.user[row : row + ix.WIDER]
    time = (base + slope * tokens + prefill + pairs * growth) / budget
    size = (memory + levels.kv[mode] * tokens + steps * wider) / room
    inside = (levels.rank[own] <= point[own, None]).all(axis=0)
    inside &= (levels.allowed & ix.MAY_USE << mode > 0) & (time <= 1) & (size <= 1)
    return {int(k): (float(time[k]), float(size[k])) for k in np.flatnonzero(inside)}
