"""Who asks when: a trace's requests as users with arrival times, in whole ticks of 1 µs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from instances import InputError, User
from instances.families import Setting
from instances.numbers import exact
from instances.paper import trace_user
from instances.randomness import Stream
from instances.traces import Request
from instances.wireless import Radio

#: Ticks in a second.
TICKS = 10**6
#: A time below this many ticks (31 years) is a float that shows every tick: 15 digits.
LATEST = 10**15


@dataclass(frozen=True)
class Arrival:
    """A user and when it asks.

    Parameters
    ----------
    user : User
        Its `deadline_s` counts from its arrival.
    tick : int
        Arrival in ticks.
    """

    user: User
    tick: int

    @cached_property
    def due(self) -> int:
        """The last tick within the deadline."""
        return self.tick + math.floor(exact(self.user.deadline_s) * TICKS)

    def left_at(self, tick: int) -> User:
        """Return the user with what is left of its deadline at a tick before `due`, exactly."""
        return self.user.model_copy(update={"deadline_s": (self.due - tick) / TICKS})


def arrivals(
    requests: Sequence[Request],
    seed: int = 0,
    speed: float = 1.0,
    deadline_s: float | None = None,
    radio: Radio | None = None,
) -> tuple[Arrival, ...]:
    """Return a trace's requests as arriving users, earliest first.

    Parameters
    ----------
    requests : sequence of Request
        Those without an arrival time are left out.
    seed : int
        Draws links, acceptance rates and the deadlines that are not given (`paper.trace_user`);
        a request's user is the same at every speed.
    speed : float
        The trace is played this many times as fast; deadlines stay as they are.
    deadline_s : float, optional
        Everyone's deadline, instead of the trace's or a drawn one.
    radio : Radio, optional
        The cell that links are drawn from.

    Raises
    ------
    InputError
        If no request has an arrival time, or a time, the speed or the deadline is out of range.
    """
    for name, value in (("speed", speed), ("deadline", deadline_s)):
        if value is not None and not (math.isfinite(value) and value > 0):
            raise InputError(f"{name} must be a positive number, not {value}")
    timed = [(r.arrival_s, r) for r in requests if r.arrival_s is not None]
    if not timed:
        raise InputError("the trace has no arrival times: nothing can be replayed")
    timed.sort(key=lambda pair: pair[0])
    stream, setting = Stream("replay", seed), Setting(radio=radio or Radio())
    result, first = [], exact(timed[0][0])
    for position, (arrival_s, request) in enumerate(timed):
        given = request if deadline_s is None else replace(request, deadline_s=deadline_s)
        user = trace_user(setting, stream, position, given)
        since = math.floor((exact(arrival_s) - first) * TICKS / exact(speed))
        result.append(Arrival(user, since))
    if max(arrival.due for arrival in result) >= LATEST:
        raise InputError("the trace's arrivals and deadlines span more than 31 years")
    return tuple(result)
