"""Counting: how many users a box can serve, by the sorted levels and costs of those it lets in.

x AD users have their largest level in a threshold at the x-th smallest level of the users that may
enter, at least; base, slope and memory each sum to their x smallest at least. Likewise the
y = goal - x SD users. So a split (x, y) needs shares and bytes that can be computed from sorted
prefixes; splits that need more than there is are cut off, and the remaining ones bound |X|,
every threshold, z and λ. (All AD costs ascend with L^O and all SD costs with N, so one order serves
all of a mode's sums.) Comparisons have the margin of `threshold_box`.
"""

from __future__ import annotations

from . import threshold_box as bx
from . import threshold_levels as ix
from .threshold_box import (
    HALF_A_TICK,
    OPEN,
    SHUT,
    SLACK,
    SUMS,
    USE,
    WAIT,
    Costs,
    budgets,
    must_serve,
    price,
)
from .threshold_levels import Integers, Levels, Shares, inlined, kernel

#: Rows of `Costs.sums`: ``mode * SUMS + BASE``, ...
BASE, SLOPE, PAIRS, SIZE, STEPS = range(5)


@inlined()
def _census(lv: Levels, c: Costs, goal: int) -> bool:
    """Count the users by what they may do; if `goal` is just reached, it decides for the rest."""
    u, users = c.user, lv.members[ix.USERS]
    in_ad, in_sd, either, must, stuck = 0, 0, 0, 0, 0
    for k in range(users):
        to_ad, to_sd = int(u[USE + ix.AD, k] > OPEN), int(u[USE + ix.SD, k] > OPEN)
        to_wait = int(u[WAIT, k] > OPEN)
        in_ad += to_ad
        in_sd += to_sd
        either += to_ad | to_sd
        must += 1 - to_wait
        stuck += 1 - (to_ad | to_sd | to_wait)
    c.found[ix.AD], c.found[ix.SD] = in_ad, in_sd
    if stuck > 0 or either < goal or must > goal:
        return False
    if either == goal:
        for k in range(users):
            if u[USE + ix.AD, k] > OPEN or u[USE + ix.SD, k] > OPEN:
                u[WAIT, k] = SHUT
    elif must == goal:
        for k in range(users):
            if u[WAIT, k] > OPEN:
                u[USE + ix.AD, k], u[USE + ix.SD, k] = SHUT, SHUT
    return True


@inlined()
def _sort(lv: Levels, c: Costs, limit: int, mode: int) -> None:
    """Fill in `limit` smallest levels and prefix sums of the users that may enter a mode."""
    members, use = lv.members[ix.IN_ORDER + mode], USE + mode
    for d in range(mode * ix.SIDE, (mode + 1) * ix.SIDE):
        found = 0
        for q in range(members):
            if found >= limit:
                break
            c.smallest[d, found] = lv.ordered[d, q]
            found += int(c.user[use, lv.order[d, q]] > OPEN)
        q = members - 1
        while q > 0 and c.user[use, lv.order[d, q]] <= OPEN:
            q -= 1
        c.largest[d] = lv.ordered[d, q] if members > 0 else 0
    row, to = mode * ix.COLUMNS, mode * SUMS
    base, slope, pairs, size, steps, found = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for q in range(members):
        if found >= limit:
            break
        k = lv.order[mode * ix.SIDE + ix.LENGTH, q]
        if c.user[use, k] > OPEN:
            found += 1
            base += lv.user[row + ix.BASE, k]
            slope += lv.user[row + ix.SLOPE, k]
            pairs += lv.user[row + ix.PAIRS, k]
            size += lv.user[row + ix.MEMORY, k]
            steps += lv.user[row + ix.STEPS, k]
            c.sums[to + BASE, found], c.sums[to + SLOPE, found] = base, slope
            c.sums[to + PAIRS, found], c.sums[to + SIZE, found] = pairs, size
            c.sums[to + STEPS, found] = steps


@inlined()
def _needs(lv: Levels, c: Costs, low: Integers, count: int, mode: int) -> tuple[float, float]:
    """Return the share and the bytes that so many users of a mode need at least."""
    if count == 0:
        return 0.0, 0.0
    budget, first = lv.top[mode], mode * ix.SIDE
    for d in range(first + ix.DEADLINE, first + ix.SIDE):
        budget -= lv.charge[d, max(low[d], c.smallest[d, count - 1])]
    if budget < 0:
        return 2.0, 0.0
    i = max(low[first + ix.INPUT], c.smallest[first + ix.INPUT, count - 1])
    j = max(low[first + ix.ACCEPT], c.smallest[first + ix.ACCEPT, count - 1])
    of, law, s = mode * SUMS, mode * ix.LAWS, c.sums
    tokens = lv.level[law + ix.AT_TOKENS, i]
    time = s[of + BASE, count] + s[of + SLOPE, count] * tokens
    time += count * lv.level[law + ix.AT_PREFILL, i]
    time += s[of + PAIRS, count] * lv.level[law + ix.AT_GROWTH, j]
    size = s[of + SIZE, count] + count * lv.kv[mode] * tokens
    share = time / max(
        float(budget), HALF_A_TICK
    )  # with a budget of 0 only what costs nothing fits
    return share, size + s[of + STEPS, count] * lv.level[law + ix.AT_WIDER, j]


