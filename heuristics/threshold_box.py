"""Boxes: what each user must cost at least inside one, and who must be served.

The search asks whether exactly `goal` users can be served; dropping users keeps a schedule
feasible, so a larger answer contains such a one. A box holds the schedules whose thresholds
(`threshold_levels`), z, λ and |X| lie in its intervals and whose users take an allowed option; an
empty batch counts as having its thresholds at the lower ends.

**Costs.** A schedule in the box has L1 at the lower end of its interval at least, and at each
member's own level at least. Prefill, slope and growth ascend with the level, so the costs at the
larger of the two are lower bounds, and the charges at the lower ends give an upper bound on the
budget. A user whose level exceeds the upper end is not in the mode, nor is one that alone, at the
lower ends and with the largest share, is late or does not fit.

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
from .threshold_levels import Floats, Integers, Levels, Shares, inlined

#: Relative margin of every comparison of float sums.
SLACK = 1e-10
#: Reward of an option that is shut; rewards of open ones are at most 64 in size.
SHUT = -1e3
OPEN = -100.0  # anything above is open
#: Stands for a budget of nothing, so that what costs nothing fits and what costs a tick does not.
HALF_A_TICK = 0.5
FAST = {"reassoc", "contract", "nsz"}

#: Rows of `Costs.user`: 0 where the option is open and `SHUT` where not, and ``TIME + mode``, ...
WAIT, USE, TIME, BYTES = 0, 1, 3, 5
#: Entries of `Costs.scale`, each plus the mode.
TICKS, BUDGET, ROOM, MOST, OTHER_END, OTHER_ROOM = 0, 2, 4, 6, 8, 10
#: Rows of `Costs.sums` for each mode.
SUMS = 5


class Costs(NamedTuple):
    """What a box charges each user, as fractions of the box's budgets; scratch space of a search.

    Attributes
    ----------
    user : (7, K) float
        Open options, and lower bounds on the costs over the mode's budget and room; an open
        option's are at most 1 + 1e-9.
    scale : (12,) float
        By mode: whole-GPU ticks of the batch (`HALF_A_TICK` for 0), times the largest share, room,
        largest count; how much of the largest share (room) is left at the other end of the interval
        of z (of λ).
    smallest : (10, K + 1)
        Levels of the users that may enter, ascending, as many as the mode can serve.
    largest : (10,)
        The last of them all.
    sums : (10, K + 2) float
        Prefix sums in the order of L2 and N1.
    found : (2,)
        Users that may enter each mode.
    """

    user: Floats
    scale: Floats
    smallest: Integers
    largest: Integers
    sums: Floats
    found: Integers


def new_costs(users: int) -> Costs:
    """Return scratch space for so many users."""
    return Costs(
        np.zeros((7, users)),
        np.zeros(12),
        np.zeros((ix.THRESHOLDS, users + 1), np.int64),
        np.zeros(ix.THRESHOLDS, np.int64),
        np.zeros((ix.MODES * SUMS, users + 2)),
        np.zeros(2, np.int64),
    )


@inlined()
def budgets(
    lv: Levels, sh: Shares, s: Floats, low: Integers, high: Integers, goal: int, mode: int
) -> None:
    """Fill in the mode's largest budget and room and how far the other ends fall short."""
    ticks = lv.top[mode]
    for d in range(mode * ix.SIDE + ix.DEADLINE, (mode + 1) * ix.SIDE):
        ticks -= lv.charge[d, low[d]]
    best, worst = (high, low) if mode == ix.AD else (low, high)
    share, room = sh.share[mode], sh.room[mode]
    most, most_room = share[best[ix.SHARE]], room[best[ix.SPLIT]]
    s[TICKS + mode] = ticks if ticks > 0 else HALF_A_TICK if ticks == 0 else 0.0
    s[BUDGET + mode] = most * s[TICKS + mode]
    s[ROOM + mode] = most_room
    s[OTHER_END + mode] = share[worst[ix.SHARE]] / most if most > 0 else 1.0
    s[OTHER_ROOM + mode] = room[worst[ix.SPLIT]] / most_room if most_room > 0 else 1.0
    s[MOST + mode] = high[ix.AD_COUNT] if mode == ix.AD else goal - low[ix.AD_COUNT]


