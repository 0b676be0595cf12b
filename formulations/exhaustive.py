"""Back end ``exhaustive``: the paper's baseline, every pair of disjoint batches looked at.

Both batches of every set of users (a bit mask) are costed once; at every z, each set that AD can
serve then meets every set of the others. That is 3^K pairs per z, which is why K is limited.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from instances import CostTables, stopwatch
from instances.assignment import AD, SD, Assignment
from instances.kernels import cached_njit

from .backend import Answer, Request, check_options
from .flow import flow_bound
from .points import Point

#: 3^16 is 43 million pairs for each z.
MOST_USERS = 16
#: Sets of AD users between two looks at the clock.
CHUNK = 256

Integers = NDArray[np.int64]

_NEVER = -1  # numerator of the budget of a set that may not be a batch


class ExhaustiveBackend:
    """Enumeration of every schedule, for at most `MOST_USERS` users."""

    name = "exhaustive"

    def version(self) -> str:
        """Return the version of the compiler the enumeration runs on."""
        return f"numba {version('numba')}"

    def check(self, request: Request) -> None:
        """Refuse options and node limits: there are none."""
        check_options(self.name, request, frozenset(), counts_nodes=False, weighted=True)

    def solve(self, tables: CostTables, request: Request) -> Answer:
        """Maximise the objective.

        Raises
        ------
        ValueError
            If there are more than `MOST_USERS` users.
        """
        self.check(request)
        if tables.users > MOST_USERS:
            raise ValueError(
                f"exhaustive enumerates 3^K pairs and takes at most {MOST_USERS} users, "
                f"not {tables.users}"
            )
        return _Enumeration(tables, request).run()


class _Enumeration:
    """The costs of every set and the best pair found so far."""

    def __init__(self, tables: CostTables, request: Request) -> None:
        started = stopwatch.seconds()
        self.tables, self.request = tables, request
        self.deadline = None if request.time_limit is None else started + request.time_limit
        self.ad, self.sd = ad_sets(tables), sd_sets(tables)
        self.worth = worth_of_sets(tables.value)
        self.build_s = stopwatch.seconds() - started
        start = request.start
        lams = request.lam_indices
        nobody = np.zeros(tables.users, np.int8)
        self.best = start or Assignment(nobody, request.z_indices[0], lams[0] if lams else None)
        self.pairs = 0

    def run(self) -> Answer:
        """Look at every pair; stop between chunks when the time is over."""
        stopped_by = None
        try:
            for z_index in self.request.z_indices:
                if not self._visit(z_index):
                    stopped_by = "time_limit"
                    break
        except KeyboardInterrupt:
            stopped_by = "interrupt"
        bound = self._value() if stopped_by is None else self._flow_bound()
        statistics = {"pairs": self.pairs, "build_s": self.build_s}
        return Answer(self.best, bound, stopped_by, statistics)

    def _value(self) -> int:
        """Return the best pair's worth."""
        return self.tables.worth(self.best.modes)

    def _flow_bound(self) -> int:
        """Return the bound of an enumeration that did not finish."""
        request = self.request
        points = [Point(z, None, request.allow_ad, request.allow_sd) for z in request.z_indices]
        return max(flow_bound(self.tables, point) for point in points)

    def _visit(self, z_index: int) -> bool:
        """Look at all pairs at one z; return False when the time is over."""
        request, tables = self.request, self.tables
        point = Point(z_index, None, request.allow_ad, request.allow_sd)
        if point.room(tables) < 0:
            return True
        lams = np.array(request.lam_indices if request.lam_indices else [], np.int64)
        ad_room = tables.ad_room[z_index, lams] if lams.size else np.array([point.room(tables)])
        sd_room = tables.sd_room[z_index, lams] if lams.size else np.array([point.room(tables)])
        ad_fits = self._fitting(self.ad, point.shares(tables)[0], request.allow_ad)
        share = point.shares(tables)[1] - point.shares(tables)[0]
        sd_fits = self._fitting(self.sd, share, request.allow_sd)
        for first in range(0, len(ad_fits), CHUNK):
            if self.deadline is not None and stopwatch.seconds() >= self.deadline:
                return False
            sets = np.flatnonzero(ad_fits[first : first + CHUNK]) + first
            found = best_pair(
                sets, self.ad[:, 2], self.sd[:, 2], sd_fits, ad_room, sd_room, lams.size == 0,
                self.worth, self._value(),
            )  # fmt: skip
            self.pairs += found[3]
            if found[0] >= 0:
                lam = int(lams[found[2]]) if lams.size else None
                self.best = self._assignment(int(found[0]), int(found[1]), z_index, lam)
        return True

    def _fitting(self, sets: Integers, share: int, allowed: bool) -> NDArray[np.bool_]:
        """Return which sets meet their deadline with this share of the GPU (the empty one does)."""
        whole = self.tables.z_denominator
        quotient, rest = np.divmod(sets[:, 1], whole)
        fits = sets[:, 0] <= quotient * share + rest * share // whole
        fits &= (sets[:, 1] >= 0) & allowed & (share > 0)
        fits[0] = True
        return np.asarray(fits, np.bool_)

    def _assignment(self, ad: int, sd: int, z_index: int, lam_index: int | None) -> Assignment:
        modes = np.zeros(self.tables.users, np.int8)
        for k in range(self.tables.users):
            modes[k] = AD if ad >> k & 1 else SD if sd >> k & 1 else 0
        return Assignment(modes, z_index, lam_index)


