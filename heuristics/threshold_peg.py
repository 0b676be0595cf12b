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
        ad = u[bx.USE, k] + (ad_gain - alpha * u[bx.TIME, k] - mu * u[bx.BYTES, k])
        sd = u[bx.USE + 1, k] + (sd_gain - beta * u[bx.TIME + 1, k] - nu * u[bx.BYTES + 1, k])
        wait = u[bx.WAIT, k]
        v[IN_AD, k], v[IN_SD, k] = ad, sd
        v[BEST, k] = max(wait, max(ad, sd))
        v[LOSS_AD, k] = max(0.0, ad - max(wait, sd)) if u[bx.USE, k] > OPEN else 0.0
        v[LOSS_SD, k] = max(0.0, sd - max(wait, ad)) if u[bx.USE + 1, k] > OPEN else 0.0


@inlined()
def share_term(c: Costs, price: Floats, ad_less: float, sd_less: float) -> float:
    """Return the bound's term in z when the time rows lose so much (at the largest share)."""
    alpha, beta = price[bd.AD_TIME] - ad_less, price[bd.SD_TIME] - sd_less
    at_low, at_high = alpha * c.scale[bx.OTHER_END] + beta, alpha + beta * c.scale[bx.OTHER_END + 1]
    term: float = max(at_low, at_high)
    return term


@inlined()
def imply(lv: Levels, low: Integers, high: Integers, k: int, mode: int) -> int:
    """Raise a mode's lower ends to user k's levels; EMPTY, SAME or CHANGED."""
    result = SAME
    for d in range(mode * ix.SIDE, (mode + 1) * ix.SIDE):
        if lv.rank[d, k] > low[d]:
            low[d] = lv.rank[d, k]
            result = CHANGED
        if low[d] > high[d]:
            return EMPTY
    return result


@kernel()
def peg_users(
    lv: Levels, c: Costs, r: Rewards, low: Integers, high: Integers, price: Floats, bound: float
) -> int:
    """Shut options that cannot be part of an answer; EMPTY, SAME or CHANGED."""
    u, v, users, result = c.user, r.user, lv.members[ix.USERS], SAME
    floor = -bd.margin(price, users)
    plain = share_term(c, price, 0.0, 0.0)
    for mode in range(ix.MODES):
        use, row = bx.USE + mode, mode * ix.COLUMNS
        first, bit = mode * ix.SIDE + ix.DEADLINE, ix.MAY_USE << mode
        rate = price[bd.AD_TIME + mode] / max(c.scale[bx.TICKS + mode], 1.0)
        c1, c2 = lv.charge[first, low[first]], lv.charge[first + 1, low[first + 1]]
        c3 = lv.charge[first + 2, low[first + 2]]
        for k in range(users):
            if u[use, k] > OPEN:
                over = max(0.0, lv.user[row + ix.OWN_DEADLINE, k] - c1)
                over += max(0.0, lv.user[row + ix.OWN_UPLOAD, k] - c2)
                over += max(0.0, lv.user[row + ix.OWN_LENGTH, k] - c3)
                less = rate * over
                term = share_term(c, price, less * (1 - mode), less * mode)
                if bound - v[BEST, k] - plain + v[IN_AD + mode, k] + term < floor:
                    lv.options[k] &= ~bit
                    u[use, k] = SHUT
                    result = CHANGED
    for k in range(users):
        if u[bx.WAIT, k] > OPEN and bound - v[BEST, k] < floor:
            lv.options[k] &= ~ix.MAY_WAIT
            u[bx.WAIT, k] = SHUT
            result = CHANGED
        if u[bx.WAIT, k] < OPEN:
            ad, sd = u[bx.USE, k] > OPEN, u[bx.USE + 1, k] > OPEN
            if not (ad or sd):
                return EMPTY
            if not (ad and sd):
                implied = imply(lv, low, high, k, ix.AD if ad else ix.SD)
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
        mode = d // ix.SIDE
        without_higher(lv, r.user[LOSS_AD + mode], value, d, low, high)
        rate = price[bd.AD_TIME + mode] / max(s[bx.TICKS + mode], 1.0)
        for v in range(low, high + 1):
            less = rate * (lv.charge[d, v] - lv.charge[d, low])
            term = share_term(c, price, less * (1 - mode), less * mode)
            value[v] = linear - value[v] + term
    elif d == ix.SHARE:
        ad_most = s[bx.BUDGET] / s[bx.TICKS] if s[bx.BUDGET] > 0 else 1.0
        sd_most = s[bx.BUDGET + 1] / s[bx.TICKS + 1] if s[bx.BUDGET + 1] > 0 else 1.0
        for v in range(low, high + 1):
            ad_part = sh.share[0, v] / ad_most if s[bx.BUDGET] > 0 else 1.0
            sd_part = sh.share[1, v] / sd_most if s[bx.BUDGET + 1] > 0 else 1.0
            value[v] = linear + price[bd.AD_TIME] * ad_part + price[bd.SD_TIME] * sd_part
    elif d == ix.SPLIT:
        mu, nu = price[bd.AD_BYTES], price[bd.SD_BYTES]
        plain = max(mu * s[bx.OTHER_ROOM] + nu, mu + nu * s[bx.OTHER_ROOM + 1])
        for v in range(low, high + 1):
            ad_part = sh.room[0, v] / s[bx.ROOM] if s[bx.ROOM] > 0 else 1.0
            sd_part = sh.room[1, v] / s[bx.ROOM + 1] if s[bx.ROOM + 1] > 0 else 1.0
            value[v] = bound - plain + mu * ad_part + nu * sd_part
    else:
        for v in range(low, high + 1):
            fewer_ad, fewer_sd = s[bx.MOST] - v, s[bx.MOST + 1] - (goal - v)
            value[v] = bound - price[bd.AD_MOST] * fewer_ad - price[bd.SD_MOST] * fewer_sd


@kernel()
def peg_levels(
    lv: Levels, sh: Shares, c: Costs, r: Rewards, low: Integers, high: Integers, price: Floats,
    bound: float, goal: int,
) -> int:  # fmt: skip
    """Cut off end levels that cannot be part of an answer; EMPTY, SAME or CHANGED."""
    floor = -bd.margin(price, lv.members[ix.USERS])
    result = SAME
    for d in range(ix.DIMENSIONS):
        first, last = low[d], high[d]
        if first == last or (d < ix.THRESHOLDS and d % ix.SIDE < ix.DEADLINE):
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
