"""What a replay amounts to: deadline hits over time, batches, and how busy the server was."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from instances import InputError, Instance, Schedule
from instances.numbers import exact

from .arrivals import TICKS, Arrival
from .rounds import Policy, Round, rounds

#: Windows that the report divides the arrivals into, unless their length is given.
WINDOWS = 20
#: More windows nobody reads.
MOST_WINDOWS = 10_000


@dataclass(frozen=True)
class Window:
    """The users who arrived in a stretch of time.

    Parameters
    ----------
    start_s, end_s : float
        Seconds from the first arrival; the end is not included.
    users, hits : int
        Who arrived, and how many of them hit their deadline.
    """

    start_s: float
    end_s: float
    users: int
    hits: int

    @property
    def rate(self) -> float | None:
        """Share of hits; None where nobody arrived."""
        return self.hits / self.users if self.users else None


@dataclass(frozen=True)
class Summary:
    """One policy's replay in numbers.

    Parameters
    ----------
    policy : str
    speed : float
    users, hits, ad, sd : int
        Users; those served in time; those of them in each mode.
    rounds : int
    batch : float or None
        Users a round; None without rounds.
    waited_s : float or None
        Mean seconds from arrival to planning of those served.
    busy : float
        Share of the time in which a round runs.
    utilisation : float
        Share of the GPU's time given to a batch that runs: the shorter batch of a round leaves its
        share of the GPU unused when it has ended.
    """

    policy: str
    speed: float
    users: int
    hits: int
    ad: int
    sd: int
    rounds: int
    batch: float | None
    waited_s: float | None
    busy: float
    utilisation: float

    @property
    def rate(self) -> float | None:
        """Share of users who hit their deadline; None without users."""
        return self.hits / self.users if self.users else None


@dataclass(frozen=True)
class Replay:
    """A trace played once under one policy.

    Parameters
    ----------
    policy : str
        Its name.
    speed : float
        How many times as fast the trace was played.
    arrivals : tuple of Arrival
    rounds : tuple of Round
    """

    policy: str
    speed: float
    arrivals: tuple[Arrival, ...]
    rounds: tuple[Round, ...]

    @cached_property
    def planned(self) -> dict[str, Round]:
        """The round that serves each user who hits the deadline, by id."""
        return {name: part for part in self.rounds for name in part.served}

    @property
    def span(self) -> int:
        """Ticks from the first arrival to the last arrival or, if later, the last round's end."""
        return max(last_tick(self.arrivals), self.rounds[-1].end if self.rounds else 0)

    def windows(self, seconds: float | None = None) -> list[Window]:
        """Return the hits by time of arrival.

        Parameters
        ----------
        seconds : float, optional
            Length of a window; by default the time of arrivals in 20.

        Raises
        ------
        InputError
            If it is not positive, or so short that there are more than 10,000.
        """
        width = window_ticks(self.arrivals, seconds)
        counts = [[0, 0] for _ in range(last_tick(self.arrivals) // width + 1)]
        for arrival in self.arrivals:
            counts[arrival.tick // width][0] += 1
            counts[arrival.tick // width][1] += arrival.user.id in self.planned
        return [
            Window(i * width / TICKS, (i + 1) * width / TICKS, users, hits)
            for i, (users, hits) in enumerate(counts)
        ]

    def summary(self) -> Summary:
        """Return the replay in numbers."""
        hits, span = len(self.planned), max(self.span, 1)
        waited = sum(
            self.planned[a.user.id].start - a.tick
            for a in self.arrivals
            if a.user.id in self.planned
        )
        busy = sum(part.end - part.start for part in self.rounds)
        return Summary(
            policy=self.policy,
            speed=self.speed,
            users=len(self.arrivals),
            hits=hits,
            ad=sum(len(part.schedule.ad) for part in self.rounds),
            sd=sum(len(part.schedule.sd) for part in self.rounds),
            rounds=len(self.rounds),
            batch=hits / len(self.rounds) if self.rounds else None,
            waited_s=waited / TICKS / hits if hits else None,
            busy=busy / span,
            utilisation=float(
                sum((_used(part) for part in self.rounds), Fraction(0)) * TICKS / span
            ),
        )

    def to_dict(self, window_s: float | None = None) -> dict[str, Any]:
        """Return the summary and the windows as plain data for JSON."""
        summary = self.summary()
        windows = [asdict(window) | {"rate": window.rate} for window in self.windows(window_s)]
        return asdict(summary) | {"rate": summary.rate, "windows": windows}


def window_ticks(arrivals: Sequence[Arrival], seconds: float | None) -> int:
    """Return the ticks of a window of that many seconds, by default the time of arrivals in 20.

    Raises
    ------
    InputError
        If it is not positive, or so short that there are more than 10,000.
    """
    last = last_tick(arrivals)
    if seconds is None:
        return last // WINDOWS + 1
    least = last / TICKS / MOST_WINDOWS
    if not (math.isfinite(seconds) and seconds > 0 and seconds >= least):
        raise InputError(f"a window must be positive, and at least {least:g} s, not {seconds:g} s")
    return max(1, int(seconds * TICKS))


def last_tick(arrivals: Sequence[Arrival]) -> int:
    """Return the tick of the last arrival; 0 without any."""
    return max((arrival.tick for arrival in arrivals), default=0)


def _used(part: Round) -> Fraction:
    """Return the seconds of the whole GPU that a round's batches hold while they run."""
    share = exact(part.schedule.z)
    return share * part.ad_s + (1 - share) * part.sd_s


#: Passes the rounds on, for instance behind a progress bar.
Watch = Callable[[Iterable[Round]], Iterable[Round]]


def replay(
    server: Instance,
    arrivals: Sequence[Arrival],
    policy: str | Policy,
    speed: float = 1.0,
    watch: Watch = iter,
) -> Replay:
    """Return what a policy makes of the arrivals, by the rules of `heuristics.rounds`.

    Parameters
    ----------
    server : Instance
        Models, hardware and grids; its users are ignored.
    arrivals : sequence of Arrival
    policy : str or callable
        An algorithm of `heuristics.solve`, also ``"module:function"``; or a function of an
        instance that returns a `Schedule`.
    speed : float
        For the report; the arrivals hold it already.
    watch : callable, optional
        Takes the rounds as they come and passes them on.

    Raises
    ------
    ValueError
        If the policy is unknown or its schedule malformed.
    Violation
        If a schedule of the policy is infeasible.
    """
    name = policy if isinstance(policy, str) else getattr(policy, "__name__", repr(policy))
    played = rounds(server, arrivals, named(policy) if isinstance(policy, str) else policy)
    return Replay(name, speed, tuple(arrivals), tuple(watch(played)))


def named(algorithm: str) -> Policy:
    """Return an algorithm of `heuristics.solve` as a policy."""
    from .api import solve  # loads numba

    def policy(instance: Instance) -> Schedule:
        schedule = solve(instance, algorithm).schedule
        assert schedule is not None  # every algorithm returns one
        return schedule

    return policy
