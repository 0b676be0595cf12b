"""Balance both ways: Algorithm 3, SD before AD as well, and two local searches over the thresholds.

Algorithm 3 fills AD first, whoever it takes from SD. Here its schedule is only the first start. At
every z there are two more: one mode serves as many as it can, the other as many as it can of the
rest, and then the first again of whom the second leaves; once AD first and once SD first. Each
filling is the optimum of P3.1 or P3.2 (`search`) over the users and the memory that are left: with
no λ both modes draw on one room (P1).

From each start that is no worse than the incumbent a *step* ejects from a mode the users that set
one of its thresholds (longest input or answer, most accepted drafts, earliest deadline, longest
upload). Then

- that mode is filled anew without them, the other from who is left, and the first again from all
  whom the other leaves; or
- the other mode is filled first, with the ejected users to choose from, then the first: users
  change modes.

A step that serves more is taken; the search ends where none of a round does. Starts are searched
from the best one on. Then comes the walk over thresholds of `walk`, and with more `effort` the
question whether one more user can be served (`questions`), which ends in a proven optimum if the
effort lasts. The answer is never worse than Algorithm 3's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from instances import CostTables
from instances.assignment import Assignment
from instances.costs import Integers
from instances.kernels import cached_njit

from .ad import ad_batch
from .balance import balance_kernel
from .batch import Batch, copy, inner, limits, stable_order, without
from .filling import (
    FAR,
    GROWTH,
    LATE,
    LENGTH,
    MEMORY,
    STEPS,
    TOKENS,
    UPLOAD,
    WIDER,
    Exact,
    exact_of,
)
from .questions import Questions
from .sd import sd_batch
from .search import LAST, POINT, most_users, prefix
from .task import Found, Task
from .walk import walk

Modes = NDArray[np.int8]
#: The thresholds whose users are ejected.
THRESHOLDS = (TOKENS, GROWTH, LENGTH, UPLOAD, LATE)
#: Steps in a round: thresholds, modes, and which mode is filled first.
STEPS_IN_ROUND = len(THRESHOLDS) * 2 * 2
#: Users that a start's third filling may be hoped to add.
HOPE = 1
#: Points that the walk visits, and boxes that are searched, for each unit of effort.
POINTS, BOXES = 1_500, 100


class Scene(NamedTuple):
    """An instance at one z, and the users who may not enter the mode that is filled (K,)."""

    exact: Exact
    ad: Batch
    sd: Batch
    z: int
    lam: int
    ejected: NDArray[np.bool_]


@inner
def _served(modes: Modes) -> int:
    count = 0
    for k in range(len(modes)):
        count += modes[k] > 0
    return count


@inner
def _count(modes: Modes, mode: int) -> int:
    """Return how many users a mode serves (0: AD, 1: SD)."""
    count = 0
    for k in range(len(modes)):
        count += modes[k] == mode + 1
    return count


@inner
def _bytes(e: Exact, modes: Modes, mode: int) -> int:
    """Return the memory that a mode's users take (0: AD, 1: SD)."""
    count = tokens = memory = steps = wider = 0
    for k in range(len(modes)):
        if modes[k] == mode + 1:
            user = e.user[k, mode]
            count, memory, steps = count + 1, memory + user[MEMORY], steps + user[STEPS]
            tokens, wider = max(tokens, user[TOKENS]), max(wider, user[WIDER])
    return int(memory + e.kv[mode] * tokens * count + steps * wider)


@inner
def _fill(scene: Scene, modes: Modes, mode: int, least: int, split: int) -> bool:
    """Let a mode serve the most users of those the other leaves; False: fewer than `least`.

    Parameters
    ----------
    scene : Scene
    modes : (K,) int8
        The schedule; changed where there are enough.
    mode : int
        0 for AD, 1 for SD.
    least : int
    split : int
        Position of the λ that limits the memory; -1: what the other mode leaves.
    """
    e, z = scene.exact, scene.z
    taken = scene.ejected.copy()
    for k in range(len(modes)):
        taken[k] |= modes[k] == 2 - mode
    left = without(scene.ad if mode == 0 else scene.sd, taken)
    room = e.split[mode, z, split] if split >= 0 else e.room[z] - _bytes(e, modes, 1 - mode)
    part = e.part[z] if mode == 0 else e.whole - e.part[z]
    limit, point = limits(left, part, e.whole, room), np.zeros(POINT, np.int64)
    count = most_users(left, limit, max(least, 1), len(left.user), point)
    if count < least:
        return False
    for k in range(len(modes)):
        if modes[k] == mode + 1:
            modes[k] = 0
    if count > 0:
        chosen = np.empty(len(left.user), np.int64)
        count = prefix(left, limit, point, point, point[LAST] + 1, chosen)
        for i in range(count):
            modes[left.user[chosen[i]]] = mode + 1
    return True


