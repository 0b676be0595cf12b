"""The exact test of an assignment inside a kernel: `instances.assignment.fits` at many z and λ."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from instances import CostTables
from instances.kernels import passed

from . import threshold_levels as ix
from .batch import part_of
from .threshold_levels import Integers, Shares, kernel

#: Modes of an answer, as in `instances.assignment`.
NONE, AD, SD = 0, passed(1), passed(2)
#: Rows of `Exact.user`.
(
    INPUT, OUTPUT, ITERATIONS, ACCEPT, DEADLINE, UPLOAD,
    AD_BASE, AD_SLOPE, AD_PREFILL, AD_MEMORY,
    SD_BASE, SD_SLOPE, SD_PREFILL, SD_PAIRS, SD_GROWTH, SD_MEMORY, SD_STEPS, SD_WIDER,
) = range(18)  # fmt: skip
_FAR = 2**62


class Exact(NamedTuple):
    """The tables' integers, packed for the kernel (few arguments compile and call faster).

    Attributes
    ----------
    user : (18, K)
        Columns of `CostTables` by the row names above.
    number : (6,)
        kv_ad, kv_sd, ad_step, sd_step, sd_fixed, z_denominator.
    z : (2, nz)
        z_numerator and room.
    room : (2, nz, nl)
        ad_room and sd_room.
    """

    user: Integers
    number: Integers
    z: Integers
    room: Integers


def pack(t: CostTables) -> Exact:
    """Return the tables' integers for `place`."""
    return Exact(
        np.array(
            [
                t.input_tokens, t.output_tokens, t.iterations, t.accept_rank, t.deadline, t.upload,
                t.ad_base, t.ad_slope, t.ad_prefill, t.ad_memory, t.sd_base, t.sd_slope,
                t.sd_prefill, t.sd_pairs, t.sd_growth, t.sd_memory, t.sd_steps, t.sd_memory_growth,
            ]
        ),
        np.array([t.kv_ad, t.kv_sd, t.ad_step, t.sd_step, t.sd_fixed, t.z_denominator]),
        np.array([t.z_numerator, t.room]),
        np.array([t.ad_room, t.sd_room]),
    )  # fmt: skip


@kernel()
def _batch(e: Exact, modes: NDArray[np.int8], mode: int) -> tuple[int, int, int, int]:
    """Return count, budget, ticks and bytes of a batch; bytes stop growing above every room."""
    u, ad = e.user, mode == AD
    longest, keenest, length, deadline, upload = -1, -1, 0, _FAR, 0
    time, slope, pairs, count = 0, 0, 0, 0
    for k in range(len(modes)):
        if modes[k] == mode:
            if longest < 0 or u[INPUT, k] > u[INPUT, longest]:
                longest = k
            if keenest < 0 or u[ACCEPT, k] > u[ACCEPT, keenest]:
                keenest = k
            length = max(length, u[OUTPUT if ad else ITERATIONS, k])
            deadline, upload = min(deadline, u[DEADLINE, k]), max(upload, u[UPLOAD, k])
            time += u[AD_BASE if ad else SD_BASE, k]
            slope += u[AD_SLOPE if ad else SD_SLOPE, k]
            pairs += u[SD_PAIRS, k]
            count += 1
    if count == 0:
        return 0, 0, 0, 0
    tokens, size, most = u[INPUT, longest], 0, 0
    for z in range(e.z.shape[1]):
        most = max(most, e.z[1, z])
    time += slope * tokens + count * u[AD_PREFILL if ad else SD_PREFILL, longest]
    if not ad:
        time += pairs * u[SD_GROWTH, keenest]
    for k in range(len(modes)):
        if modes[k] == mode and size <= most:
            size += u[AD_MEMORY if ad else SD_MEMORY, k] + e.number[0 if ad else 1] * tokens
            if not ad:
                size += u[SD_STEPS, k] * u[SD_WIDER, keenest]
    budget = deadline - upload - e.number[2 if ad else 3] * length - (0 if ad else e.number[4])
    return count, budget, time, size


@kernel()
def place(
    e: Exact, sh: Shares, modes: NDArray[np.int8], low: Integers, high: Integers, point: Integers
) -> bool:
    """Write grid positions of a z and a λ in the box at which the tables accept into `point`."""
    in_ad, ad_budget, ad_time, ad_bytes = _batch(e, modes, AD)
    in_sd, sd_budget, sd_time, sd_bytes = _batch(e, modes, SD)
    whole = e.number[5]
    for i in range(low[ix.SHARE], high[ix.SHARE] + 1):
        z = sh.z[i]
        part = e.z[0, z]
        if in_ad > 0 and (part == 0 or ad_time > part_of(ad_budget, part, whole)):
            continue
        if in_sd > 0 and (part == whole or sd_time > part_of(sd_budget, whole - part, whole)):
            continue
        for j in range(low[ix.SPLIT], high[ix.SPLIT] + 1):
            lam = sh.lam[j]
            if sh.joint:
                fits = ad_bytes + sd_bytes <= e.z[1, z]
            else:
                fits = ad_bytes <= e.room[0, z, lam] and sd_bytes <= e.room[1, z, lam]
            if fits:
                point[0], point[1] = z, lam
                return True
    return False
