"""Pegging: what the Lagrangian bound at given prices rules out without branching.

`threshold_bound.lagrangian` is a sum over users. Let S be its value and r_k user k's term. The same
prices bound a part of the box by changing a few terms:

- *k takes a mode*: r_k becomes that option's reward, and the batch is charged at least k's own
  deadline, upload and length: q_k = (price / ticks) Σ max(0, own charge - charge at the lower
  end) leaves the mode's time row, at either end of z;
- *k waits*: r_k becomes 0;
- *a charge threshold stands exactly at level v*: q(v) leaves the time row, and users of a higher
  level lose the mode: each term falls to its best other option;
- *z, λ or |X| takes one value*: the linear terms take that value.

If the result is below -`margin`, no answer has the property: the option is shut, the level is cut
off if it is at an end of its interval. An empty batch counts as standing at the lower ends, where
it is charged nothing more, so the rule holds for it too. A user left with one mode fixes the
thresholds it implies.

Rounding: each test adds a handful of terms, no larger than those of S, to S; `margin` leaves room
for eight times the error of S.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import threshold_bound as bd
from . import threshold_box as bx
from . import threshold_levels as ix
from .threshold_box import OPEN, SHUT, Costs
from .threshold_levels import Floats, Integers, Levels, Shares, inlined, kernel

#: Results of a pass.
EMPTY, SAME, CHANGED = -1, 0, 1


class Rewards(NamedTuple):
    """The users' terms at the current prices; scratch space.

    Attributes
    ----------
    user : (5, K) float
        Reward of each mode, the best option's, and what the term loses without the mode (0 where
        the user prefers another option).
    level : (width,) float
        Sums by level.
    """

    user: Floats
    level: Floats


#: Rows of `Rewards.user`.
IN_AD, IN_SD, BEST, LOSS_AD, LOSS_SD = range(5)


@kernel()
def new_rewards(users: int, width: int) -> Rewards:
    """Return scratch space."""
    return Rewards(np.zeros((5, users)), np.zeros(width))


@kernel(fastmath=bx.FAST)
def reward(c: Costs, users: int, price: Floats, r: Rewards) -> None:
    """Fill in the users' terms."""
    alpha, beta = price[bd.AD_TIME], price[bd.SD_TIME]
    mu, nu = price[bd.AD_BYTES], price[bd.SD_BYTES]
    ad_gain, sd_gain = price[bd.USER] - price[bd.AD_MOST], price[bd.USER] - price[bd.SD_MOST]
    u, v = c.user, r.user
    for k in range(users):
        ad = u[bx.AD, k] + (ad_gain - alpha * u[bx.AD_TIME, k] - mu * u[bx.AD_BYTES, k])
        sd = u[bx.SD, k] + (sd_gain - beta * u[bx.SD_TIME, k] - nu * u[bx.SD_BYTES, k])
        wait = u[bx.WAIT, k]
        v[IN_AD, k], v[IN_SD, k] = ad, sd
        v[BEST, k] = max(wait, max(ad, sd))
        v[LOSS_AD, k] = max(0.0, ad - max(wait, sd)) if u[bx.AD, k] > OPEN else 0.0
        v[LOSS_SD, k] = max(0.0, sd - max(wait, ad)) if u[bx.SD, k] > OPEN else 0.0


@inlined()
def share_term(c: Costs, price: Floats, ad_less: float, sd_less: float) -> float:
    """Return the bound's term in z when the time rows lose so much (at the largest share)."""
    alpha, beta = price[bd.AD_TIME] - ad_less, price[bd.SD_TIME] - sd_less
    at_low, at_high = alpha * c.scale[bx.AD_AT_LOW] + beta, alpha + beta * c.scale[bx.SD_AT_HIGH]
    term: float = max(at_low, at_high)
    return term


@inlined()
def imply(lv: Levels, low: Integers, high: Integers, k: int, first: int, stop: int) -> int:
    """Raise the lower ends to user k's levels; EMPTY, SAME or CHANGED."""
    result = SAME
    for d in range(first, stop):
        if lv.rank[d, k] > low[d]:
            low[d] = lv.rank[d, k]
            result = CHANGED
        if low[d] > high[d]:
            return EMPTY
    return result


@kernel()
def peg_users(
    lv: Levels, c: Costs, r: Rewards, low: Integers, high: Integers, price: Floats, bound: float
) -> int:  # fmt: skip
    """Shut options that cannot be part of an answer; EMPTY, SAME or CHANGED."""
    u, v, own, options = c.user, r.user, lv.user, lv.options
    floor = -bd.margin(price, lv.members[ix.USERS])
    plain = share_term(c, price, 0.0, 0.0)
    ad_rate = price[bd.AD_TIME] / max(c.scale[bx.AD_TICKS], 1.0)
    sd_rate = price[bd.SD_TIME] / max(c.scale[bx.SD_TICKS], 1.0)
    d1, d2, d3 = lv.charge[1, low[1]], lv.charge[2, low[2]], lv.charge[3, low[3]]
    d6, d7, d8 = lv.charge[6, low[6]], lv.charge[7, low[7]], lv.charge[8, low[8]]
    result = SAME
    for k in range(lv.members[ix.USERS]):
        rest = bound - v[BEST, k] - plain
        if u[bx.AD, k] > OPEN:
            over = max(0.0, own[ix.AD_OWN_DEADLINE, k] - d1)
            over += max(0.0, own[ix.AD_OWN_UPLOAD, k] - d2)
            over += max(0.0, own[ix.AD_OWN_OUTPUT, k] - d3)
            if rest + v[IN_AD, k] + share_term(c, price, ad_rate * over, 0.0) < floor:
                options[k] &= ~ix.MAY_AD
                u[bx.AD, k] = SHUT
                result = CHANGED
        if u[bx.SD, k] > OPEN:
            over = max(0.0, own[ix.SD_OWN_DEADLINE, k] - d6)
            over += max(0.0, own[ix.SD_OWN_UPLOAD, k] - d7)
            over += max(0.0, own[ix.SD_OWN_ITERATIONS, k] - d8)
            if rest + v[IN_SD, k] + share_term(c, price, 0.0, sd_rate * over) < floor:
                options[k] &= ~ix.MAY_SD
                u[bx.SD, k] = SHUT
                result = CHANGED
        if u[bx.WAIT, k] > OPEN and bound - v[BEST, k] < floor:
            options[k] &= ~ix.MAY_WAIT
            u[bx.WAIT, k] = SHUT
            result = CHANGED
        if u[bx.WAIT, k] < OPEN:
            ad, sd = u[bx.AD, k] > OPEN, u[bx.SD, k] > OPEN
            if not (ad or sd):
                return EMPTY
            if not (ad and sd):
                implied = imply(lv, low, high, k, 0 if ad else 4, 4 if ad else 9)
                if implied == EMPTY:
                    return EMPTY
                result = max(result, implied)
    return result


