"""`cached_njit`: compiled kernels on disk that notice when any kernel they call has changed.

numba's cache looks at the file that defines a function, not at those whose functions it calls and
whose code it contains. A kernel edited elsewhere, or a new version installed over an old one, would
silently run the old code. Here the stamp also holds the contents of every module of the toolkit
that compiles anything.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

#: Seconds of compiling after which a word is said about it, and which.
NOTICE_SECONDS = 4.0
NOTICE = "compiling the kernels; only the first run does that (about half a minute)"
#: What is written in a module that compiles something.
_COMPILES = (b"njit", b"@kernel", b"@inlined", b"@inner")
_PACKAGES = ("instances", "heuristics", "formulations", "verify")


def passed(constant: int) -> int:
    """Return an integer constant as one that kernels may pass on to others.

    A Python constant among a kernel's arguments makes numba compile a version for it alone.
    """
    return cast(int, np.int64(constant))


@cache
def _stamp() -> bytes:
    """Return a digest of the sources of all modules that compile something."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for path in sorted((Path(__file__).parents[1] / package).rglob("*.py")):
            source = path.read_bytes()
            if any(mark in source for mark in _COMPILES):
                digest.update(source)
    return digest.digest()


def cached_njit(**options: Any) -> Callable[[Function], Function]:
    """Return a decorator like ``numba.njit(cache=True, **options)`` with the wider stamp.

    Parameters
    ----------
    **options
        Options of ``numba.njit``.
    """

    def compile_later(function: Function) -> Function:
        dispatcher = njit(cache=True, **options)(function)
        index = dispatcher._cache._cache_file
        index._source_stamp = _stamp()  # contents, not numba's time of the last change
        return cast(Function, dispatcher)

    return compile_later


class Notice(event.Listener):
    """Says on stderr, once, that kernels are being compiled, if that takes long."""

    def __init__(self) -> None:
        self.depth = 0
        self.timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        """Note that numba begins with a function, maybe inside another."""
        if self.timer is None:
            self.timer = threading.Timer(NOTICE_SECONDS, print, [NOTICE], {"file": sys.stderr})
            self.timer.daemon = True
            self.timer.start()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """Note that numba has finished a function."""
        self.depth -= 1
        if not self.depth and self.timer is not None and self.timer.is_alive():
            self.timer.cancel()
            self.timer = None


if multiprocessing.parent_process() is None:  # what workers do, their parent explains
    event.register("numba:compile", Notice())
