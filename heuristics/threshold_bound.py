"""The Lagrangian bound of a box: how much slack a schedule inside it can leave at most.

With costs as fractions of the box's budgets (`Costs`), every schedule of the box that serves
`goal` users, x of them in AD, meets

- AD time   Σ_X ad_time   <= z / z_high            (1 where z is at its upper end),
- SD time   Σ_Y sd_time   <= (1 - z) / (1 - z_low),
- memory    Σ_X ad_bytes + Σ_Y sd_bytes <= 1       (P1), or one such row for each mode (P2, with λ
  in place of z),
- |X| <= most_ad, |Y| <= most_sd, |X| + |Y| = goal.

For prices >= 0 (α, β, μ, ν on the first rows, a, s on the counts, θ on the goal) the weighted sum
of the slacks is non-negative for such a schedule, and it is at most

``S = Σ_k max(wait_k, θ - a - α ad_time_k - μ ad_bytes_k, θ - s - β sd_time_k - ν sd_bytes_k)
     + max over z (α z / z_high + β (1 - z) / (1 - z_low)) + memory
     + a most_ad + s most_sd - θ goal``

with the maximum over a user's open options. The term in z is linear, so one end of the interval
attains it; the same for λ. *If S < 0 the box holds no answer*, whatever the prices.

**Rounding.** α + β + μ (+ ν) = 1 up to rounding and θ, a, s <= 16; an open option's costs are at
most 1 + 1e-9, so each reward is at most M = θ + a + s + 2 in size and is computed within
16 M / 2^53 (its costs carry at most 8 roundings). A sum of K such terms in any order adds at most
K · K M / 2^53. The remaining terms are at most 4 + (a + s + θ) K. All in all the computed S is
within (K + 24)(K M + 4) / 2^53 of the exact one; nothing is cut off unless S < -`margin`, which is
eight times as much.
"""

from __future__ import annotations

import numpy as np

from . import threshold_box as bx
from .threshold_box import FAST, Costs
from .threshold_levels import Floats, inlined, kernel

#: Entries of a price vector.
AD_TIME, SD_TIME, AD_BYTES, SD_BYTES, AD_MOST, SD_MOST, USER = range(7)
PRICES = 7
#: No count price exceeds this.
HIGHEST = 16.0
#: The slack that price improvement aims for.
TARGET = -0.02


@inlined()
def margin(price: Floats, users: int) -> float:
    """Return how far below 0 the computed bound must lie to be a proof (see the module)."""
    size = price[USER] + price[AD_MOST] + price[SD_MOST] + 2
    bound: float = 8 * (users + 24) * (users * size + 4) * 2.0**-53
    return bound