@cached_njit()
def ad_sets(tables: CostTables) -> Integers:
    """Return whole-GPU ticks, budget at z = 1 and bytes of every set of users in AD.

    Parameters
    ----------
    tables : CostTables

    Returns
    -------
    (2^K, 3) int64
        The budget is -1 where a member may not be in AD.
    """
    users = len(tables.deadline)
    sets = np.zeros((1 << users, 3), np.int64)
    for mask in range(1, 1 << users):
        tokens = outputs = upload = prefill = base = slope = memory = members = 0
        deadline, allowed = np.iinfo(np.int64).max, True
        for k in range(users):
            if not mask >> k & 1:
                continue
            allowed &= tables.ad_allowed[k]
            members += 1
            if tables.input_tokens[k] >= tokens:
                tokens, prefill = tables.input_tokens[k], tables.ad_prefill[k]
            outputs = max(outputs, tables.output_tokens[k])
            upload = max(upload, tables.upload[k])
            deadline = min(deadline, tables.deadline[k])
            base += tables.ad_base[k]
            slope += tables.ad_slope[k]
            memory += tables.ad_memory[k]
        sets[mask, 1] = _NEVER
        if allowed:
            sets[mask, 0] = base + slope * tokens + members * prefill
            sets[mask, 1] = max(_NEVER, deadline - upload - tables.ad_step * outputs)
            sets[mask, 2] = memory + members * tables.kv_ad * tokens
    return sets


@cached_njit()
def sd_sets(tables: CostTables) -> Integers:
    """Return whole-GPU ticks, budget at z = 0 and bytes of every set of users in SD.

    Parameters
    ----------
    tables : CostTables

    Returns
    -------
    (2^K, 3) int64
        The budget is -1 where a member may not be in SD.
    """
    users = len(tables.deadline)
    sets = np.zeros((1 << users, 3), np.int64)
    for mask in range(1, 1 << users):
        tokens = counts = upload = prefill = base = slope = memory = members = pairs = steps = 0
        rank, growth, wider = -1, 0, 0
        deadline, allowed = np.iinfo(np.int64).max, True
        for k in range(users):
            if not mask >> k & 1:
                continue
            allowed &= tables.sd_allowed[k]
            members += 1
            if tables.input_tokens[k] >= tokens:
                tokens, prefill = tables.input_tokens[k], tables.sd_prefill[k]
            if tables.accept_rank[k] > rank:
                rank = tables.accept_rank[k]
                growth, wider = tables.sd_growth[k], tables.sd_memory_growth[k]
            counts = max(counts, tables.iterations[k])
            upload = max(upload, tables.upload[k])
            deadline = min(deadline, tables.deadline[k])
            base += tables.sd_base[k]
            slope += tables.sd_slope[k]
            pairs += tables.sd_pairs[k]
            memory += tables.sd_memory[k]
            steps += tables.sd_steps[k]
        sets[mask, 1] = _NEVER
        if allowed:
            sets[mask, 0] = base + slope * tokens + members * prefill + pairs * growth
            budget = deadline - upload - tables.sd_fixed - tables.sd_step * counts
            sets[mask, 1] = max(_NEVER, budget)
            sets[mask, 2] = memory + members * tables.kv_sd * tokens + steps * wider
    return sets


def worth_of_sets(value: Integers) -> Integers:
    """Return what every set of users is worth, (2^K,)."""
    worth = np.zeros(1, np.int64)
    for each in value:
        worth = np.concatenate([worth, worth + each])
    return worth


@cached_njit()
def best_pair(
    ad_sets: Integers,
    ad_bytes: Integers,
    sd_bytes: Integers,
    sd_fits: NDArray[np.bool_],
    ad_room: Integers,
    sd_room: Integers,
    shared: bool,
    worth: Integers,
    best: int,
) -> tuple[int, int, int, int]:
    """Return the pair of sets that is worth the most, if that is more than `best`.

    Parameters
    ----------
    ad_sets : (...) int64
        AD sets to try (bit masks) that meet their deadlines.
    ad_bytes, sd_bytes, sd_fits : (2^K,)
        Bytes of every set, and whether it meets its deadlines in SD.
    ad_room, sd_room : (nl,) bytes
        Both rooms per λ, ad_room ascending; both hold all of it where memory is `shared`.
    shared : bool
        One joint memory row.
    worth : (2^K,)
        What every set is worth.
    best : int

    Returns
    -------
    tuple of int
        AD set, SD set, position of the λ, pairs looked at; the sets are -1 if none is better.

    Notes
    -----
    SD has the most room at the least λ at which the AD set fits, so no other λ need be tried.
    """
    everyone = len(sd_fits) - 1
    best_ad, best_sd, best_lam, pairs = -1, -1, 0, 0
    for ad in ad_sets:
        lam = 0
        while lam < len(ad_room) and ad_bytes[ad] > ad_room[lam]:
            lam += 1
        if lam == len(ad_room):
            continue
        left = sd_room[lam] - (ad_bytes[ad] if shared else 0)
        others = everyone & ~ad
        sd = others
        while True:
            pairs += 1
            if sd_fits[sd] and sd_bytes[sd] <= left and worth[ad] + worth[sd] > best:
                best = worth[ad] + worth[sd]
                best_ad, best_sd, best_lam = ad, sd, lam
            if sd == 0:
                break
            sd = (sd - 1) & others
    return best_ad, best_sd, best_lam, pairs


def backend() -> ExhaustiveBackend:
    """Return the back end."""
    return ExhaustiveBackend()
