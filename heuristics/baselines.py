"""The baselines of the paper's Section V: AD-only, SD-only, ECRA, EMA and ECRMA."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from instances import CostTables
from instances.assignment import AD, SD, Assignment
from instances.costs import Integers
from instances.kernels import cached_njit

from .ad import ad_batch, ad_limits
from .balance import balance
from .sd import sd_batch, sd_limits
from .search import best_users
from .task import Found, Task


@cached_njit()
def most_ad(tables: CostTables, z_index: int, lam_index: int, padded: bool) -> Integers:
    """Return the most users that AD can serve at one grid point, by P3.1's exact optimum."""
    batch = ad_batch(tables, padded)
    return best_users(batch, ad_limits(tables, batch, z_index, lam_index))


@cached_njit()
def most_sd(tables: CostTables, z_index: int, lam_index: int, padded: bool) -> Integers:
    """Return the most users that SD can serve at one grid point, by P3.2's exact optimum."""
    batch = sd_batch(tables, padded)
    return best_users(batch, sd_limits(tables, batch, z_index, lam_index))


def ad_only(task: Task) -> Found:
    """Return the best schedule without SD.

    Unless fixed, z = λ = 1: both the time and the memory of AD grow with z and λ (and at z = 1
    the small model's weights are not loaded), so no other shares serve more.
    """
    point = task.z_indices[-1], task.lam_indices[-1]
    modes = np.zeros(task.tables.users, np.int8)
    modes[most_ad(task.tables, *point, task.padded)] = AD
    return Found(Assignment(modes, *point).to_schedule(task.instance), {})


def sd_only(task: Task) -> Found:
    """Return the best schedule without AD; unless fixed, z = λ = 0, where SD has the most."""
    point = task.z_indices[0], task.lam_indices[0]
    modes = np.zeros(task.tables.users, np.int8)
    modes[most_sd(task.tables, *point, task.padded)] = SD
    return Found(Assignment(modes, *point).to_schedule(task.instance), {})


def ecra(task: Task) -> Found:
    """Return Algorithm 3's schedule with equal computing shares, z = 1/2, and λ free."""
    return balanced(_halved(task, "z"))


def ema(task: Task) -> Found:
    """Return Algorithm 3's schedule with equal memory shares, λ = 1/2, and z free."""
    return balanced(_halved(task, "lam"))


def ecrma(task: Task) -> Found:
    """Return Algorithm 3's schedule with z = λ = 1/2."""
    return balanced(_halved(_halved(task, "z"), "lam"))


def balanced(task: Task) -> Found:
    """Return Algorithm 3's schedule."""
    found = balance(task.tables, task.z_indices, task.lam_indices, task.padded)
    return Found(found.to_schedule(task.instance), {})


def _halved(task: Task, share: Literal["z", "lam"]) -> Task:
    """Return the task with a share fixed at 1/2, on the grid {0, 1/2, 1}.

    The paper fixes exactly 1/2, so a grid without it is replaced.
    """
    if getattr(task, share) is not None:
        raise ValueError(f"this baseline fixes {share} = 0.5; leave {share} out")
    halves = (0.0, 0.5, 1.0)
    if share == "z":
        instance = task.instance.model_copy(update={"z_grid": halves})
        return replace(task, instance=instance, z=0.5)
    instance = task.instance.model_copy(update={"lambda_grid": halves})
    return replace(task, instance=instance, lam=0.5)