@inlined(fastmath=FAST)
def lagrangian(c: Costs, users: int, price: Floats, goal: int, joint: bool, slack: Floats) -> float:
    """Return S at these prices; `slack` receives the rows' slacks at the maximiser (7,)."""
    alpha, beta, mu, nu = price[AD_TIME], price[SD_TIME], price[AD_BYTES], price[SD_BYTES]
    ad_gain, sd_gain = price[USER] - price[AD_MOST], price[USER] - price[SD_MOST]
    total, time_1, time_2, bytes_1, bytes_2, in_ad, in_sd = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    u = c.user
    for k in range(users):
        ad = u[bx.USE, k] + (ad_gain - alpha * u[bx.TIME, k] - mu * u[bx.BYTES, k])
        sd = u[bx.USE + 1, k] + (sd_gain - beta * u[bx.TIME + 1, k] - nu * u[bx.BYTES + 1, k])
        wait = u[bx.WAIT, k]
        total += max(wait, max(ad, sd))
        to_ad, to_sd = (ad >= sd) & (ad > wait), (sd > ad) & (sd > wait)
        time_1 += u[bx.TIME, k] if to_ad else 0.0
        bytes_1 += u[bx.BYTES, k] if to_ad else 0.0
        in_ad += 1.0 if to_ad else 0.0
        time_2 += u[bx.TIME + 1, k] if to_sd else 0.0
        bytes_2 += u[bx.BYTES + 1, k] if to_sd else 0.0
        in_sd += 1.0 if to_sd else 0.0
    s = c.scale
    at_low, at_high = alpha * s[bx.OTHER_END] + beta, alpha + beta * s[bx.OTHER_END + 1]
    slack[AD_TIME] = (s[bx.OTHER_END] if at_low > at_high else 1.0) - time_1
    slack[SD_TIME] = (1.0 if at_low > at_high else s[bx.OTHER_END + 1]) - time_2
    slack[AD_MOST], slack[SD_MOST] = s[bx.MOST] - in_ad, s[bx.MOST + 1] - in_sd
    slack[USER] = in_ad + in_sd - goal
    bound: float = total - goal * price[USER]
    bound += max(at_low, at_high)
    bound += price[AD_MOST] * s[bx.MOST] + price[SD_MOST] * s[bx.MOST + 1]
    if joint:
        slack[AD_BYTES], slack[SD_BYTES] = 1 - bytes_1 - bytes_2, 0.0
        bound += mu
        return bound
    low = mu * s[bx.OTHER_ROOM] + nu
    high = mu + nu * s[bx.OTHER_ROOM + 1]
    slack[AD_BYTES] = (s[bx.OTHER_ROOM] if low > high else 1.0) - bytes_1
    slack[SD_BYTES] = (1.0 if low > high else s[bx.OTHER_ROOM + 1]) - bytes_2
    bound += max(low, high)
    return bound


@inlined()
def _project(price: Floats, slack: Floats, rows: int) -> None:
    """Make `slack` a direction that keeps the rows' prices summing to 1, none below 0."""
    for _ in range(2):
        mean, free = 0.0, 0
        for i in range(rows):
            if price[i] > 0 or slack[i] < 0:
                mean += slack[i]
                free += 1
        mean /= max(free, 1)
        for i in range(rows):
            slack[i] = slack[i] - mean if price[i] > 0 or slack[i] < 0 else 0.0
    for i in range(SD_MOST + 1):
        if price[i] <= 0 and slack[i] > 0:
            slack[i] = 0.0


@kernel()
def improve(
    c: Costs, users: int, price: Floats, goal: int, joint: bool, steps: int, scratch: Floats
) -> float:
    """Lower S by projected subgradient steps from `price`, which receives the best prices found.

    Steps are Polyak's towards a slack slightly below 0; three without progress halve them.
    Stops as soon as S proves the box empty.
    """
    trial, slack = scratch[0], scratch[1]
    rows = 3 if joint else 4
    ad_weight, sd_weight = 1 / (1 + c.scale[bx.MOST]), 1 / (1 + c.scale[bx.MOST + 1])
    for i in range(PRICES):
        trial[i] = price[i]
    best, pace, idle = np.inf, 1.0, 0
    for _ in range(steps):
        bound = lagrangian(c, users, trial, goal, joint, slack)
        idle = 0 if bound < best - 2e-3 else idle + 1
        if bound < best:
            best = bound
            for i in range(PRICES):
                price[i] = trial[i]
            if best < -margin(price, users):
                break
        elif idle >= 3:
            pace, idle = pace / 2, 0
            if pace < 0.03:
                break
        _project(trial, slack, rows)
        slack[AD_MOST] *= ad_weight
        slack[SD_MOST] *= sd_weight
        slack[USER] /= goal
        norm = 0.0
        for i in range(PRICES):
            norm += slack[i] * slack[i]
        if norm < 1e-14:
            break
        slack[AD_MOST] *= ad_weight
        slack[SD_MOST] *= sd_weight
        slack[USER] /= goal
        step = pace * (bound - TARGET) / norm
        total = 0.0
        for i in range(PRICES):
            trial[i] = max(0.0, trial[i] - step * slack[i])
            total += trial[i] if i < rows else 0.0
        if total < 1e-9:
            break
        for i in range(PRICES):
            trial[i] = min(HIGHEST, trial[i] / total)
        if joint:
            trial[SD_BYTES] = trial[AD_BYTES]
    return best
