"""Statistics of run times in which time-outs are censored, not averaged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, order=True)
class Time:
    """A run time, or what is known of one.

    Parameters
    ----------
    seconds : float
    censored : bool
        True: at least that long (the run was cut off, or never got there).
    """

    seconds: float
    censored: bool = False

    def __str__(self) -> str:
        return f"{'> ' if self.censored else ''}{seconds_text(self.seconds)}"


def seconds_text(seconds: float) -> str:
    """Return a duration to three digits in the unit that suits it: µs, ms or s."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{_three_digits(seconds / 1e-6)} µs"


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def median(times: Sequence[Time]) -> Time:
    """Return the median; of an even number, the lower of the two in the middle.

    A censored time sorts after every complete one, so the median is complete exactly when at
    least half of the runs are.
    """
    return _ordered(times)[(len(times) - 1) // 2]


def longest(times: Sequence[Time]) -> Time:
    """Return the longest time; censored if any is."""
    return _ordered(times)[-1]


def _ordered(times: Sequence[Time]) -> list[Time]:
    if not times:
        raise ValueError("no times")
    return sorted(times, key=lambda time: (time.censored, time.seconds))


def shifted_geometric_mean(times: Sequence[Time], shift: float) -> Time:
    """Return (Π (t_i + s))^(1/n) - s; censored (a lower end) if any time is.

    Parameters
    ----------
    times : sequence of Time
    shift : float
        s in seconds, of the size of the times that should stop mattering.
    """
    if not times:
        raise ValueError("no times")
    logs = [math.log(time.seconds + shift) for time in times]
    mean = math.exp(math.fsum(logs) / len(logs)) - shift
    return Time(max(0.0, mean), any(time.censored for time in times))


def par2(times: Sequence[Time], limit: float) -> float:
    """Return the mean seconds with every censored run counted as twice the time limit (PAR-2)."""
    if not times:
        raise ValueError("no times")
    return math.fsum(2 * limit if t.censored else t.seconds for t in times) / len(times)


def speedup(slow: Time, fast: Time) -> Time | None:
    """Return slow over fast (as a factor, not seconds), a lower end if `slow` is censored.

    None where nothing can be said: `fast` is censored, or took no measurable time.
    """
    if fast.censored or fast.seconds <= 0:
        return None
    return Time(slow.seconds / fast.seconds, slow.censored)


@dataclass(frozen=True)
class Profile:
    """A performance profile (Dolan and Moré).

    Parameters
    ----------
    steps : dict of str to list of (float, float)
        Per line the points (τ, share of the instances solved within τ times the fastest line's
        time), ascending. Instances that no line solved stay in the denominator.
    instances : int
    """

    steps: dict[str, list[tuple[float, float]]]
    instances: int


def performance_profile(times: Mapping[str, Mapping[str, Time]]) -> Profile:
    """Return the performance profile of several lines on the same instances.

    Parameters
    ----------
    times : mapping
        times[line][instance]; a missing or censored entry counts as not solved.
    """
    solved = {
        line: {name: time.seconds for name, time in row.items() if not time.censored}
        for line, row in times.items()
    }
    names = {name for row in times.values() for name in row}
    fastest = {
        name: min(row[name] for row in solved.values() if name in row)
        for name in names
        if any(name in row for row in solved.values())
    }
    steps = {}
    for line, row in solved.items():
        ratios = sorted(_ratio(seconds, fastest[name]) for name, seconds in row.items())
        steps[line] = [(tau, (i + 1) / len(names)) for i, tau in enumerate(ratios)]
    return Profile(steps, len(names))


def _ratio(seconds: float, fastest: float) -> float:
    return seconds / fastest if fastest > 0 else (1.0 if seconds <= 0 else math.inf)


@dataclass(frozen=True)
class Fit:
    """A power law t = factor * K ** exponent through medians, by least squares on logarithms.

    Parameters
    ----------
    exponent, factor : float
    error : float or None
        Standard error of the exponent; None with only two points.
    points : int
        Sizes that the fit used.
    """

    exponent: float
    factor: float
    error: float | None
    points: int

    def __call__(self, users: float) -> float:
        """Return the fitted seconds for K users."""
        return float(self.factor * users**self.exponent)


def fit_exponent(users: Sequence[float], times: Sequence[Time]) -> Fit | None:
    """Return the power law through the times; None with fewer than two sizes that can be used.

    Censored times and sizes below one user are left out: a fit through time limits would
    flatten the curve.
    """
    points = [
        (math.log(k), math.log(t.seconds))
        for k, t in zip(users, times, strict=True)
        if k >= 1 and t.seconds > 0 and not t.censored
    ]
    if len({x for x, _ in points}) < 2:
        return None
    x, y = np.array(points).T
    centred = x - x.mean()
    exponent = float(centred @ y / (centred @ centred))
    intercept = float(y.mean() - exponent * x.mean())
    error = None
    if len(points) > 2:
        left = y - intercept - exponent * x
        error = math.sqrt(float(left @ left) / (len(points) - 2) / float(centred @ centred))
    return Fit(exponent, math.exp(intercept), error, len(points))
