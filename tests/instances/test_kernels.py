"""A cached kernel is compiled anew when a kernel it calls has changed, and only then."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from instances import kernels, stopwatch

NEVER = kernels.passed(False)
ROOT = Path(__file__).resolve().parents[2]
CALLEE = "from numba import njit\n\n@njit\ndef inner():\n    return {}\n"
CALLER = """from instances.kernels import cached_njit
from heuristics.callee import inner

@cached_njit()
def outer():
    return inner()
"""


def answer(folder: Path) -> str:
    code = (
        "from heuristics.caller import outer; print(outer(), sum(outer.stats.cache_hits.values()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    return run.stdout.strip()


def test_an_edited_callee_is_not_run_from_the_cache(tmp_path: Path) -> None:
    """numba stamps only the file that defines a function: the old value came back."""
    for package in ("instances", "heuristics"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    for name in ("kernels.py", "stopwatch.py"):
        shutil.copy(ROOT / "instances" / name, tmp_path / "instances")
    (tmp_path / "heuristics" / "caller.py").write_text(CALLER)
    callee = tmp_path / "heuristics" / "callee.py"
    callee.write_text(CALLEE.format(1))
    assert answer(tmp_path) == "1 0"
    assert answer(tmp_path) == "1 1"
    callee.touch()
    (tmp_path / "heuristics" / "caller.py").touch()
    assert answer(tmp_path) == "1 1"
    callee.write_text(CALLEE.format(2))
    assert answer(tmp_path) == "2 0"


def test_every_cached_kernel_has_the_wider_stamp() -> None:
    """A kernel that numba caches by itself goes stale when one in another file changes."""
    for package in ("instances", "heuristics", "formulations", "verify"):
        for path in (ROOT / package).rglob("*.py"):
            if path != ROOT / "instances" / "kernels.py":
                assert "njit(cache=True" not in path.read_text(encoding="utf-8"), path


def test_without_a_folder_to_write_kernels_compile_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """numba refuses to define them: nothing could be imported."""
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])

    @kernels.cached_njit()
    def doubled(number: int) -> int:
        return 2 * number

    assert doubled(21) == 42
    assert not kernels.is_cached(doubled)


@pytest.mark.parametrize("takes", [True, False])
def test_a_part_is_compiled_within_its_kernel_only(
    monkeypatch: pytest.MonkeyPatch, takes: bool
) -> None:
    if not takes:  # as with a version of numba that nobody has tried
        monkeypatch.setattr(kernels, "TAKES_PARTS", (0, 0))

    @kernels.part_njit(allocates=True)
    def ones(number: int) -> NDArray[np.int64]:
        return np.ones(number, np.int64)

    @kernels.part_njit()
    def total(values: NDArray[np.int64]) -> int:
        result = 0
        for value in values:
            result += value
        return result

    @njit
    def counted(number: int) -> int:
        return total(ones(number)) + NEVER

    assert counted(5) == 5
    (compiled,) = total.overloads.values()  # type: ignore[attr-defined]
    alone = compiled.library.get_pointer_to_function(compiled.fndesc.mangled_name)
    assert bool(alone) is not takes


def test_a_long_silence_is_explained_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notice = kernels.Notice()
    notice.on_start(None)
    notice.on_end(None)  # quick: nothing to say
    monkeypatch.setattr(kernels, "NOTICE_SECONDS", 0.01)
    for _ in range(2):
        notice.on_start(None)
        notice.on_start(None)
        time.sleep(0.2)
        notice.on_end(None)
        notice.on_end(None)
    assert capsys.readouterr().err == f"{kernels.NOTICE}\n"


def test_compiling_does_not_count_and_running_does() -> None:
    @njit
    def tripled(number: int) -> int:
        return number * 3

    wall, counted = time.perf_counter(), stopwatch.seconds()
    assert tripled(2) == 6
    assert stopwatch.seconds() - counted < (time.perf_counter() - wall) / 2
    counted = stopwatch.seconds()
    time.sleep(0.02)
    assert stopwatch.seconds() - counted >= 0.02


def test_what_one_thread_compiles_counts_for_the_others() -> None:
    counted = stopwatch.seconds()
    thread = threading.Thread(target=stopwatch.leave_out, args=(60.0,))
    thread.start()
    thread.join()
    assert stopwatch.seconds() >= counted
