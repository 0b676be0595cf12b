"""The protocol of a benchmark: what was asked, on which machine, with which versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from instances import Problem

#: Packages whose versions a run time may depend on.
PACKAGES = ("balance-toolkit", "numpy", "numba", "highspy", "ortools", "pyomo", "pydantic")
#: What is measured and how it is counted, for the reader of a report.
RULES = (
    "every run (line × instance) in its own process with one thread; the lines of one instance "
    "follow each other",
    "run time: wall clock around the whole call, tables, start and certificate included; reading "
    "the file and importing `instances` excluded",
    "quick calls (under 0.1 s) are repeated in the process on freshly read instances; the median "
    "call counts",
    "a run counts as solved if it certifies the optimum within the limit, or if its method proves "
    "no bound and ends within it; all others are censored at the limit",
    "a process that has not answered at limit + grace is killed; a line that fails the warm-up, by "
    "crashing or at its limit, counts as failed on every instance",
    "statistics of times with a censored one are lower ends, written with >; PAR-2 counts a "
    "censored run as twice the limit",
    "medians of even counts take the lower of the two in the middle, and are censored if more "
    "than half of the runs are",
    "every schedule is checked by the judge in exact arithmetic, every bound against every "
    "accepted schedule of the same instance",
)
WARM = "warm: the process solves two small instances (K = 8, 9) before the clock starts"
COLD = "cold: imports and the loading of compiled kernels count; one call"


@dataclass(frozen=True)
class Protocol:
    """How runs are made.

    Parameters
    ----------
    problem : {"P1", "P2"}
    time_limit_s : float
        Wall seconds a call.
    grace_s : float
        Seconds after the limit until the process is killed.
    repeats : int
        Calls of a quick run.
    warm : bool
        Whether the process solves small instances before the clock starts.
    warm_up_limit_s : float
        Seconds from the start of the process until the clock starts, at most.
    jobs : int
        Runs at a time.
    shift_s : float
        Shift of the geometric mean.
    """

    problem: Problem = "P1"
    time_limit_s: float = 60.0
    grace_s: float = 5.0
    repeats: int = 7
    warm: bool = True
    warm_up_limit_s: float = 300.0
    jobs: int = 1
    shift_s: float = 0.01
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    load_at_start: float | None = field(default_factory=lambda: _load())

    def to_dict(self) -> dict[str, Any]:
        """Return everything a report states about how its numbers came about."""
        return {
            "started": self.started.isoformat(timespec="seconds"),
            "problem": self.problem,
            "time_limit_s": self.time_limit_s,
            "grace_s": self.grace_s,
            "warm_up_limit_s": self.warm_up_limit_s,
            "repeats": self.repeats if self.warm else 1,
            "jobs": self.jobs,
            "shift_s": self.shift_s,
            "rules": [*RULES, WARM if self.warm else COLD],
            "machine": machine() | {"load_at_start": self.load_at_start},
            "versions": versions(),
        }


def flat(data: Mapping[str, Any]) -> dict[str, str]:
    """Return nested data as text by key, keys of inner levels joined by a dot."""
    result: dict[str, str] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            result |= {f"{key}.{inner}": text for inner, text in flat(value).items()}
        elif key == "rules":
            result |= {f"{key}.{i}": rule for i, rule in enumerate(value, start=1)}
        elif isinstance(value, (list, tuple)):
            result[key] = " ".join(map(str, value))
        else:
            result[key] = str(value)
    return result


def machine() -> dict[str, Any]:
    """Return processor, cores that this process may use, memory and system."""
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _load() -> float | None:
    """Return the mean number of running processes over the last minute, where the system tells."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def cpu_model() -> str:
    """Return the processor's name as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def _memory_gb() -> float | None:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return round(size / 1e9, 1)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed `PACKAGES`."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