@inner
def _eject(scene: Scene, modes: Modes, mode: int, column: int) -> None:
    """Mark the users of a mode that set one of its thresholds."""
    most = -FAR
    for k in range(len(modes)):
        if modes[k] == mode + 1:
            most = max(most, scene.exact.user[k, mode, column])
    for k in range(len(modes)):
        setter = scene.exact.user[k, mode, column] == most
        scene.ejected[k] = modes[k] == mode + 1 and setter


@inner
def _step(scene: Scene, modes: Modes, mode: int, column: int, swap: bool, served: int) -> bool:
    """Eject users from a mode and fill both anew; return whether more are served than before."""
    _eject(scene, modes, mode, column)
    if swap:
        for k in range(len(modes)):
            if scene.ejected[k]:
                modes[k] = 0
        scene.ejected[:] = False
        _fill(scene, modes, 1 - mode, 0, scene.lam)
    else:
        _fill(scene, modes, mode, 0, scene.lam)
        scene.ejected[:] = False
        if not _fill(scene, modes, 1 - mode, served - _count(modes, mode) - 1, scene.lam):
            return False
    return _fill(scene, modes, mode, served - _count(modes, 1 - mode) + 1, scene.lam)


@inner
def _search(scene: Scene, modes: Modes, trial: Modes) -> int:
    """Take steps that serve more until a round has none; return how many are served."""
    served, idle, at = _served(modes), 0, 0
    while idle < STEPS_IN_ROUND:
        mode, turn = at % 2, at // 2
        column, swap = THRESHOLDS[turn % len(THRESHOLDS)], turn // len(THRESHOLDS) % 2 == 1
        at, idle = at + 1, idle + 1
        if mode == 0 and column == GROWTH:
            continue
        copy(modes, trial)
        if _step(scene, trial, mode, column, swap, served):
            copy(trial, modes)
            served, idle = _served(modes), 0
    return served


@inner
def _start(scene: Scene, modes: Modes, first: int, most: int) -> int:
    """Fill one mode, then the other, then the first again; return how many are served.

    A start that the third filling would have to save (with more than `HOPE` users) is given up.
    """
    modes[:] = 0
    _fill(scene, modes, first, 0, scene.lam)
    if not _fill(scene, modes, 1 - first, most - HOPE - _served(modes), scene.lam):
        return 0
    _fill(scene, modes, first, most - _count(modes, 1 - first), scene.lam)
    return _served(modes)


@cached_njit()
def plus_kernel(
    tables: CostTables, z_indices: Integers, lam_indices: Integers, joint: bool
) -> tuple[Modes, int]:
    """Return modes and z index; `joint`: one memory row (P1), else the only λ's two."""
    best, z, _ = balance_kernel(tables, z_indices, lam_indices, False, True)
    e, ad, sd = exact_of(tables), ad_batch(tables, False), sd_batch(tables, False)
    lam, none, most = -1 if joint else lam_indices[0], np.zeros(len(best), np.bool_), _served(best)
    starts = np.zeros((1 + 2 * len(z_indices), len(best)), np.int8)
    served, at, trial = np.zeros(len(starts), np.int64), np.full(len(starts), z), best.copy()
    copy(best, starts[0])
    served[0] = most
    for i in range(2 * len(z_indices)):
        at[i + 1] = z_indices[i // 2]
        if e.room[at[i + 1]] >= 0:
            scene = Scene(e, ad, sd, at[i + 1], lam, none)
            served[i + 1] = _start(scene, starts[i + 1], i % 2, most)
    for i in stable_order(-served):
        if served[i] >= most:
            found = _search(Scene(e, ad, sd, at[i], lam, none), starts[i], trial)
            if found > most:
                most, z = found, at[i]
                copy(starts[i], best)
    return best, z


def balance_plus(task: Task) -> Found:
    """Return a schedule that serves at least as many users as Algorithm 3's.

    Parameters
    ----------
    task : Task
        Without a λ the modes share the memory (P1). Its effort lengthens the walk, and from 2 on
        boxes of thresholds are searched, `BOXES` for each further unit; then there is a bound.

    Raises
    ------
    ValueError
        If memory is to be padded.
    """
    task.refuse_padded("balance+")
    best = improved(task, POINTS * task.effort)
    if task.effort == 1:
        return Found(best.to_schedule(task.instance), {})
    run = Questions(task, best)
    run.close(0, BOXES * (task.effort - 1))
    return Found(run.best.to_schedule(task.instance), run.statistics, run.bound)


def improved(task: Task, points: int = POINTS) -> Assignment:
    """Return the assignment of both local searches, the walk visiting so many points."""
    z_indices = np.array(task.z_indices, np.int64)
    lam_indices = np.array(task.lam_indices, np.int64)
    modes, z = plus_kernel(task.tables, z_indices, lam_indices, task.lam is None)
    lam = None if task.lam is None else task.lam_indices[0]
    return walk(task, Assignment(modes, int(z), lam), points)