@inlined(fastmath=FAST)
def price(lv: Levels, c: Costs, low: Integers, high: Integers, mode: int) -> None:
    """Fill in a mode's costs as fractions of the budgets; shut it to users that cannot enter.

    Several short loops: the compiler vectorises none that touches a dozen arrays.
    """
    s, users, first, row = c.scale, lv.members[ix.USERS], mode * ix.SIDE, mode * ix.COLUMNS
    flag, time, size = c.user[USE + mode], c.user[TIME + mode], c.user[BYTES + mode]
    if s[BUDGET + mode] <= 0 or s[MOST + mode] <= 0:
        for k in range(users):
            flag[k], time[k], size[k] = SHUT, 0.0, 0.0
        return
    law = mode * ix.LAWS
    least_tokens = lv.level[law + ix.AT_TOKENS, low[first + ix.INPUT]]
    least_prefill = lv.level[law + ix.AT_PREFILL, low[first + ix.INPUT]]
    least_growth = lv.level[law + ix.AT_GROWTH, low[first + ix.ACCEPT]]
    least_wider = lv.level[law + ix.AT_WIDER, low[first + ix.ACCEPT]]
    per_tick = 1 / s[BUDGET + mode]
    per_byte = 1 / s[ROOM + mode] if s[ROOM + mode] > 0 else 2.0  # then one byte is too much
    tokens, kv = lv.user[ix.TOKENS], lv.kv[mode]
    base, slope, prefill = lv.user[row], lv.user[row + ix.SLOPE], lv.user[row + ix.PREFILL]
    pairs, growth = lv.user[row + ix.PAIRS], lv.user[row + ix.GROWTH]
    for k in range(users):
        ticks = base[k] + slope[k] * max(least_tokens, tokens[k]) + max(least_prefill, prefill[k])
        time[k] = (ticks + pairs[k] * max(least_growth, growth[k])) * per_tick
    memory, steps, wider = (
        lv.user[row + ix.MEMORY],
        lv.user[row + ix.STEPS],
        lv.user[row + ix.WIDER],
    )
    for k in range(users):
        taken = memory[k] + kv * max(least_tokens, tokens[k])
        size[k] = (taken + steps[k] * max(least_wider, wider[k])) * per_byte
    deadline, upload = lv.user[row + ix.OWN_DEADLINE], lv.user[row + ix.OWN_UPLOAD]
    length = lv.user[row + ix.OWN_LENGTH]
    c1 = float(lv.charge[first + ix.DEADLINE, low[first + ix.DEADLINE]])
    c2 = float(lv.charge[first + ix.UPLOAD, low[first + ix.UPLOAD]])
    c3 = float(lv.charge[first + ix.LENGTH, low[first + ix.LENGTH]])
    top, rate = float(lv.top[mode]) * (1 + 1e-14), 1 / s[TICKS + mode]
    for k in range(users):
        own = top - max(c1, deadline[k]) - max(c2, upload[k]) - max(c3, length[k])
        fits = (time[k] <= own * rate) & (time[k] <= 1 + SLACK) & (size[k] <= 1 + SLACK)
        flag[k] = 0.0 if fits else SHUT
    for k in range(users):
        flag[k] = flag[k] if lv.options[k] & (ix.MAY_USE << mode) else SHUT
    for d in range(first, first + ix.SIDE):
        rank, most = lv.rank[d], high[d]
        for k in range(users):
            flag[k] = flag[k] if rank[k] <= most else SHUT


@inlined()
def must_serve(lv: Levels, c: Costs, low: Integers, mode: int) -> None:
    """Shut waiting to the users that dominance serves, of a mode that is not empty."""
    users, wait, d, bit = lv.members[ix.USERS], c.user[WAIT], mode * ix.SIDE, ix.MAY_USE << mode
    r0, r1, r2, r3, r4 = lv.rank[d], lv.rank[d + 1], lv.rank[d + 2], lv.rank[d + 3], lv.rank[d + 4]
    l0, l1, l2, l3, l4 = low[d], low[d + 1], low[d + 2], low[d + 3], low[d + 4]
    for k in range(users):
        inside = (r0[k] <= l0) & (r1[k] <= l1) & (r2[k] <= l2) & (r3[k] <= l3) & (r4[k] < l4)
        wait[k] = SHUT if inside & ((lv.allowed[k] & bit) > 0) else wait[k]
