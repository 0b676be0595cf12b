"""Where to split a box: the cut whose two halves lose most of the Lagrangian slack.

At the node's prices a cut of a dimension after level v changes few terms of the bound (as in
`threshold_peg`): in the lower half users above v lose the mode; in the upper half the batch is
charged as at v + 1, or every user costs more. So all cuts of a dimension are scored in one pass,
without pricing a half. Scores only steer the search.
"""

from __future__ import annotations

from . import threshold_bound as bd
from . import threshold_box as bx
from . import threshold_levels as ix
from .threshold_box import Costs
from .threshold_levels import Floats, Levels, Shares, kernel
from .threshold_peg import LOSS_AD, LOSS_SD, Rewards, share_term, without_higher


@kernel()
def score(lower: float, upper: float, most: float) -> float:
    """Return the merit of a cut whose halves lose so much of the slack; `most` empties a half."""
    lower, upper = min(lower, most), min(upper, most)
    return min(lower, upper) + 0.2 * max(lower, upper)


@kernel(fastmath=bx.FAST)
def _costlier(lv: Levels, c: Costs, r: Rewards, price: Floats, d: int, low: int, v: int) -> float:
    """Return what the bound loses when L1, L3 or L4 rises from level `low` to v."""
    s, u, level, lost = c.scale, lv.user, lv.level, 0.0
    loss = r.user[LOSS_AD if d == ix.AD_INPUT else LOSS_SD]
    if d == ix.AD_INPUT:
        time = price[bd.AD_TIME] / max(s[bx.AD_BUDGET], 1e-300)
        size = price[bd.AD_BYTES] / max(s[bx.AD_ROOM], 1.0) * lv.kv[0]
        tokens, prefill = level[ix.TOKENS_1], level[ix.PREFILL_1]
        for k in range(len(loss)):
            longer = max(0.0, tokens[v] - max(tokens[low], u[ix.TOKENS, k]))
            more = max(0.0, prefill[v] - max(prefill[low], u[ix.AD_PREFILL, k]))
            lost += min(loss[k], time * (more + u[ix.AD_SLOPE, k] * longer) + size * longer)
    elif d == ix.SD_INPUT:
        time = price[bd.SD_TIME] / max(s[bx.SD_BUDGET], 1e-300)
        size = price[bd.SD_BYTES] / max(s[bx.SD_ROOM], 1.0) * lv.kv[1]
        tokens, prefill = level[ix.TOKENS_3], level[ix.PREFILL_3]
        for k in range(len(loss)):
            longer = max(0.0, tokens[v] - max(tokens[low], u[ix.TOKENS, k]))
            more = max(0.0, prefill[v] - max(prefill[low], u[ix.SD_PREFILL, k]))
            lost += min(loss[k], time * (more + u[ix.SD_SLOPE, k] * longer) + size * longer)
    else:
        time = price[bd.SD_TIME] / max(s[bx.SD_BUDGET], 1e-300)
        size = price[bd.SD_BYTES] / max(s[bx.SD_ROOM], 1.0)
        growth, wider = level[ix.GROWTH_4], level[ix.MEMORY_GROWTH_4]
        for k in range(len(loss)):
            more = max(0.0, growth[v] - max(growth[low], u[ix.SD_GROWTH, k]))
            bytes_ = max(0.0, wider[v] - max(wider[low], u[ix.SD_MEMORY_GROWTH, k]))
            lost += min(
                loss[k], time * u[ix.SD_PAIRS, k] * more + size * u[ix.SD_STEPS, k] * bytes_
            )
    return lost


@kernel()
def best_cut(
    lv: Levels, sh: Shares, c: Costs, r: Rewards, price: Floats, bound: float, d: int, low: int,
    high: int, goal: int,
) -> tuple[float, int]:  # fmt: skip
    """Return the best score of a cut in dimension d and the level after which it lies."""
    best, at, most = -1.0, (low + high) // 2, bound + 0.01
    plain = share_term(c, price, 0.0, 0.0)
    if d < ix.THRESHOLDS:
        ad = d < ix.SD_INPUT
        without_higher(lv, r.user[LOSS_AD if ad else LOSS_SD], r.level, d, low, high)
        if d == ix.AD_INPUT or d == ix.SD_INPUT or d == ix.SD_ACCEPT:
            first, last = low, high - 1  # the first v whose upper half loses more than the lower
            while first < last:
                v = (first + last) // 2
                if _costlier(lv, c, r, price, d, low, v + 1) >= r.level[v]:
                    last = v
                else:
                    first = v + 1
            for v in range(max(low, first - 1), first + 1):
                merit = score(r.level[v], _costlier(lv, c, r, price, d, low, v + 1), most)
                if merit > best:
                    best, at = merit, v
            return best, at
        ticks = c.scale[bx.AD_TICKS] if ad else c.scale[bx.SD_TICKS]
        rate = (price[bd.AD_TIME] if ad else price[bd.SD_TIME]) / max(ticks, 1.0)
        for v in range(low, high):
            less = rate * (lv.charge[d, v + 1] - lv.charge[d, low])
            term = share_term(c, price, less, 0.0) if ad else share_term(c, price, 0.0, less)
            merit = score(r.level[v], plain - term, most)
            if merit > best:
                best, at = merit, v
        return best, at
    return 0.0, at
