"""Conflict cuts: pairs of users that no schedule serves that way together, grown to cliques.

Two users alone in a mode cost no more than within any larger batch, and its budget is no larger
than theirs: every maximum and every sum grows with the members. So if the two alone overrun the
mode's time or room, at the box's lower ends, or their caches in two modes the joint room, then at
most one of the two choices can be made: ``x_i + x_j <= 1`` (or ``x_i + y_j <= 1``). A set of
choices of which any two conflict, or belong to one user, gives ``Σ <= 1``, which is stronger.
"""

from __future__ import annotations

import numpy as np

from instances.costs import Flags, Integers

from .box import Box, Part, Setting, eligible
from .thresholds import Mode

#: A choice "user k in AD" is k, "user k in SD" is k + K.
Choice = int


def conflicts(setting: Setting, box: Box) -> Flags:
    """Return which choices exclude each other, (2K, 2K); a user's own two choices are left out."""
    users = setting.users
    found = np.zeros((2 * users, 2 * users), np.bool_)
    alone = []
    for side, part in enumerate((box.ad, box.sd)):
        mode, some = setting.modes[side], np.flatnonzero(eligible(setting, box, side))
        choices = mode.users[some] + side * users
        found[np.ix_(choices, choices)] = _overrun(mode, part, some)
        alone.append((choices, _bytes(mode, part, some)))
    if setting.joint_room is not None:
        (ad, ad_bytes), (sd, sd_bytes) = alone
        full = ad_bytes[:, None] + sd_bytes[None, :] > setting.joint_room
        found[np.ix_(ad, sd)] = full
        found[np.ix_(sd, ad)] = full.T
    return without_own(found)


def without_own(matrix: Flags) -> Flags:
    """Return a matrix of choices without pairs of one user."""
    half = len(matrix) // 2
    users = np.arange(half)
    for first in (users, users + half):
        matrix[first, users] = matrix[first, users + half] = False
    return matrix


def _overrun(mode: Mode, part: Part, some: Integers) -> Flags:
    """Return which pairs of members are too much for the mode."""
    first, second = some[:, None], some[None, :]
    ticks = mode.time[first] + mode.time[second]
    cache = mode.memory[first] + mode.memory[second]
    charge = np.full(ticks.shape, mode.fixed)
    for t, threshold in enumerate(mode.thresholds):
        own = threshold.rank
        level = np.maximum(part.low[t], np.maximum(own[first], own[second]))
        charge += threshold.charge[level]
        if threshold.summands:
            ticks += mode.times[t][first, level] + mode.times[t][second, level]
            cache += mode.memories[t][first, level] + mode.memories[t][second, level]
    return (ticks > mode.budget(charge)) | (cache > mode.room)


def _bytes(mode: Mode, part: Part, some: Integers) -> Integers:
    """Return each member's bytes if it is alone in the mode."""
    cache = mode.memory[some].copy()
    for t, threshold in enumerate(mode.thresholds):
        if threshold.summands:
            cache += mode.memories[t][some, np.maximum(part.low[t], threshold.rank[some])]
    return cache


def cliques(matrix: Flags) -> list[list[Choice]]:
    """Return maximal sets of choices that exclude each other, so that every conflict is in one.

    Parameters
    ----------
    matrix : (2K, 2K) bool
        Conflicts, symmetric.
    """
    half = len(matrix) // 2
    users = np.arange(half)
    linked = matrix.copy()
    linked[users, users + half] = linked[users + half, users] = True
    left, found = matrix.copy(), list[list[Choice]]()
    for first, second in zip(*np.nonzero(np.triu(matrix)), strict=True):
        if left[first, second]:
            clique = _grown(linked, left, [int(first), int(second)])
            members = np.array(clique)
            left[np.ix_(members, members)] = False
            found.append(sorted(clique))
    return found


def _grown(linked: Flags, left: Flags, clique: list[Choice]) -> list[Choice]:
    """Add choices, those first that settle the most conflicts still left."""
    common = linked[clique].all(axis=0)
    while common.any():
        candidates = np.flatnonzero(common)
        gain = left[clique][:, candidates].sum(axis=0)
        best = int(candidates[np.argmax(gain)])
        clique.append(best)
        common &= linked[best]
    return clique
