"""`Levels`: the thresholds that a search branches over, and the users' costs as kernels want them.

A schedule's max-terms are *thresholds*, each the largest level among the users of its mode:

- AD: longest input L1, earliest deadline, latest upload, longest output L2;
- SD: longest input L3, largest accepted drafts L4, earliest deadline, latest upload, iterations N1.

Both modes have one shape (AD's accepted drafts are a threshold with one level and no costs): with
`length` for L^O or N, a batch's user costs ``base + slope * input + pairs * growth + prefill``
ticks and ``memory + kv * input + steps * wider`` bytes.

Levels are positions among the users' distinct values, ordered so that a higher level admits more
users and costs more; deadlines therefore descend. Deadline, upload, L2 and N1 are *charges*: they
shorten the time that a batch may compute. With the latest deadline as `top`,

``deadline - upload - fixed - step * length = top - Σ charge[threshold, level]``.

L1, L3 and L4 raise every user's cost instead. A *box* is an interval of levels for each threshold
and for z, λ and |X|.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from instances import CostTables
from instances.kernels import part_njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Compiles a part of the search. None allocates: `threshold_search.Space` holds all they need.
kernel = part_njit

#: The same where a call that passes dozens of arrays costs more than what is called.
inlined = partial(kernel, forceinline=True)

#: Modes, as rows and offsets; `MODES` of them.
AD, SD, MODES = 0, 1, 2
#: The thresholds of a mode: dimension ``mode * SIDE + INPUT`` of a box, ...
INPUT, ACCEPT, DEADLINE, UPLOAD, LENGTH, SIDE = range(6)
#: The other dimensions: z, λ, |X|.
THRESHOLDS, SHARE, SPLIT, AD_COUNT, DIMENSIONS = 10, 10, 11, 12, 13

#: Bits of what a user may still do; `MAY_USE << mode` enters a mode.
MAY_WAIT, MAY_USE = 1, 2
MAY_AD, MAY_SD = 2, 4

#: Rows of `Levels.user`: ``mode * COLUMNS + BASE``, ..., and the input length.
(
    BASE, SLOPE, PREFILL, PAIRS, GROWTH, MEMORY, STEPS, WIDER,
    OWN_DEADLINE, OWN_UPLOAD, OWN_LENGTH, COLUMNS,
) = range(12)  # fmt: skip
TOKENS = 2 * COLUMNS

#: Rows of `Levels.level`: ``mode * LAWS + AT_TOKENS``, ...
AT_TOKENS, AT_PREFILL, AT_GROWTH, AT_WIDER, LAWS = range(5)

#: What `Levels.level` holds: rows of `Levels.user`, by the ranks in these thresholds.
_LEVEL_COSTS = [TOKENS, PREFILL, GROWTH, WIDER]
_LEVEL_COSTS += [TOKENS, *(COLUMNS + row for row in (PREFILL, GROWTH, WIDER))]
_LEVEL_RANKS = [mode * SIDE + law for mode in (AD, SD) for law in (INPUT, INPUT, ACCEPT, ACCEPT)]

_LAST = np.iinfo(np.int64).max
#: Each threshold's row, to index columns row by row.
_ROWS = np.arange(THRESHOLDS)[:, None]


class Levels(NamedTuple):
    """Users in levels; all K of an instance, or those that a box still lets in (`restrict`).

    Arrays have K columns, of which a restriction fills `members[0]`.

    Attributes
    ----------
    user : (23, K) float
        Costs and own charges in ticks, memory in bytes, by the row names above. Conversion to
        float is off by at most one part in 2^53.
    rank : (10, K)
        A user's level in each threshold.
    order, ordered : (10, K)
        The users that may enter the threshold's mode, sorted by level, and their levels.
    charge : (10, width) ticks
        What a level takes from the budget; ascends; zero for L1, L3, L4.
    level : (8, width) float
        Tokens and prefill at the levels of L1 and L3, growth and wider at those of L4.
    top : (2,) ticks
        What a batch of each mode may compute on the whole GPU before charges.
    kv : (2,) float
        Bytes per token of L1 and of L3.
    allowed, options : (K,)
        The modes that the instance lets each user enter, and those (and waiting) that are still
        open to it: bits `MAY_AD`, `MAY_SD`, `MAY_WAIT`.
    place : (K,)
        Position in the instance.
    members : (3,)
        Users, those in the AD orders, those in the SD orders.
    """

    user: Floats
    rank: Integers
    order: Integers
    ordered: Integers
    charge: Integers
    level: Floats
    top: Integers
    kv: Floats
    allowed: Integers
    options: Integers
    place: Integers
    members: Integers


#: Entries of `Levels.members`: all users, and ``IN_ORDER + mode``.
USERS, IN_ORDER = 0, 1


def build_levels(tables: CostTables, allow_ad: bool = True, allow_sd: bool = True) -> Levels:
    """Return the levels of an instance's cost tables.

    Parameters
    ----------
    tables : CostTables
    allow_ad, allow_sd : bool
        False: nobody may enter that mode.
    """
    t, users, none = tables, tables.users, np.zeros(tables.users, np.int64)
    allowed = np.array([t.ad_allowed & allow_ad, t.sd_allowed & allow_sd])
    last = [int(t.deadline[mode].max()) if mode.any() else 0 for mode in allowed]
    value = np.array(
        [
            [t.input_tokens, none, -t.deadline, t.upload, t.output_tokens],
            [t.input_tokens, t.accept_rank, -t.deadline, t.upload, t.iterations],
        ]
    ).reshape(THRESHOLDS, users)
    own = np.array(
        [
            [none, none, last[AD] - t.deadline, t.upload, t.ad_step * t.output_tokens],
            [none, none, last[SD] - t.deadline, t.upload, t.sd_step * t.iterations],
        ]
    )
    own *= allowed[:, None]
    costs = np.array(
        [
            [
                t.ad_base, t.ad_slope, t.ad_prefill, none, none, t.ad_memory, none, none,
                *own[AD, DEADLINE:],
            ],
            [
                t.sd_base, t.sd_slope, t.sd_prefill, t.sd_pairs, t.sd_growth, t.sd_memory,
                t.sd_steps, t.sd_memory_growth, *own[SD, DEADLINE:],
            ],
        ],
        np.float64,
    ).reshape(TOKENS, users)  # fmt: skip
    user = np.concatenate([costs, t.input_tokens[None, :].astype(np.float64)])
    member = np.repeat(allowed, SIDE, axis=0)
    order, rank = _ranked(np.where(member, value, _LAST))
    charge = np.zeros((THRESHOLDS, max(users, 1)), np.int64)
    charge[_ROWS, rank] = own.reshape(THRESHOLDS, users)
    options = MAY_WAIT + MAY_AD * allowed[AD] + MAY_SD * allowed[SD]
    return Levels(
        user=user,
        rank=rank,
        order=order,
        ordered=rank[_ROWS, order],
        charge=charge,
        level=_level_costs(user, rank),
        top=np.array([last[AD], last[SD] - t.sd_fixed]),
        kv=np.array([t.kv_ad, t.kv_sd], np.float64),
        allowed=options,
        options=options,
        place=np.arange(users),
        members=np.array([users, *np.count_nonzero(allowed, axis=1)]),
    )


def _ranked(value: Integers) -> tuple[Integers, Integers]:
    """Sort each row: users in ascending order (ties by position), and their dense ranks."""
    order = np.argsort(value, axis=1, kind="stable")
    ascending = value[_ROWS, order]
    dense, rank = np.zeros_like(value), np.empty_like(value)
    np.cumsum(ascending[:, 1:] != ascending[:, :-1], axis=1, out=dense[:, 1:])
    rank[_ROWS, order] = dense
    return order, rank


def _level_costs(user: Floats, rank: Integers) -> Floats:
    level = np.zeros((MODES * LAWS, max(user.shape[1], 1)))
    level[_ROWS[: len(level)], rank[_LEVEL_RANKS]] = user[_LEVEL_COSTS]
    return level


def new_levels(lv: Levels) -> Levels:
    """Return space for a restriction of `lv`."""
    own = ("user", "rank", "order", "ordered", "allowed", "options", "place", "members")
    return lv._replace(**{name: np.empty_like(getattr(lv, name)) for name in own})


@kernel()
def restrict(lv: Levels, options: Integers, to: Levels, position: Integers) -> None:
    """Fill `to` with the users that may still enter a mode; `options` is in the instance's order.

    Most users of a small box are settled, and everything that follows takes time in proportion.
    `position` (K,) is scratch space.
    """
    users = 0
    for k in range(len(options)):
        if options[k] > MAY_WAIT:
            for i in range(to.user.shape[0]):
                to.user[i, users] = lv.user[i, k]
            for d in range(THRESHOLDS):
                to.rank[d, users] = lv.rank[d, k]
            to.allowed[users], to.options[users] = lv.allowed[k], options[k]
            to.place[users] = k
            position[k] = users
            users += 1
    to.members[USERS] = users
    for d in range(THRESHOLDS):
        mode, found = d // SIDE, 0
        for q in range(lv.members[IN_ORDER + mode]):
            k = lv.order[d, q]
            if options[k] & (MAY_USE << mode):
                to.order[d, found], to.ordered[d, found] = position[k], lv.rank[d, k]
                found += 1
        to.members[IN_ORDER + mode] = found


class Shares(NamedTuple):
    """The values of z and λ that one search tree ranges over, ascending.

    Attributes
    ----------
    share : (2, nz) float
        z and 1 - z.
    z, lam : (nz,), (nl,)
        Their positions in the instance's grids.
    room : (2, nl) float
        Bytes for each mode at each λ; both modes' common room in P1 (one column).
    joint : bool
        One memory row (P1).
    least_ad, least_sd : int
        1 where a schedule without AD (SD) users would do as well at another allowed z: then this
        tree need only look for schedules with at least one at z > 0 (z < 1).
    """

    share: Floats
    z: Integers
    lam: Integers
    room: Floats
    joint: bool
    least_ad: int
    least_sd: int


def trees(
    tables: CostTables, z_indices: tuple[int, ...], lam_indices: tuple[int, ...] | None
) -> list[Shares]:
    """Return the trees that together cover the allowed z and λ: z = 1, then all others.

    z = 1 stands alone because no small model is in memory there. A z that leaves no room serves
    nobody and is dropped. Moving a schedule without AD users from z to 0 gives SD more time and
    takes no memory, since all z < 1 have the same room; one without SD users gains both at z = 1.
    """
    whole = tables.z_denominator
    share, room = tables.z_numerator.tolist(), tables.room.tolist()
    usable = [z for z in sorted(set(z_indices)) if room[z] >= 0]
    one = [z for z in usable if share[z] == whole]
    rest = [z for z in usable if share[z] < whole]
    lam = np.array(sorted(set(lam_indices or (0,))), np.int64)
    zero = any(share[z] == 0 for z in rest)
    found = []
    for part in (one, rest):
        if part:
            z = np.array(part, np.int64)
            if lam_indices is None:
                rooms = [[max(room[i] for i in part)]] * 2
            else:
                grid = np.ix_(z, lam)
                rooms = [tables.ad_room[grid].max(axis=0), tables.sd_room[grid].max(axis=0)]
            numerator = tables.z_numerator[z]
            found.append(
                Shares(
                    share=np.array([numerator, whole - numerator]) / whole,
                    z=z,
                    lam=lam,
                    room=np.array(rooms, np.float64),
                    joint=lam_indices is None,
                    least_ad=int(part is rest and zero),
                    least_sd=int(part is rest and bool(one)),
                )
            )
    return found
