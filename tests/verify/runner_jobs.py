"""Work for the runner's tests, in a module that worker processes can import."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import heuristics
from instances import Instance, Schedule


def square(number: int) -> dict[str, Any]:
    """A task that works."""
    return {"square": number * number}


def moody(number: int) -> dict[str, Any]:
    """13 takes its process down, 7 raises, 5 leaves, 3 answers what JSON cannot say."""
    if number == 13:
        os._exit(1)
    if number == 7:
        raise KeyError("seven")
    if number == 5:
        sys.exit("five")
    if number == 3:
        return {"square": float("nan")}
    return square(number)


def slow(number: int) -> dict[str, Any]:
    """13 sleeps for a minute."""
    time.sleep(60 if number == 13 else 0.01)
    return square(number)


def deaf(number: int) -> dict[str, Any]:
    """13 sleeps for a minute and lets no alarm wake it."""
    if number == 13:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        time.sleep(60)
    return square(number)


def counted(job: tuple[str, int]) -> dict[str, Any]:
    """Leave a file behind for each time that the task runs to its end."""
    folder, number = job
    time.sleep(0.05)
    (Path(folder) / f"{number}-{time.monotonic_ns()}").touch()
    return {"worker": os.getpid(), **square(number)}


def nobody(instance: Instance) -> Schedule:
    """An algorithm that serves nobody."""
    return Schedule(z=1.0)


def unhurried(instance: Instance) -> Schedule:
    """Algorithm 3 that takes at least 20 ms, so that a run can be killed half-way."""
    time.sleep(0.02)
    schedule = heuristics.solve(instance).schedule
    assert schedule is not None
    return schedule


def everybody(instance: Instance) -> Schedule:
    """An algorithm that asks whether anything fits of nobody."""
    return Schedule(z=0.5, ad=tuple(user.id for user in instance.users))


def strangers(instance: Instance) -> Schedule:
    """An algorithm that serves somebody else."""
    return Schedule(z=1.0, ad=("somebody",))


def raising(instance: Instance) -> Schedule:
    """An algorithm that fails."""
    raise RuntimeError("no idea")


def leaving(instance: Instance) -> Schedule:
    """An algorithm that takes its process down."""
    os._exit(1)