@inlined()
def _split(lv: Levels, sh: Shares, c: Costs, low: Integers, high: Integers, goal: int) -> bool:
    """Cut off the splits that do not fit; bound |X|, z, λ and the lower ends by the others.

    The least z and λ that x AD users need ascend with x.
    """
    more, room = 1 + SLACK, sh.room
    first, last = -1, -1
    z, lam, z_most, lam_most = low[ix.SHARE], low[ix.SPLIT], high[ix.SHARE], high[ix.SPLIT]
    other_share, other = 0.0, 0.0
    for x in range(low[ix.AD_COUNT], high[ix.AD_COUNT] + 1):
        for mode in range(ix.MODES):
            share, size = other_share, other
            other_share, other = _needs(lv, c, low, x if mode == ix.AD else goal - x, mode)
        while z <= z_most and share > sh.share[ix.AD, z] * more:
            z += 1
        while lam <= lam_most and size > room[ix.AD, lam] * more:
            lam += 1
        if z > z_most or lam > lam_most:
            break
        if other_share > sh.share[ix.SD, z] * more or other > room[ix.SD, lam] * more:
            continue
        if sh.joint and size + other > room[0, 0] * more:
            continue
        if first < 0:
            first = x
            low[ix.SHARE], low[ix.SPLIT] = z, lam
        last, last_share, last_size = x, other_share, other
    if first < 0:
        return False
    low[ix.AD_COUNT], high[ix.AD_COUNT] = first, last
    while last_share > sh.share[ix.SD, high[ix.SHARE]] * more:
        high[ix.SHARE] -= 1
    while last_size > room[ix.SD, high[ix.SPLIT]] * more:
        high[ix.SPLIT] -= 1
    for d in range(ix.THRESHOLDS):
        least = first if d < ix.SIDE else goal - last
        if least > 0:
            low[d] = max(low[d], c.smallest[d, least - 1])
    return True


@inlined()
def _openness(low: Integers, high: Integers) -> int:
    width = 0
    for d in range(ix.DIMENSIONS):
        width += high[d] - low[d]
    return width


@kernel()
def tighten(
    lv: Levels, sh: Shares, c: Costs, low: Integers, high: Integers, goal: int,
    rounds: int,
) -> bool:  # fmt: skip
    """Shrink a box and price its users; False: it holds no answer (see the module for the rules).

    Parameters
    ----------
    lv, sh, c
        Levels, the tree's shares, and the space that receives the box's costs.
    low, high : (13,)
        The box, changed in place.
    goal : int
        Users to serve, at least 1.
    rounds : int
        Repetitions at most.
    """
    users, wait = lv.members[ix.USERS], c.user[WAIT]
    for _ in range(rounds):
        if low[ix.SHARE] > 0:
            low[ix.AD_COUNT] = max(low[ix.AD_COUNT], sh.least_ad)
        high[ix.AD_COUNT] = min(high[ix.AD_COUNT], goal - sh.least_sd)
        for k in range(users):
            wait[k] = 0.0 if lv.options[k] & ix.MAY_WAIT else SHUT
        for mode in range(ix.MODES):
            budgets(lv, sh, c.scale, low, high, goal, mode)
            price(lv, c, low, high, mode)
            least = low[ix.AD_COUNT] if mode == ix.AD else goal - high[ix.AD_COUNT]
            if least > 0:
                must_serve(lv, c, low, mode)
        if not _census(lv, c, goal):
            return False
        before = _openness(low, high)
        high[ix.AD_COUNT] = min(high[ix.AD_COUNT], c.found[ix.AD])
        low[ix.AD_COUNT] = max(low[ix.AD_COUNT], goal - c.found[ix.SD])
        for mode in range(ix.MODES):
            most = high[ix.AD_COUNT] if mode == ix.AD else goal - low[ix.AD_COUNT]
            _sort(lv, c, most, mode)
        if not _split(lv, sh, c, low, high, goal):
            return False
        changed = _openness(low, high) < before
        for d in range(ix.THRESHOLDS):
            if c.found[d // ix.SIDE] > 0:
                high[d] = min(high[d], c.largest[d])
                if low[d] > high[d]:
                    return False
        if not changed:
            break
    c.scale[bx.MOST], c.scale[bx.MOST + 1] = high[ix.AD_COUNT], goal - low[ix.AD_COUNT]
    return True
