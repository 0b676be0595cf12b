"""P1 and P3 at fixed shares and thresholds are MMKPs: the mapping, both ways."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from instances import Instance, Schedule
from instances.costs import FINEST_TICK
from instances.mmkp import MMKP, Item, ItemClass, Selection
from instances.numbers import exact
from instances.pricing import Rounding, Row, Server

from .mmkp_thresholds import AdThresholds, SdThresholds, Thresholds, own_ad, own_sd

#: Labels of a class's items.
AD, SD = "AD", "SD"


@dataclass(frozen=True)
class Half:
    """One mode under its thresholds.

    Attributes
    ----------
    costs : tuple of (int, int, int)
        Per eligible user: its position, ticks of the whole GPU, bytes.
    time : int
        Ticks of the whole GPU that the mode's share leaves, >= 0.
    """

    costs: tuple[tuple[int, int, int], ...] = ()
    time: int = 0


def mmkp(
    instance: Instance,
    z: float,
    lam: float | None,
    thresholds: Thresholds,
    rounded_up: bool = True,
) -> MMKP:
    """Return P3 (or P1, without a λ) at fixed shares and thresholds as an MMKP.

    Parameters
    ----------
    instance : Instance
    z : float
        Compute share of the AD mode.
    lam : float or None
        Memory share of the AD mode; None: the modes share one memory (P1).
    thresholds : Thresholds
        Each a value that some user has.
    rounded_up : bool
        As in `instances.build_tables`: True, and every selection is an exactly feasible schedule;
        False, and every feasible schedule within the thresholds is a selection.

    Returns
    -------
    MMKP
        One optional class per user, in the instance's order, with items labelled "AD" and "SD"
        (missing where the user does not keep to the thresholds), the user's value (1) as profit,
        and as resources AD time, SD time (ticks of 1 ps) and memory in bytes (P3: of AD, of SD).

    Raises
    ------
    ValueError
        If L1, L3 or L4 is a value that no user has, or a share lies outside [0, 1].

    Notes
    -----
    **Claim.** The maximum over all thresholds of the MMKP's optimum is the optimum of P3 (P1) at
    the same shares, up to the rounding of costs to ticks.

    *At most:* let a selection be feasible for thresholds (L1, L2, t1, u1, ...), X its AD users.
    All of X keep to the thresholds, so X's own maxima are at most L1, L2, u1 and its earliest
    remaining budget is at least t1. Γ^p(L1) and Γ^a(L1, l) grow with L1, so what X takes with its
    own maximum is at most what the MMKP charged, ``Σ_X cost(L1)``; hence ``t_ad <= u1 + L2 β^L +
    Σ_X cost(L1) / z <= t1 <= T'_k`` for every k in X. Its memory (15) grows with L1 too. The same
    holds for Y with L3, L4 (P_n grows with both), N1, t2, u2. A mode without share or room has no
    items. So the selection is a schedule that serves as many users as it has profit.

    *At least:* take an optimal schedule (X, Y) and its own maxima and minima as thresholds
    (`tight_thresholds`). Everyone keeps to them, the charges are those of the paper's equations,
    and the schedule's latency and memory rows are the MMKP's rows; no user is in both modes. So it
    is a feasible selection.

    A mode's threshold only matters through users' values, so finitely many need to be tried: K^4
    for AD, K^5 for SD. This shows that P1 is no harder than polynomially many MMKPs of fixed
    dimension - not that it is hard (erratum E3; for that see `instances.partition`).
    """
    if not 0 <= z <= 1 or (lam is not None and not 0 <= lam <= 1):
        raise ValueError(f"shares must lie in [0, 1] (z = {z}, lambda = {lam})")
    mapping = Mapping(instance, rounded_up)
    ad, sd = mapping.ad_half(z, thresholds.ad), mapping.sd_half(z, thresholds.sd)
    return mapping.join(z, lam, ad, sd)


class Mapping:
    """The mapping of one instance: its users priced once, for many thresholds."""

    def __init__(self, instance: Instance, rounded_up: bool = True) -> None:
        self._server = Server(instance, Rounding(FINEST_TICK, rounded_up))
        self._rows = [self._server.row(user) for user in instance.users]
        self._values = [user.value for user in instance.users]
        self._ad = [own_ad(instance, user) for user in instance.users]
        self._sd = [own_sd(instance, user) for user in instance.users]

    def room(self, z: float) -> int:
        """Return R(z) in bytes; negative where not even the weights fit."""
        return self._server.both_room if z < 1 else self._server.most_room

    def ad_half(self, z: float, thresholds: AdThresholds | None) -> Half:
        """Return the AD mode under its thresholds."""
        if thresholds is None or z == 0 or self.room(z) < 0:
            return Half()
        prefill = self._at(thresholds.longest_input, "L1").ad_prefill
        budget = self._budget(thresholds.deadline, thresholds.upload)
        budget -= thresholds.longest_output * self._server.ad_step
        if budget < 0:
            return Half()
        costs = tuple(
            (k, *self._ad_cost(row, thresholds.longest_input, prefill))
            for k, (row, own) in enumerate(zip(self._rows, self._ad, strict=True))
            if thresholds.admit(own)
        )
        return Half(costs, _share(exact(z), budget))

    def sd_half(self, z: float, thresholds: SdThresholds | None) -> Half:
        """Return the SD mode under its thresholds."""
        if thresholds is None or z == 1 or self.room(z) < 0:
            return Half()
        prefill = self._at(thresholds.longest_input, "L3").sd_prefill
        keenest = self._keenest(thresholds.most_accepted)
        budget = self._budget(thresholds.deadline, thresholds.upload)
        budget -= self._server.ad_step + thresholds.iterations * self._server.sd_step
        if budget < 0:
            return Half()
        costs = tuple(
            (k, *self._sd_cost(row, thresholds.longest_input, prefill, keenest))
            for k, (row, own) in enumerate(zip(self._rows, self._sd, strict=True))
            if thresholds.admit(own)
        )
        return Half(costs, _share(1 - exact(z), budget))

    def join(self, z: float, lam: float | None, ad: Half, sd: Half) -> MMKP:
        """Return both halves as one MMKP."""
        room = max(self.room(z), 0)
        items: list[list[Item]] = [[] for _ in self._rows]
        for k, time, memory in ad.costs:
            weights = (time, 0, memory) if lam is None else (time, 0, memory, 0)
            items[k].append(Item(self._values[k], weights, AD))
        for k, time, memory in sd.costs:
            weights = (0, time, memory) if lam is None else (0, time, 0, memory)
            items[k].append(Item(self._values[k], weights, SD))
        if lam is None:
            memories = [room]
        else:
            memories = [_share(exact(lam), room), _share(1 - exact(lam), room)]
        classes = tuple(ItemClass(tuple(group), optional=True) for group in items)
        return MMKP(classes, (ad.time, sd.time, *memories))

    def _ad_cost(self, row: Row, longest_input: int, prefill: int) -> tuple[int, int]:
        time = row.ad_base + row.ad_slope * longest_input + prefill
        return time, row.ad_memory + self._server.llm.cache * longest_input

    def _sd_cost(self, row: Row, longest_input: int, prefill: int, keenest: Row) -> tuple[int, int]:
        time = row.sd_base + row.sd_slope * longest_input + prefill
        time += row.sd_pairs * keenest.sd_growth
        memory = row.sd_memory + self._server.kv_sd * longest_input
        return time, memory + row.sd_steps * keenest.sd_memory_growth

    def _budget(self, deadline: Fraction, upload: Fraction) -> int:
        rounding = self._server.rounding
        latest = rounding.budget(deadline.numerator, deadline.denominator)
        return latest - rounding.cost(upload.numerator, upload.denominator)

    def _at(self, tokens: int, name: str) -> Row:
        """Return the row of a user with so many input tokens: what prefill costs there."""
        for row in self._rows:
            if row.input_tokens == tokens:
                return row
        raise ValueError(f"no user has {name} = {tokens} input tokens")

    def _keenest(self, accepted: Fraction) -> Row:
        for row in self._rows:
            if Fraction(*self._server.accepted(row.acceptance_rate)) == accepted:
                return row
        raise ValueError(f"no user has L4 = {accepted} accepted drafts")


def _share(share: Fraction, whole: int) -> int:
    return share.numerator * whole // share.denominator


def mmkp_schedule(
    instance: Instance, z: float, lam: float | None, problem: MMKP, selection: Selection
) -> Schedule:
    """Return the schedule that a selection of `mmkp`'s problem stands for.

    Raises
    ------
    ValueError
        If there is not one class and one choice per user, or a choice is no item of its class.
    """
    modes: dict[str | None, list[str]] = {AD: [], SD: []}
    for user, group, position in zip(instance.users, problem.classes, selection, strict=True):
        if position is not None:
            if not 0 <= position < len(group.items):
                raise ValueError(f"user {user.id!r} has no item at position {position}")
            modes[group.items[position].label].append(user.id)
    return Schedule(z=z, lam=lam, ad=tuple(modes[AD]), sd=tuple(modes[SD]))


def mmkp_selection(instance: Instance, problem: MMKP, schedule: Schedule) -> Selection:
    """Return the selection that stands for a schedule.

    Raises
    ------
    ValueError
        If a user of the schedule does not keep to the thresholds of its mode.
    """
    modes = dict.fromkeys(schedule.ad, AD) | dict.fromkeys(schedule.sd, SD)
    chosen: list[int | None] = []
    for user, group in zip(instance.users, problem.classes, strict=True):
        labels = [item.label for item in group.items]
        mode = modes.get(user.id)
        if mode is not None and mode not in labels:
            raise ValueError(f"user {user.id!r} does not keep to the thresholds of {mode}")
        chosen.append(None if mode is None else labels.index(mode))
    return tuple(chosen)
