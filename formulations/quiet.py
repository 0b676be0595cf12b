"""Silence what native code writes to stdout or stderr past Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

STDOUT, STDERR = 1, 2


@contextmanager
def quiet(descriptor: int) -> Iterator[None]:
    """Send a standard stream nowhere for a while.

    Parameters
    ----------
    descriptor : int
        `STDOUT` or `STDERR`.
    """
    (sys.stdout if descriptor == STDOUT else sys.stderr).flush()
    kept, null = os.dup(descriptor), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    try:
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)
        os.close(null)
