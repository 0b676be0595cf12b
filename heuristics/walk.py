"""A walk over thresholds: the linear relaxation climbs, and its prices order a greedy filling.

At a *point*, a level for every threshold and a z, the problem is a knapsack with the rows of
`heuristics.additive`'s theorem. With prices p >= 0 on the rows, whose capacities are scaled to 1,

``D(p) = Σ p + Σ_k max(0, 1 - p · ad_k, 1 - p · sd_k)``

bounds what its relaxation serves, and the least D is the relaxation's value. A few subgradient
steps come close to it; they stop as soon as D is below the value that is to be beaten, which costs
about as much as reading the users once or twice.

The walk moves one threshold (or z) at a time to the level with the largest value, until no
threshold has a better one. Then it kicks a few of them to random levels (from a fixed seed: the
walk is deterministic) and climbs again; from a summit not far below the last one it goes on. Where
D is at least one user above the incumbent, users enter in the order of their rewards,
1 - p · cost, as long as the exact integers allow it (`filling.add`). The floats only steer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from instances import CostTables
from instances.assignment import Assignment
from instances.kernels import cached_njit

from . import threshold_levels as ix
from .batch import copy
from .filling import Exact, Load, add, clear, exact_of, new_load
from .task import Task
from .threshold_box import FAST, HALF_A_TICK, SHUT
from .threshold_levels import Floats, Integers, Levels, build_levels, kernel

Modes = NDArray[np.int8]
#: Coordinates of a point: the thresholds and z.
COORDINATES = ix.THRESHOLDS + 1
#: Rows of the relaxation with a λ; without one SD's memory is in AD's row.
ROWS = 4
#: Rows of `Walk.cost`, each plus the mode: fractions of time and memory, 0 or `SHUT`.
TIME, BYTES, USE = 0, 2, 4
#: Subgradient steps at a point, and at one that was kicked.
STEPS, FIRST_STEPS = 6, 30
#: Coordinates that are kicked; how far below the last summit the next may lie.
KICKS, FALL = 3, 1.0
#: Prices at the first point.
PRICE = 5.0


class Ground(NamedTuple):
    """An instance as the walk sees it.

    Attributes
    ----------
    levels : Levels
        They steer.
    exact : Exact
        Of the task's tables.
    share, room : (2, nz) float
        Compute share and bytes of each mode, at the z that may be chosen; both modes' common room
        in P1.
    z : (nz,)
        Their positions in the instance's grid.
    lam : int
        Position of the λ; -1 in P1.
    high : (11,)
        Last level of each coordinate.
    """

    levels: Levels
    exact: Exact
    share: Floats
    room: Floats
    z: Integers
    lam: int
    high: Integers


class Walk(NamedTuple):
    """The incumbent, and scratch space.

    Attributes
    ----------
    best : (K,) int8
        Modes of the incumbent.
    tally : (3,)
        Users it serves, its z (a position in the instance's grid), points visited.
    cost : (6, K) float
        A point's costs by the row names above.
    trial, slack : (4,) float
    reward : (K,) float
    order : (K,)
        Users by reward, as they were last.
    modes : (K,) int8
    load : Load
    seed : (1,)
        State of the generator of kicks.
    """

    best: Modes
    tally: Integers
    cost: Floats
    trial: Floats
    slack: Floats
    reward: Floats
    order: Integers
    modes: Modes
    load: Load
    seed: Integers


#: Entries of `Walk.tally`.
SERVED, AT, VISITED = range(3)


@kernel(fastmath=FAST)
def _price(g: Ground, point: Integers, cost: Floats) -> None:
    """Fill in what each user costs at a point, as fractions of the rows."""
    lv, users = g.levels, g.levels.user.shape[1]
    for mode in range(ix.MODES):
        first, row, law = mode * ix.SIDE, mode * ix.COLUMNS, mode * ix.LAWS
        time, size, use = cost[TIME + mode], cost[BYTES + mode], cost[USE + mode]
        ticks = lv.top[mode]
        for d in range(first + ix.DEADLINE, first + ix.SIDE):
            ticks -= lv.charge[d, point[d]]
        budget, room = g.share[mode, point[ix.SHARE]] * ticks, g.room[mode, point[ix.SHARE]]
        per_tick, per_byte = 1 / max(budget, HALF_A_TICK), 1 / max(room, 1.0)
        shut = SHUT if ticks < 0 or g.share[mode, point[ix.SHARE]] <= 0 or room < 0 else 0.0
        tokens, prefill = lv.level[law, point[first]], lv.level[law + 1, point[first]]
        growth, wider = lv.level[law + 2, point[first + 1]], lv.level[law + 3, point[first + 1]]
        base, slope, pairs = lv.user[row], lv.user[row + ix.SLOPE], lv.user[row + ix.PAIRS]
        memory, steps = lv.user[row + ix.MEMORY], lv.user[row + ix.STEPS]
        kv = lv.kv[mode] * tokens
        for k in range(users):
            time[k] = (base[k] + slope[k] * tokens + prefill + pairs[k] * growth) * per_tick
            size[k] = (memory[k] + kv + steps[k] * wider) * per_byte
        bit = ix.MAY_USE << mode
        for k in range(users):
            fits = (time[k] <= 1.0) & (size[k] <= 1.0) & ((lv.allowed[k] & bit) > 0)
            use[k] = shut if fits else SHUT
        for d in range(first, first + ix.SIDE):
            rank, most = lv.rank[d], point[d]
            for k in range(users):
                use[k] = use[k] if rank[k] <= most else SHUT


@kernel(fastmath=FAST)
def _dual(cost: Floats, price: Floats, sd_row: int, slack: Floats) -> float:
    """Return D at these prices; `slack` receives what its maximiser leaves of each row."""
    total, ad_time, sd_time, ad_bytes, sd_bytes = 0.0, 0.0, 0.0, 0.0, 0.0
    alpha, beta, mu, nu = price[0], price[1], price[2], price[sd_row]
    for k in range(cost.shape[1]):
        ad = cost[USE, k] + 1 - alpha * cost[TIME, k] - mu * cost[BYTES, k]
        sd = cost[USE + 1, k] + 1 - beta * cost[TIME + 1, k] - nu * cost[BYTES + 1, k]
        total += max(0.0, max(ad, sd))
        to_ad, to_sd = (ad >= sd) & (ad > 0.0), (sd > ad) & (sd > 0.0)
        ad_time += cost[TIME, k] if to_ad else 0.0
        ad_bytes += cost[BYTES, k] if to_ad else 0.0
        sd_time += cost[TIME + 1, k] if to_sd else 0.0
        sd_bytes += cost[BYTES + 1, k] if to_sd else 0.0
    slack[0], slack[1], slack[2], slack[3] = 1 - ad_time, 1 - sd_time, 1 - ad_bytes, 1.0
    slack[sd_row] -= sd_bytes
    bound: float = total + alpha + beta + mu + price[3]
    return bound


@kernel()
def _relax(w: Walk, price: Floats, sd_row: int, beat: float, steps: int) -> float:
    """Lower D by Polyak's steps towards `beat`; `price` receives the best prices."""
    trial, slack = w.trial, w.slack
    for i in range(ROWS):
        trial[i] = price[i]
    best, pace, idle = np.inf, 1.0, 0
    for _ in range(steps):
        value = _dual(w.cost, trial, sd_row, slack)
        idle = 0 if value < best - 0.05 else idle + 1
        if value < best:
            best = value
            for i in range(ROWS):
                price[i] = trial[i]
            if best < beat:
                break
        if idle >= 3:
            pace, idle = pace / 2, 0
        norm = 0.0
        for i in range(ROWS):
            if trial[i] <= 0 and slack[i] > 0:
                slack[i] = 0.0
            norm += slack[i] * slack[i]
        if norm < 1e-12:
            break
        step = pace * (value - beat + 0.3) / norm
        for i in range(ROWS):
            trial[i] = max(0.0, trial[i] - step * slack[i])
    return best


@kernel()
def _sort(w: Walk) -> None:
    """Order the users by descending reward: an insertion sort, for little changes between calls."""
    for i in range(1, len(w.order)):
        k, j = w.order[i], i - 1
        while j >= 0 and w.reward[w.order[j]] < w.reward[k]:
            w.order[j + 1] = w.order[j]
            j -= 1
        w.order[j + 1] = k


@kernel()
def _fill(g: Ground, w: Walk, price: Floats, z: int, sd_row: int) -> None:
    """Let users enter by reward, each in its better mode if it can; keep what serves more."""
    cost, served = w.cost, 0
    for k in range(len(w.best)):
        ad = cost[USE, k] + 1 - price[0] * cost[TIME, k] - price[2] * cost[BYTES, k]
        sd = (
            cost[USE + 1, k] + 1 - price[1] * cost[TIME + 1, k] - price[sd_row] * cost[BYTES + 1, k]
        )
        w.reward[k], w.modes[k] = max(ad, sd), 1 if ad >= sd else 2
    _sort(w)
    clear(w.load)
    for k in w.order:
        better = w.modes[k]
        if not add(g.exact, z, g.lam, w.load, k, better - 1):
            w.modes[k] = 3 - better if add(g.exact, z, g.lam, w.load, k, 2 - better) else 0
        served += w.modes[k] > 0
    if served > w.tally[SERVED]:
        w.tally[SERVED], w.tally[AT] = served, z
        for k in range(len(w.best)):
            w.best[k] = w.modes[k]


@kernel()
def _visit(g: Ground, w: Walk, point: Integers, price: Floats, beat: float, steps: int) -> float:
    """Return a point's value, or one that `beat` exceeds; fill where it is worth while."""
    sd_row = 2 if g.lam < 0 else 3
    w.tally[VISITED] += 1
    _price(g, point, w.cost)
    value = _relax(w, price, sd_row, beat, steps)
    if value >= w.tally[SERVED] + 1:
        _fill(g, w, price, g.z[point[ix.SHARE]], sd_row)
    return value


@kernel()
def _climb(
    g: Ground, w: Walk, point: Integers, price: Floats, value: float, trial: Floats, best: Floats
) -> float:
    """Move one coordinate at a time to its best level until none has a better one."""
    improved = True
    while improved:
        improved = False
        for d in range(COORDINATES):
            here, chosen, span = point[d], point[d], 1
            while span <= g.high[d]:
                for level in (here - span, here + span):
                    if 0 <= level <= g.high[d]:
                        point[d] = level
                        copy(price, trial)
                        found = _visit(g, w, point, trial, value, STEPS)
                        if found > value + 1e-3:
                            value, chosen = found, level
                            copy(trial, best)
                span *= 2
            point[d] = chosen
            if chosen != here:
                copy(best, price)
                improved = True
    return value


@kernel()
def _random(w: Walk, below: int) -> int:
    """Return the next number of a linear congruential generator, in [0, below)."""
    w.seed[0] = w.seed[0] * 6364136223846793005 + 1442695040888963407
    drawn: int = ((w.seed[0] >> 33) & 0x7FFFFFFF) % below
    return drawn


@kernel()
def _kick(g: Ground, w: Walk, point: Integers) -> None:
    """Move a few coordinates by up to a quarter of their levels."""
    for _ in range(KICKS):
        d = _random(w, COORDINATES)
        reach = max(2, g.high[d] // 4)
        level = point[d] + _random(w, 2 * reach + 1) - reach
        point[d] = min(g.high[d], max(0, level))


@kernel(allocates=True)
def _new_walk(start: Modes) -> Walk:
    users = len(start)
    return Walk(
        start.copy(),
        np.zeros(3, np.int64),
        np.zeros((6, users)),
        np.zeros(ROWS),
        np.zeros(ROWS),
        np.zeros(users),
        np.arange(users),
        np.zeros(users, np.int8),
        new_load(),
        np.ones(1, np.int64),
    )


@cached_njit(error_model="numpy")
def walk_kernel(
    tables: CostTables, levels: Levels, share: Floats, room: Floats, z: Integers, lam: int,
    start: Modes, at: int, points: int,
) -> tuple[Modes, int]:  # fmt: skip
    """Return the modes and the z (in the instance's grid) of the best schedule on the walk."""
    high, point = np.zeros(COORDINATES, np.int64), np.zeros(COORDINATES, np.int64)
    for d in range(ix.THRESHOLDS):
        last = levels.members[ix.IN_ORDER + d // ix.SIDE] - 1
        high[d] = levels.ordered[d, last] if last >= 0 else 0
    high[ix.SHARE] = len(z) - 1
    g = Ground(levels, exact_of(tables), share, room, z, lam, high)
    w = _new_walk(start)
    tally = w.tally
    for k in range(len(start)):
        mode = start[k] - 1
        if mode >= 0:
            tally[SERVED] += 1
            for d in range(mode * ix.SIDE, (mode + 1) * ix.SIDE):
                point[d] = max(point[d], levels.rank[d, k])
    point[ix.SHARE], tally[AT] = at, z[at]
    summit, price, ridge = point.copy(), np.full(ROWS, PRICE), np.full(ROWS, PRICE)
    price[3] = ridge[3] = PRICE if lam >= 0 else 0.0
    trial, best, last = np.empty(ROWS), np.empty(ROWS), -np.inf
    while tally[VISITED] < points:
        value = _visit(g, w, point, price, tally[SERVED] - 3.0, FIRST_STEPS)
        value = _climb(g, w, point, price, value, trial, best)
        if value >= last - FALL:
            last = value
            copy(point, summit)
            copy(price, ridge)
        copy(summit, point)
        copy(ridge, price)
        _kick(g, w, point)
    return w.best, tally[AT]


def walk(task: Task, start: Assignment, points: int) -> Assignment:
    """Return a schedule that serves at least as many users as `start`.

    Parameters
    ----------
    task : Task
        With its λ, where the start has one.
    start : Assignment
        A schedule that its tables accept.
    points : int
        The walk ends at the first summit after so many.
    """
    tables, lam = task.tables, start.lam_index
    z = np.array([i for i in task.z_indices if tables.room[i] >= 0], np.int64)
    if start.z_index not in z or not task.instance.users:
        return start
    share = tables.z_numerator[z] / tables.z_denominator
    rooms = (tables.room, tables.room) if lam is None else (tables.ad_room, tables.sd_room)
    room = np.array([rows[z] if lam is None else rows[z, lam] for rows in rooms], np.float64)
    at = int(np.flatnonzero(z == start.z_index)[0])
    shares, split = np.array([share, 1 - share]), -1 if lam is None else lam
    levels = build_levels(tables)
    modes, found = walk_kernel(tables, levels, shares, room, z, split, start.modes, at, points)
    return Assignment(modes, int(found), lam)
