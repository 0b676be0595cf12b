"""What a forward pass takes on a device: CUDA events on a GPU, the wall clock on a CPU.

Needs PyTorch (extra ``measure``).
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import torch

from .decoder import Build, Decoder
from .files import InputError
from .passes import Size


@dataclass(frozen=True)
class Timed:
    """One size of pass: the median and the quartiles' distance in seconds, or why there is none."""

    size: Size
    seconds: float = 0.0
    spread_seconds: float = 0.0
    repeats: int = 0
    skipped: str | None = None


@dataclass(frozen=True)
class Effort:
    """How often a pass is repeated.

    Parameters
    ----------
    warm_up, repeats : int
        Passes run before, and timed.
    most_seconds : float
        No further repeat starts after that long; one is always timed.
    """

    warm_up: int = 3
    repeats: int = 15
    most_seconds: float = 10.0


def time_passes(
    build: Build, sizes: Iterable[Size], effort: Effort, seed: int = 0
) -> Iterator[Timed]:
    """Yield each size's time as soon as it is known; what does not fit in memory is skipped."""
    decoder = Decoder(build, seed)
    for size in sizes:
        needed, free = build.pass_bytes(size), free_bytes(build.device)
        if needed > free:
            yield Timed(size, skipped=f"needs {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free")
        else:
            yield _time(decoder, size, effort)


def check_room(build: Build) -> None:
    """Refuse a decoder whose weights alone do not fit in memory.

    Raises
    ------
    InputError
        With both sizes in it.
    """
    free = free_bytes(build.device)
    if build.weight_bytes > free:
        raise InputError(
            f"{build.weight_bytes / 1e9:.1f} GB of weights do not fit into the {free / 1e9:.1f} GB "
            f"free on {build.device}; time fewer --layers"
        )


def _time(decoder: Decoder, size: Size, effort: Effort) -> Timed:
    try:
        seconds = _samples(decoder.prepare(size), _clock(decoder.build.device), effort)
    except RuntimeError as error:  # also torch.OutOfMemoryError
        if not isinstance(error, torch.OutOfMemoryError) and "allocate memory" not in str(error):
            raise
        return Timed(size, skipped="does not fit in memory")
    quarters = quantiles(seconds, n=4) if len(seconds) > 1 else [0.0, 0.0, 0.0]
    return Timed(size, median(seconds), quarters[2] - quarters[0], len(seconds))


def _samples(
    run: Callable[[], object], clock: Callable[[Callable[[], object]], float], effort: Effort
) -> list[float]:
    end = time.monotonic() + effort.most_seconds
    for _ in range(effort.warm_up):
        run()
        if time.monotonic() > end:
            break
    seconds = [clock(run)]
    while len(seconds) < effort.repeats and time.monotonic() < end:
        seconds.append(clock(run))
    return seconds


def _clock(device: str) -> Callable[[Callable[[], object]], float]:
    return _by_events if device.startswith("cuda") else _by_wall


def _by_wall(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _by_events(run: Callable[[], object]) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    run()
    end.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(end)) / 1e3


def use_device(device: str | None, threads: int | None = None) -> str:
    """Make a device the one that events are recorded on and return its full name.

    Parameters
    ----------
    device : str or None
        ``"cpu"``, ``"cuda"`` or ``"cuda:N"``; None takes the GPU if there is one.
    threads : int, optional
        CPU threads; PyTorch's choice without it.

    Raises
    ------
    InputError
        If it is none of these, or PyTorch sees no such GPU.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    kind, _, number = (device or ("cuda" if torch.cuda.is_available() else "cpu")).partition(":")
    if kind == "cpu" and not number:
        return kind
    if kind != "cuda" or not (number or "0").isdigit():
        raise InputError(f"--device: must be cpu, cuda or cuda:N, not {device!r}")
    if int(number or 0) >= torch.cuda.device_count():
        raise InputError(f"--device: PyTorch {torch.__version__} sees no {device} here")
    torch.cuda.set_device(int(number or 0))
    return f"cuda:{int(number or 0)}"


def free_bytes(device: str) -> int:
    """Return how much memory a device has left, what PyTorch holds in reserve included."""
    if device.startswith("cuda"):
        torch.cuda.empty_cache()
        return int(torch.cuda.mem_get_info(device)[0])
    return _meminfo("MemAvailable") or os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _meminfo(key: str) -> int | None:
    """Return a line of Linux's memory statistics in bytes, if it is there."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(key)), None)


def describe_device(device: str) -> dict[str, str]:
    """Return a device's name, memory, clock and versions, as a file of passes keeps them."""
    versions = f"Python {platform.python_version()}, PyTorch {torch.__version__}"
    if device.startswith("cuda"):
        card = torch.cuda.get_device_properties(device)
        versions += f", CUDA {torch.version.cuda}"
        return {
            "device": card.name,
            "memory_bytes": str(card.total_memory),
            "clock": "CUDA events",
            "versions": versions,
        }
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "device": _cpu_name(),
        "memory_bytes": str(memory),
        "clock": f"wall clock, {torch.get_num_threads()} threads",
        "versions": versions,
    }


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()
