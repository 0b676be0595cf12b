"""Boxes: what each user must cost at least inside one, and how counting shrinks it.

The search asks whether exactly `goal` users can be served; dropping users keeps a schedule
feasible, so a larger answer contains such a one. A box holds the schedules whose thresholds
(`threshold_levels`), z, λ and |X| lie in its intervals and whose users take an allowed option; an
empty batch counts as having its thresholds at the lower ends.

**Costs.** A schedule in the box has L1 at the lower end of its interval at least, and at each
member's own level at least. Prefill, slope and growth ascend with the level, so the costs at the
larger of the two are lower bounds, and the charges at the lower ends give an upper bound on the
budget. A user whose level exceeds the upper end is not in the mode, nor is one that alone, at the
lower ends and with the largest share, is late or does not fit.

**Counting.** x AD users have their largest level in a threshold at the x-th smallest level of
the users that may enter, at least; base, slope and memory each sum to their x smallest at least.
Likewise the y = goal - x SD users. So a split (x, y) needs shares and bytes that can be computed
from sorted prefixes; splits that need more than there is are cut off, and the remaining
ones bound |X|, every threshold, z and λ. (All AD costs ascend with L^O and all SD costs with N, so
one order serves all of a mode's sums.)

**Dominance.** Among the schedules that serve `goal` users at one (z, λ), take one with the least
Σ_X L^O + Σ_Y N. It leaves no user unserved who could replace the AD user of largest output: one
with no larger level than the batch in L1, deadline and upload, and with L^O < L2. The exchange
would keep every row and lower the sum. So users that are below the lower ends of these intervals
must be served, in either mode; the same holds for SD with N1. Every rule of the search keeps this
schedule, wherever it lies.

**Rounding.** Costs are floats, each within a few parts in 2^53 of the exact value; budgets are
exact integers converted once. Sums of at most K = 10^5 non-negative terms are then within
2e-11 of the exact sum, relatively. Nothing is cut off unless a limit is exceeded by the
factor 1 + `SLACK`; an own budget, a difference of terms of at most twice the top, gets 1e-14 of
the top on top.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import threshold_levels as ix
from .threshold_levels import Floats, Integers, Levels, Shares, inlined, kernel

#: Relative margin of every comparison of float sums.
SLACK = 1e-10
#: Reward of an option that is shut; rewards of open ones are at most 64 in size.
SHUT = -1e3
OPEN = -100.0  # anything above is open
FAST = {"reassoc", "contract", "nsz"}

#: Rows of `Costs.user`: 0 where the option is open and `SHUT` where not, and the costs.
WAIT, AD, SD, AD_TIME, SD_TIME, AD_BYTES, SD_BYTES = range(7)
#: Entries of `Costs.scale`.
(
    AD_TICKS, SD_TICKS, AD_BUDGET, SD_BUDGET, AD_ROOM, SD_ROOM, MOST_AD, MOST_SD,
    AD_AT_LOW, SD_AT_HIGH, AD_ROOM_AT_LOW, SD_ROOM_AT_HIGH,
) = range(12)  # fmt: skip
#: Rows of `Costs.sums`.
BASE_1, SLOPE_1, BYTES_1, BASE_3, SLOPE_3, PAIRS_4, BYTES_3, STEPS_4 = range(8)
#: Entries of `Costs.found`: users that may enter a mode, either, and that may not wait.
IN_AD, IN_SD, EITHER, MUST = range(4)


class Costs(NamedTuple):
    """What a box charges each user, as fractions of the box's budgets; scratch space of a search.

    Attributes
    ----------
    user : (7, K) float
        Open options, and lower bounds on the costs over `scale[AD_BUDGET]`, ...; an open option's
        are at most 1 + 1e-9.
    scale : (12,) float
        Whole-GPU ticks of each batch, times the largest share, rooms, largest counts; the
        ratio of the smallest to the largest share (z for AD, 1 - z for SD; λ for the rooms).
    smallest : (9, K + 1)
        Levels of the users that may enter, ascending, as many as the mode can serve.
    largest : (9,)
        The last of them.
    sums : (8, K + 2) float
        Prefix sums in the order of L2 and N1.
    """

    user: Floats
    scale: Floats
    smallest: Integers
    largest: Integers
    sums: Floats


@kernel()
def new_costs(users: int) -> Costs:
    """Return scratch space for so many users."""
    return Costs(
        np.zeros((7, users)),
        np.zeros(12),
        np.zeros((9, users + 1), np.int64),
        np.zeros(9, np.int64),
        np.zeros((8, users + 2)),
    )


@inlined()
def _budgets(lv: Levels, sh: Shares, s: Floats, low: Integers, high: Integers) -> None:
    """Fill in the box's largest budgets and rooms and how far the shares' other ends fall short."""
    ad, sd = lv.top[0], lv.top[1]
    for d in range(1, 4):
        ad -= lv.charge[d, low[d]]
    for d in range(6, 9):
        sd -= lv.charge[d, low[d]]
    s[AD_TICKS], s[SD_TICKS] = max(ad, 0), max(sd, 0)
    z, z_most, lam, lam_most = low[ix.SHARE], high[ix.SHARE], low[ix.SPLIT], high[ix.SPLIT]
    s[AD_BUDGET], s[SD_BUDGET] = sh.share[0, z_most] * s[AD_TICKS], sh.share[1, z] * s[SD_TICKS]
    s[AD_AT_LOW] = sh.share[0, z] / sh.share[0, z_most] if sh.share[0, z_most] > 0 else 1.0
    s[SD_AT_HIGH] = sh.share[1, z_most] / sh.share[1, z] if sh.share[1, z] > 0 else 1.0
    s[AD_ROOM], s[SD_ROOM] = sh.room[0, lam_most], sh.room[1, lam]
    s[AD_ROOM_AT_LOW] = sh.room[0, lam] / s[AD_ROOM] if s[AD_ROOM] > 0 else 1.0
    s[SD_ROOM_AT_HIGH] = sh.room[1, lam_most] / s[SD_ROOM] if s[SD_ROOM] > 0 else 1.0


@inlined(fastmath=FAST)
def _inside(lv: Levels, flag: Floats, high: Integers, first: int, stop: int, bit: int) -> None:
    """Set `flag` to 0 for users that may enter a mode and lie within its upper ends."""
    users = lv.members[ix.USERS]
    for k in range(users):
        flag[k] = 0.0 if lv.options[k] & bit else SHUT
    for d in range(first, stop):
        rank, most = lv.rank[d], high[d]
        for k in range(users):
            flag[k] = flag[k] if rank[k] <= most else SHUT


@inlined(fastmath=FAST)
def _shut_misfits(
    lv: Levels, flag: Floats, time: Floats, size: Floats, own: int, low: Integers, first: int,
    top: float, most: float,
) -> None:  # fmt: skip
    """Shut the mode to users that are late or too large alone; `first` is the first charge.

    `time` and `size` are fractions of the budget and the room, `top` the ticks before charges that
    make a budget of 1, `most` the largest `time`.
    """
    d1, d2, d3 = lv.user[own], lv.user[own + 1], lv.user[own + 2]
    c1 = float(lv.charge[first, low[first]])
    c2 = float(lv.charge[first + 1, low[first + 1]])
    c3 = float(lv.charge[first + 2, low[first + 2]])
    for k in range(lv.members[ix.USERS]):
        left = (top - max(c1, d1[k]) - max(c2, d2[k]) - max(c3, d3[k])) * (1 / most)
        fits = (time[k] <= left) & (time[k] <= 1 + SLACK) & (size[k] <= 1 + SLACK)
        flag[k] = flag[k] if fits else SHUT


@inlined(fastmath=FAST)
def _price_ad(lv: Levels, c: Costs, low: Integers, high: Integers) -> None:
    """Fill in the AD costs as fractions of the budgets; shut AD to users that cannot enter."""
    s, u, users = c.scale, lv.user, lv.members[ix.USERS]
    flag, time, size = c.user[AD], c.user[AD_TIME], c.user[AD_BYTES]
    if s[AD_BUDGET] <= 0 or high[ix.AD_COUNT] == 0:
        for k in range(users):
            flag[k], time[k], size[k] = SHUT, 0.0, 0.0
        return
    least_tokens, least_prefill = lv.level[ix.TOKENS_1, low[0]], lv.level[ix.PREFILL_1, low[0]]
    per_tick = 1 / s[AD_BUDGET]
    per_byte = 1 / s[AD_ROOM] if s[AD_ROOM] > 0 else 2.0  # then one byte is too much
    base, slope, prefill, tokens = u[ix.AD_BASE], u[ix.AD_SLOPE], u[ix.AD_PREFILL], u[ix.TOKENS]
    for k in range(users):
        length = max(least_tokens, tokens[k])
        time[k] = (base[k] + slope[k] * length + max(least_prefill, prefill[k])) * per_tick
    memory, kv = u[ix.AD_MEMORY], lv.kv[0]
    for k in range(users):
        size[k] = (memory[k] + kv * max(least_tokens, tokens[k])) * per_byte
    _inside(lv, flag, high, 0, 4, ix.MAY_AD)
    top = float(lv.top[0]) * (1 + 1e-14)
    _shut_misfits(lv, flag, time, size, ix.AD_OWN_DEADLINE, low, 1, top, s[AD_TICKS])


@inlined(fastmath=FAST)
def _price_sd(lv: Levels, c: Costs, low: Integers, high: Integers, goal: int) -> None:
    """Fill in the SD costs as fractions of the budgets; shut SD to users that cannot enter."""
    s, u, users = c.scale, lv.user, lv.members[ix.USERS]
    flag, time, size = c.user[SD], c.user[SD_TIME], c.user[SD_BYTES]
    if s[SD_BUDGET] <= 0 or low[ix.AD_COUNT] == goal:
        for k in range(users):
            flag[k], time[k], size[k] = SHUT, 0.0, 0.0
        return
    least_tokens, least_prefill = lv.level[ix.TOKENS_3, low[4]], lv.level[ix.PREFILL_3, low[4]]
    least_growth, least_wider = lv.level[ix.GROWTH_4, low[5]], lv.level[ix.MEMORY_GROWTH_4, low[5]]
    per_tick = 1 / s[SD_BUDGET]
    per_byte = 1 / s[SD_ROOM] if s[SD_ROOM] > 0 else 2.0
    base, slope, prefill, tokens = u[ix.SD_BASE], u[ix.SD_SLOPE], u[ix.SD_PREFILL], u[ix.TOKENS]
    pairs, growth = u[ix.SD_PAIRS], u[ix.SD_GROWTH]
    for k in range(users):
        length = max(least_tokens, tokens[k])
        ticks = base[k] + slope[k] * length + max(least_prefill, prefill[k])
        time[k] = (ticks + pairs[k] * max(least_growth, growth[k])) * per_tick
    memory, kv = u[ix.SD_MEMORY], lv.kv[1]
    steps, wider = u[ix.SD_STEPS], u[ix.SD_MEMORY_GROWTH]
    for k in range(users):
        taken = memory[k] + kv * max(least_tokens, tokens[k])
        size[k] = (taken + steps[k] * max(least_wider, wider[k])) * per_byte
    _inside(lv, flag, high, 4, 9, ix.MAY_SD)
    top = float(lv.top[1]) * (1 + 1e-14)
    _shut_misfits(lv, flag, time, size, ix.SD_OWN_DEADLINE, low, 6, top, s[SD_TICKS])


@inlined()
def _must_serve(lv: Levels, c: Costs, low: Integers, high: Integers, goal: int) -> None:
    """Shut waiting to users that may not, and to those that dominance serves."""
    users, wait = lv.members[ix.USERS], c.user[WAIT]
    for k in range(users):
        wait[k] = 0.0 if lv.options[k] & ix.MAY_WAIT else SHUT
    if low[ix.AD_COUNT] > 0:
        r0, r1, r2, r3 = lv.rank[0], lv.rank[1], lv.rank[2], lv.rank[3]
        l0, l1, l2, l3 = low[0], low[1], low[2], low[3]
        for k in range(users):
            inside = (r0[k] <= l0) & (r1[k] <= l1) & (r2[k] <= l2) & (r3[k] < l3)
            wait[k] = SHUT if inside & ((lv.allowed[k] & ix.MAY_AD) > 0) else wait[k]
    if high[ix.AD_COUNT] < goal:
        r4, r5, r6, r7, r8 = lv.rank[4], lv.rank[5], lv.rank[6], lv.rank[7], lv.rank[8]
        l4, l5, l6, l7, l8 = low[4], low[5], low[6], low[7], low[8]
        for k in range(users):
            inside = (r4[k] <= l4) & (r5[k] <= l5) & (r6[k] <= l6) & (r7[k] <= l7)
            inside &= (r8[k] < l8) & ((lv.allowed[k] & ix.MAY_SD) > 0)
            wait[k] = SHUT if inside else wait[k]


@inlined()
def _census(lv: Levels, c: Costs, goal: int, found: Integers) -> bool:
    """Count the users by what they may do; if `goal` is just reached, it decides for the rest."""
    u, users = c.user, lv.members[ix.USERS]
    in_ad, in_sd, either, must, stuck = 0, 0, 0, 0, 0
    for k in range(users):
        to_ad, to_sd = int(u[AD, k] > OPEN), int(u[SD, k] > OPEN)
        to_wait = int(u[WAIT, k] > OPEN)
        in_ad += to_ad
        in_sd += to_sd
        either += to_ad | to_sd
        must += 1 - to_wait
        stuck += 1 - (to_ad | to_sd | to_wait)
    found[IN_AD], found[IN_SD] = in_ad, in_sd
    if stuck > 0 or either < goal or must > goal:
        return False
    if either == goal:
        for k in range(users):
            if u[AD, k] > OPEN or u[SD, k] > OPEN:
                u[WAIT, k] = SHUT
    elif must == goal:
        for k in range(users):
            if u[WAIT, k] > OPEN:
                u[AD, k], u[SD, k] = SHUT, SHUT
    return True


@inlined()
def _sort(lv: Levels, c: Costs, most_ad: int, most_sd: int) -> None:
    """Fill in the smallest levels and prefix sums of the users that may enter, and the largest."""
    for d in range(9):
        may, order = AD if d < 4 else SD, lv.order[d]
        members = lv.members[ix.IN_AD_ORDER if d < 4 else ix.IN_SD_ORDER]
        limit = most_ad if d < 4 else most_sd
        found = 0
        for q in range(members):
            if found >= limit:
                break
            c.smallest[d, found] = lv.ordered[d, q]
            found += int(c.user[may, order[q]] > OPEN)
        q = members - 1
        while q > 0 and c.user[may, order[q]] <= OPEN:
            q -= 1
        c.largest[d] = lv.ordered[d, q] if members > 0 else 0
    u, sums = lv.user, c.sums
    base, slope, size, found = 0.0, 0.0, 0.0, 0
    for q in range(lv.members[ix.IN_AD_ORDER]):
        if found >= most_ad:
            break
        k = lv.order[ix.AD_OUTPUT, q]
        if c.user[AD, k] > OPEN:
            found += 1
            base += u[ix.AD_BASE, k]
            slope += u[ix.AD_SLOPE, k]
            size += u[ix.AD_MEMORY, k]
            sums[BASE_1, found], sums[SLOPE_1, found], sums[BYTES_1, found] = base, slope, size
    base, slope, size, pairs, steps, found = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for q in range(lv.members[ix.IN_SD_ORDER]):
        if found >= most_sd:
            break
        k = lv.order[ix.SD_ITERATIONS, q]
        if c.user[SD, k] > OPEN:
            found += 1
            base += u[ix.SD_BASE, k]
            slope += u[ix.SD_SLOPE, k]
            size += u[ix.SD_MEMORY, k]
            pairs += u[ix.SD_PAIRS, k]
            steps += u[ix.SD_STEPS, k]
            sums[BASE_3, found], sums[SLOPE_3, found], sums[BYTES_3, found] = base, slope, size
            sums[PAIRS_4, found], sums[STEPS_4, found] = pairs, steps


@inlined()
def _needs_ad(lv: Levels, c: Costs, low: Integers, x: int) -> tuple[float, float]:
    """Return the share and the bytes that x AD users need at least."""
    if x == 0:
        return 0.0, 0.0
    budget = lv.top[0]
    for d in range(1, 4):
        budget -= lv.charge[d, max(low[d], c.smallest[d, x - 1])]
    if budget <= 0:
        return 2.0, 0.0
    i = max(low[0], c.smallest[0, x - 1])
    tokens = lv.level[ix.TOKENS_1, i]
    time = c.sums[BASE_1, x] + c.sums[SLOPE_1, x] * tokens + x * lv.level[ix.PREFILL_1, i]
    return time / budget, c.sums[BYTES_1, x] + x * lv.kv[0] * tokens


@inlined()
def _needs_sd(lv: Levels, c: Costs, low: Integers, y: int) -> tuple[float, float]:
    """Return the share and the bytes that y SD users need at least."""
    if y == 0:
        return 0.0, 0.0
    budget = lv.top[1]
    for d in range(6, 9):
        budget -= lv.charge[d, max(low[d], c.smallest[d, y - 1])]
    if budget <= 0:
        return 2.0, 0.0
    i, j = max(low[4], c.smallest[4, y - 1]), max(low[5], c.smallest[5, y - 1])
    tokens = lv.level[ix.TOKENS_3, i]
    time = c.sums[BASE_3, y] + c.sums[SLOPE_3, y] * tokens + y * lv.level[ix.PREFILL_3, i]
    time += c.sums[PAIRS_4, y] * lv.level[ix.GROWTH_4, j]
    size = c.sums[BYTES_3, y] + y * lv.kv[1] * tokens
    return time / budget, size + c.sums[STEPS_4, y] * lv.level[ix.MEMORY_GROWTH_4, j]


@inlined()
def _split(lv: Levels, sh: Shares, c: Costs, low: Integers, high: Integers, goal: int) -> bool:
    """Cut off the splits that do not fit; bound |X|, z, λ and the lower ends by the others.

    The least z and λ that x AD users need ascend with x.
    """
    more, room = 1 + SLACK, sh.room
    first, last = -1, -1
    z, lam, z_most, lam_most = low[ix.SHARE], low[ix.SPLIT], high[ix.SHARE], high[ix.SPLIT]
    for x in range(low[ix.AD_COUNT], high[ix.AD_COUNT] + 1):
        share, size = _needs_ad(lv, c, low, x)
        while z <= z_most and share > sh.share[0, z] * more:
            z += 1
        while lam <= lam_most and size > room[0, lam] * more:
            lam += 1
        if z > z_most or lam > lam_most:
            break
        share, other = _needs_sd(lv, c, low, goal - x)
        if share > sh.share[1, z] * more or other > room[1, lam] * more:
            continue
        if sh.joint and size + other > room[0, 0] * more:
            continue
        if first < 0:
            first = x
            low[ix.SHARE], low[ix.SPLIT] = z, lam
        last = x
    if first < 0:
        return False
    low[ix.AD_COUNT], high[ix.AD_COUNT] = first, last
    share, size = _needs_sd(lv, c, low, goal - last)
    while share > sh.share[1, high[ix.SHARE]] * more:
        high[ix.SHARE] -= 1
    while size > room[1, high[ix.SPLIT]] * more:
        high[ix.SPLIT] -= 1
    if first > 0:
        for d in range(4):
            low[d] = max(low[d], c.smallest[d, first - 1])
    if goal > last:
        for d in range(4, 9):
            low[d] = max(low[d], c.smallest[d, goal - last - 1])
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
    low, high : (12,)
        The box, changed in place.
    goal : int
        Users to serve, at least 1.
    rounds : int
        Repetitions at most.
    """
    found = np.empty(4, np.int64)
    for _ in range(rounds):
        if low[ix.SHARE] > 0:
            low[ix.AD_COUNT] = max(low[ix.AD_COUNT], sh.least_ad)
        high[ix.AD_COUNT] = min(high[ix.AD_COUNT], goal - sh.least_sd)
        _budgets(lv, sh, c.scale, low, high)
        _price_ad(lv, c, low, high)
        _price_sd(lv, c, low, high, goal)
        _must_serve(lv, c, low, high, goal)
        if not _census(lv, c, goal, found):
            return False
        before = _openness(low, high)
        high[ix.AD_COUNT] = min(high[ix.AD_COUNT], found[IN_AD])
        low[ix.AD_COUNT] = max(low[ix.AD_COUNT], goal - found[IN_SD])
        _sort(lv, c, high[ix.AD_COUNT], goal - low[ix.AD_COUNT])
        if not _split(lv, sh, c, low, high, goal):
            return False
        changed = _openness(low, high) < before
        for d in range(9):
            entered = found[IN_AD] if d < 4 else found[IN_SD]
            if entered > 0:
                high[d] = min(high[d], c.largest[d])
                if low[d] > high[d]:
                    return False
        if not changed:
            break
    c.scale[MOST_AD], c.scale[MOST_SD] = high[ix.AD_COUNT], goal - low[ix.AD_COUNT]
    return True
