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
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit, version_info
from numba.core import event
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from . import stopwatch

Function = TypeVar("Function", bound=Callable[..., Any])
Constant = TypeVar("Constant", int, bool)

#: numba's compiler takes parts before this version; later ones may have changed inside.
TAKES_PARTS = (0, 69)
#: Seconds of compiling after which a word is said about it, and which.
NOTICE_SECONDS = 4.0
NOTICE = "compiling the kernels; only the first run does that (10 to 30 s)"
#: What is written in a module that compiles something.
_COMPILES = (b"njit", b"@kernel", b"@inlined", b"@inner", b"@lean")
_PACKAGES = ("instances", "heuristics", "formulations", "verify")


def passed(constant: Constant) -> Constant:
    """Return an integer or truth value as one that kernels may pass on to others.

    A Python constant among a kernel's arguments makes numba compile a version for it alone.
    """
    numpys = np.bool_ if isinstance(constant, bool) else np.int64
    return cast(Constant, numpys(constant))


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
        dispatcher = njit(**options)(function)
        with suppress(RuntimeError):  # no folder can be written: then every process compiles
            dispatcher.enable_caching()
            index = dispatcher._cache._cache_file
            index._source_stamp = _stamp()  # contents, not numba's time of the last change
        return cast(Function, dispatcher)

    return compile_later


def is_cached(kernel: Callable[..., Any]) -> bool:
    """Return whether numba has found a folder to keep a kernel in."""
    return not isinstance(cast(Any, kernel)._cache, NullCache)


def part_njit(allocates: bool = False, **options: Any) -> Callable[[Function], Function]:
    """Return a decorator that compiles what only kernels call, as a part of each.

    numba optimises a function and emits machine code for it before it is linked into its caller,
    where both happen again: in a chain of calls once for every link. Parts are optimised once, with
    the kernel that contains them, which takes two thirds of the time and makes the same code. A
    version of numba from `TAKES_PARTS` on compiles them as usual.

    Parameters
    ----------
    allocates : bool
        Whether the function makes arrays or returns one. Others do without the counting of
        references to arrays, half of their instructions before they are optimised.
    **options
        Options of ``numba.njit``.
    """
    always: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    always["error_model"] = "numpy"
    if version_info[:2] < TAKES_PARTS:
        always |= {"_nrt": allocates, "pipeline_class": _PartCompiler}
    return cast(Callable[[Function], Function], njit(**always, **options))


class _PartCompiler(Compiler):
    """numba's compiler, but what it compiles waits in a `_Part`."""

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class _Part(JITCodeLibrary):
    """The code of one function, to be linked into others only."""

    def _optimize_final_module(self) -> None:
        """Leave that to the kernel."""

    def _finalize_final_module(self) -> None:
        """Emit no machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: numba's word for a function without a wrapper for Python."""
        return 0

    @property
    def codegen(self) -> _Part:
        """What is asked to set the function's environment, which only Python's wrapper uses."""
        return self

    def set_env(self, name: str, env: object) -> None:
        """Do nothing: there is no machine code that could look at it."""


class AtCompiling(event.Listener):
    """Calls a function once, when numba first begins to compile."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.call: Callable[[], object] | None = call

    def on_start(self, event: Any) -> None:
        """Call the function the first time."""
        if self.call is not None:
            call, self.call = self.call, None
            call()

    def on_end(self, event: Any) -> None:
        """Do nothing."""


class _Uncounted(event.Listener):
    """Leaves the seconds of compiling out of run times and time limits."""

    def __init__(self) -> None:
        self.here = _Here()

    def on_start(self, event: Any) -> None:
        """Note when this thread began, if it was not compiling already."""
        if not self.here.depth:
            self.here.began = time.perf_counter()
        self.here.depth += 1

    def on_end(self, event: Any) -> None:
        """Leave out what the outermost function took."""
        self.here.depth -= 1
        if not self.here.depth:
            stopwatch.leave_out(time.perf_counter() - self.here.began)


class _Here(threading.local):
    depth, began = 0, 0.0


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


event.register("numba:compile", _Uncounted())
if multiprocessing.parent_process() is None:  # what workers do, their parent explains
    event.register("numba:compile", Notice())
