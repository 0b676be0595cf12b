"""Seconds that count: wall time without what a first run spends on compiling kernels.

Run times and time limits use this clock, so that a first run reports what every other will, and is
not stopped for being the first.
"""

from __future__ import annotations

import threading
import time


class _LeftOut(threading.local):
    seconds = 0.0


_left_out = _LeftOut()


def seconds() -> float:
    """Return the wall seconds of this thread since some moment, without those left out."""
    return time.perf_counter() - _left_out.seconds


def leave_out(spent: float) -> None:
    """Do not count so many seconds, which have just passed in this thread."""
    _left_out.seconds += spent
