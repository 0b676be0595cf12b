"""`Assignment`: a schedule in indices, as the solvers see it, and its test on the tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .costs import CostTables
from .model import Instance
from .schedule import Schedule

#: Codes in `Assignment.modes`.
NONE, AD, SD = 0, 1, 2


@dataclass(frozen=True)
class Assignment:
    """One mode per user and the indices of the shares.

    Attributes
    ----------
    modes : (K,) int8
        `NONE`, `AD` or `SD` per user, in the instance's order.
    z_index : int
        Position in `z_grid`.
    lam_index : int or None
        Position in `lambda_grid`; None where memory is shared (P1).
    """

    modes: NDArray[np.int8]
    z_index: int
    lam_index: int | None = None

    @property
    def served(self) -> int:
        """Users served."""
        return int(np.count_nonzero(self.modes))

    def to_schedule(self, instance: Instance) -> Schedule:
        """Return the assignment in ids and shares."""
        ids = [user.id for user in instance.users]
        return Schedule(
            z=instance.z_grid[self.z_index],
            lam=None if self.lam_index is None else instance.lambda_grid[self.lam_index],
            ad=tuple(ids[k] for k in np.flatnonzero(self.modes == AD)),
            sd=tuple(ids[k] for k in np.flatnonzero(self.modes == SD)),
        )


def to_assignment(instance: Instance, schedule: Schedule) -> Assignment:
    """Return a schedule in indices.

    Raises
    ------
    ValueError
        If it names an unknown user or a share that is not in the instance's grids.
    """
    modes = np.zeros(len(instance.users), np.int8)
    for mode, ids in ((AD, schedule.ad), (SD, schedule.sd)):
        for name in ids:
            if name not in instance.index:
                raise ValueError(f"user {name!r} is not in the instance")
            modes[instance.index[name]] = mode
    if schedule.z not in instance.z_grid:
        raise ValueError(f"z = {schedule.z} is not in z_grid")
    if schedule.lam is not None and schedule.lam not in instance.lambda_grid:
        raise ValueError(f"lambda = {schedule.lam} is not in lambda_grid")
    lam = None if schedule.lam is None else instance.lambda_grid.index(schedule.lam)
    return Assignment(modes, instance.z_grid.index(schedule.z), lam)


def fits(tables: CostTables, assignment: Assignment) -> bool:
    """Return whether the tables accept an assignment (every row of P1, or of P2 with a λ).

    On tables built *up*, True proves exact feasibility; on tables built *down*, False proves
    infeasibility.
    """
    ad = np.flatnonzero(assignment.modes == AD)
    sd = np.flatnonzero(assignment.modes == SD)
    if not ad.size and not sd.size:
        return True
    z, whole = int(tables.z_numerator[assignment.z_index]), tables.z_denominator
    if tables.room[assignment.z_index] < 0:
        return False
    if ad.size and (z == 0 or not tables.ad_allowed[ad].all()):
        return False
    if sd.size and (z == whole or not tables.sd_allowed[sd].all()):
        return False
    ad_time, ad_bytes = ad_batch(tables, ad)
    sd_time, sd_bytes = sd_batch(tables, sd)
    if whole * ad_time > z * ad_budget(tables, ad):
        return False
    if whole * sd_time > (whole - z) * sd_budget(tables, sd):
        return False
    if assignment.lam_index is None:
        return ad_bytes + sd_bytes <= int(tables.room[assignment.z_index])
    point = assignment.z_index, assignment.lam_index
    return ad_bytes <= int(tables.ad_room[point]) and sd_bytes <= int(tables.sd_room[point])


def ad_batch(tables: CostTables, users: NDArray[np.intp]) -> tuple[int, int]:
    """Return the whole-GPU ticks and the cache bytes of an AD batch (Python integers)."""
    if not users.size:
        return 0, 0
    longest = users[np.argmax(tables.input_tokens[users])]
    tokens = int(tables.input_tokens[longest])
    time = tables.ad_base[users].sum() + tables.ad_slope[users].sum() * tokens
    time += users.size * tables.ad_prefill[longest]
    return int(time), int(tables.ad_memory[users].sum()) + users.size * tables.kv_ad * tokens


def sd_batch(tables: CostTables, users: NDArray[np.intp]) -> tuple[int, int]:
    """Return the whole-GPU ticks and the cache bytes of an SD batch (Python integers)."""
    if not users.size:
        return 0, 0
    longest = users[np.argmax(tables.input_tokens[users])]
    keenest = users[np.argmax(tables.accept_rank[users])]
    tokens = int(tables.input_tokens[longest])
    time = tables.sd_base[users].sum() + tables.sd_slope[users].sum() * tokens
    time += users.size * tables.sd_prefill[longest]
    time += tables.sd_pairs[users].sum() * tables.sd_growth[keenest]
    memory = int(tables.sd_memory[users].sum()) + users.size * tables.kv_sd * tokens
    memory += int(tables.sd_steps[users].sum()) * int(tables.sd_memory_growth[keenest])
    return int(time), memory


def ad_budget(tables: CostTables, users: NDArray[np.intp]) -> int:
    """Return the ticks an AD batch may compute at z = 1: deadline - upload - L2 β^L."""
    if not users.size:
        return 0
    fixed = int(tables.upload[users].max()) + tables.ad_step * int(
        tables.output_tokens[users].max()
    )
    return int(tables.deadline[users].min()) - fixed


def sd_budget(tables: CostTables, users: NDArray[np.intp]) -> int:
    """Return the ticks an SD batch may compute at z = 0: deadline - upload - fixed - N1 step."""
    if not users.size:
        return 0
    fixed = int(tables.upload[users].max()) + tables.sd_fixed
    fixed += tables.sd_step * int(tables.iterations[users].max())
    return int(tables.deadline[users].min()) - fixed