@inlined()
def without_higher(lv: Levels, loss: Floats, total: Floats, d: int, low: int, high: int) -> None:
    """Set `total[v]` to what the users above level v of threshold d lose, v in [low, high]."""
    for v in range(low, high + 1):
        total[v] = 0.0
    rank = lv.rank[d]
    for k in range(lv.members[ix.USERS]):
        if loss[k] > 0.0 and rank[k] > low:
            total[min(rank[k], high) - 1] += loss[k]
    for v in range(high - 2, low - 1, -1):
        total[v] += total[v + 1]


@inlined()
def _bound_levels(
    lv: Levels, sh: Shares, c: Costs, r: Rewards, price: Floats, bound: float, d: int, low: int,
    high: int, goal: int,
) -> None:  # fmt: skip
    """Set `level[v]` to the bound of the box's part where dimension d is exactly v."""
    s, value = c.scale, r.level
    linear = bound - share_term(c, price, 0.0, 0.0)
    if d < ix.THRESHOLDS:
        ad = d < ix.SD_INPUT
        without_higher(lv, r.user[LOSS_AD if ad else LOSS_SD], value, d, low, high)
        rate = (price[bd.AD_TIME] if ad else price[bd.SD_TIME]) / max(
            s[bx.AD_TICKS] if ad else s[bx.SD_TICKS], 1.0
        )
        for v in range(low, high + 1):
            less = rate * (lv.charge[d, v] - lv.charge[d, low])
            term = share_term(c, price, less, 0.0) if ad else share_term(c, price, 0.0, less)
            value[v] = linear - value[v] + term
    elif d == ix.SHARE:
        ad_most = s[bx.AD_BUDGET] / s[bx.AD_TICKS] if s[bx.AD_BUDGET] > 0 else 1.0
        sd_most = s[bx.SD_BUDGET] / s[bx.SD_TICKS] if s[bx.SD_BUDGET] > 0 else 1.0
        for v in range(low, high + 1):
            ad_part = sh.share[0, v] / ad_most if s[bx.AD_BUDGET] > 0 else 1.0
            sd_part = sh.share[1, v] / sd_most if s[bx.SD_BUDGET] > 0 else 1.0
            value[v] = linear + price[bd.AD_TIME] * ad_part + price[bd.SD_TIME] * sd_part
    elif d == ix.SPLIT:
        mu, nu = price[bd.AD_BYTES], price[bd.SD_BYTES]
        plain = max(mu * s[bx.AD_ROOM_AT_LOW] + nu, mu + nu * s[bx.SD_ROOM_AT_HIGH])
        for v in range(low, high + 1):
            ad_part = sh.room[0, v] / s[bx.AD_ROOM] if s[bx.AD_ROOM] > 0 else 1.0
            sd_part = sh.room[1, v] / s[bx.SD_ROOM] if s[bx.SD_ROOM] > 0 else 1.0
            value[v] = bound - plain + mu * ad_part + nu * sd_part
    else:
        for v in range(low, high + 1):
            fewer_ad, fewer_sd = s[bx.MOST_AD] - v, s[bx.MOST_SD] - (goal - v)
            value[v] = bound - price[bd.AD_MOST] * fewer_ad - price[bd.SD_MOST] * fewer_sd


@kernel()
def peg_levels(
    lv: Levels, sh: Shares, c: Costs, r: Rewards, low: Integers, high: Integers, price: Floats,
    bound: float, goal: int,
) -> int:  # fmt: skip
    """Cut off end levels that cannot be part of an answer; EMPTY, SAME or CHANGED."""
    floor = -bd.margin(price, lv.members[ix.USERS])
    result = SAME
    for d in (1, 2, 3, 6, 7, 8, ix.SHARE, ix.SPLIT, ix.AD_COUNT):
        first, last = low[d], high[d]
        if first == last or (d == ix.SPLIT and sh.joint):
            continue
        _bound_levels(lv, sh, c, r, price, bound, d, first, last, goal)
        while first <= last and r.level[first] < floor:
            first += 1
        while last >= first and r.level[last] < floor:
            last -= 1
        if first > last:
            return EMPTY
        if first > low[d] or last < high[d]:
            low[d], high[d] = first, last
            result = CHANGED
    return result
