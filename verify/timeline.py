"""When a schedule does what: each batch's passes and each user's phases, from `instances.exact`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil

from instances import InputError, Instance, Schedule, User, drafts, exact
from instances.numbers import exact as rational

#: At most so many steps or iterations are told apart; more are told in equal groups.
MOST_STEPS = 40


@dataclass(frozen=True)
class Row:
    """One served user's times in seconds from the start.

    Parameters
    ----------
    user : str
    upload : float
        End of its upload.
    decoded : float or None
        When its own last token is there; None in a batch that never ends.
    download : float or None
        End of its download, which starts when its whole batch is decoded.
    deadline : float
        T.
    late : bool
        Whether the download ends after the deadline, decided exactly.
    """

    user: str
    upload: float
    decoded: float | None
    download: float | None
    deadline: float
    late: bool


@dataclass(frozen=True)
class Step:
    """Some decode steps or draft-verify iterations in a row, in seconds from the start.

    In AD there is no drafting, so `drafted` is `start`.
    """

    start: float
    drafted: float
    end: float


@dataclass(frozen=True)
class Batch:
    """What one mode does.

    Parameters
    ----------
    mode : str
        ``"AD"`` or ``"SD"``.
    share : float
        Its share of the GPU; with none its passes never end.
    rows : tuple of Row
        Its users, the earliest deadline first.
    start, prefilled, end : float or None
        Seconds when the last prompt is there, when the prefill ends and when all is decoded.
    steps : tuple of Step
        Decode steps or iterations after the prefill, in groups of `each` (the last may be smaller).
    each : int
    """

    mode: str
    share: float
    rows: tuple[Row, ...]
    start: float
    prefilled: float | None
    end: float | None
    steps: tuple[Step, ...]
    each: int


def batches(instance: Instance, schedule: Schedule) -> list[Batch]:
    """Return the timelines of the modes that serve somebody, AD first.

    All times are `instances.exact`'s: a step's end is the latency of the batch cut off there.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
        Feasible or not; its users must be the instance's.

    Raises
    ------
    InputError
        If a time is beyond every float.
    """
    instance = drafts.drafted(instance, schedule)
    ad, sd = (
        sorted((instance.users[instance.index[name]] for name in names), key=_deadline)
        for names in (schedule.ad, schedule.sd)
    )
    share = rational(schedule.z)
    found = [_batch(instance, "AD", share, ad, _ad_clock(instance, ad, schedule.z))] if ad else []
    if sd:
        found.append(_batch(instance, "SD", 1 - share, sd, _sd_clock(instance, sd, schedule.z)))
    return found


def _deadline(user: User) -> tuple[float, str]:
    return user.deadline_s, user.id


@dataclass(frozen=True)
class _Clock:
    """When a batch has done how much; counted are answer tokens in AD and iterations in SD.

    `first` is the count at which the prefill ends, `count` a user's own at its end, `latency` the
    seconds until a count and `drafting` what the small model took of them.
    """

    first: int
    count: Callable[[User], int]
    latency: Callable[[int], Fraction]
    drafting: Callable[[int], Fraction]


def _ad_clock(instance: Instance, users: Sequence[User], z: float) -> _Clock:
    return _Clock(
        first=1,
        count=lambda user: user.output_tokens,
        latency=cache(lambda tokens: exact.ad_latency(instance, users, z, tokens)),
        drafting=lambda tokens: Fraction(0),
    )


def _sd_clock(instance: Instance, users: Sequence[User], z: float) -> _Clock:
    free = instance.hardware.model_copy(update={"alpha_llm": 0.0, "beta_llm": 0.0})
    small_alone = instance.model_copy(update={"hardware": free})  # the large model takes no time
    return _Clock(
        first=0,
        count=lambda user: exact.sd_iterations(user, instance.draft_length),
        latency=cache(lambda count: exact.sd_latency(instance, users, z, count)),
        drafting=cache(lambda count: exact.sd_latency(small_alone, users, z, count)),
    )


def _batch(
    instance: Instance, mode: str, share: Fraction, users: Sequence[User], clock: _Clock
) -> Batch:
    start = _float(max(exact.upload_time(instance, user) for user in users))
    if share <= 0:
        rows = tuple(_row(instance, user, None, None) for user in users)
        return Batch(mode, float(share), rows, start, None, None, (), 1)
    last = max(map(clock.count, users))
    end = clock.latency(last)
    rows = tuple(_row(instance, user, clock.latency(clock.count(user)), end) for user in users)
    each = _group(last - clock.first)
    steps = tuple(_steps(clock, range(clock.first, last, each), last))
    prefilled = _float(clock.latency(clock.first))
    return Batch(mode, float(share), rows, start, prefilled, _float(end), steps, each)


def _row(instance: Instance, user: User, decoded: Fraction | None, end: Fraction | None) -> Row:
    upload, deadline = _float(exact.upload_time(instance, user)), user.deadline_s
    if decoded is None or end is None:
        return Row(user.id, upload, None, None, deadline, True)
    done = end + exact.download_time(instance, user)
    late = done > rational(deadline)
    return Row(user.id, upload, _float(decoded), _float(done), deadline, late)


def _steps(clock: _Clock, starts: range, last: int) -> Iterator[Step]:
    for before in starts:
        after = min(before + starts.step, last)
        start, end = clock.latency(before), clock.latency(after)
        drafting = clock.drafting(after) - clock.drafting(before)
        yield Step(_float(start), _float(start + drafting), _float(end))


def _float(seconds: Fraction) -> float:
    try:
        return float(seconds)
    except OverflowError:
        raise InputError("the schedule takes too long to be drawn") from None


def _group(steps: int) -> int:
    """Return how many steps are told as one: 1, 2, 5, 10, ..."""
    sizes = (digit * int(10**power) for power in range(9) for digit in (1, 2, 5))
    return next(size for size in sizes if ceil(steps / size) <= MOST_STEPS)


@dataclass(frozen=True)
class Part:
    """A part of the GPU's memory in bytes; `free` ones hold nothing."""

    name: str
    size: Fraction
    free: bool = False


def memory_parts(instance: Instance, schedule: Schedule, split: bool) -> list[Part]:
    """Return what fills the memory, from the bottom up; together `memory_bytes` unless overfull.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
    split : bool
        Whether the caches keep to their own shares λ and 1 - λ (P2, P3).

    Returns
    -------
    list of Part
        Weights, caches and what is free; free parts are left out where a cache is over.
    """
    instance = drafts.drafted(instance, schedule)
    users = instance.users
    ad, sd = ([users[instance.index[name]] for name in ids] for ids in (schedule.ad, schedule.sd))
    alone, room = (Fraction(exact.room(instance, z)) for z in (1.0, schedule.z))
    ad_cache = Part("AD caches", Fraction(exact.ad_memory(instance, ad)))
    sd_cache = Part("SD caches", exact.sd_memory(instance, sd))
    parts = [Part("LLM weights", instance.hardware.memory_bytes - alone)]
    parts += [Part("SLM weights", alone - room)] if alone > room else []
    if split and schedule.lam is not None:
        ad_room = rational(schedule.lam) * room
        parts += [ad_cache, Part("free for AD", ad_room - ad_cache.size, True)]
        parts += [sd_cache, Part("free for SD", room - ad_room - sd_cache.size, True)]
    else:
        parts += [ad_cache, sd_cache, Part("free", room - ad_cache.size - sd_cache.size, True)]
    return [part for part in parts if part.size > 0]
