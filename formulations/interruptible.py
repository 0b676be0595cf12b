"""Ctrl-C while a compiled solver runs: the solver is asked to stop and keeps what it has."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from typing import TypeVar

Value = TypeVar("Value")


def run(function: Callable[[], Value], cancel: Callable[[], None]) -> Value:
    """Return ``function()``, run in a thread; at Ctrl-C `cancel` is called, then waited for.

    Parameters
    ----------
    function : callable
        Must return soon after `cancel`.
    cancel : callable
        Called in the main thread, where Python delivers the signal.
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(function)
        while True:
            try:
                return future.result(timeout=0.1)
            except TimeoutError:
                if future.done():  # the function itself timed out
                    raise
            except KeyboardInterrupt:
                cancel()
