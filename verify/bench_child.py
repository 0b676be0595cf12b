"""The measured process: ``python -m verify.bench_child`` reads a job, warms up, times, answers.

Talks to `bench_runs` in lines of JSON, over the stdout that it was given; whatever a solver prints
goes to stderr instead.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from instances import Instance, Result, generate, loads

from .kernels import WARM_UP, WARM_UP_LIMIT_S

#: Calls faster than this are repeated ...
QUICK_S = 0.1
#: ... until this much time is spent, or the asked repeats are done.
REPEATING_S = 1.0


@dataclass(frozen=True)
class Sample:
    """One timed call."""

    runtime_s: float
    cpu_s: float
    result: Result


def timed(call: Callable[[Instance], Result], text: str) -> Sample:
    """Time one call on a freshly read instance, so that nothing cached on the object helps."""
    instance = loads(text)
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    result = call(instance)
    return Sample(time.perf_counter() - wall, time.process_time() - cpu, result)


def measure(call: Callable[[Instance], Result], text: str, repeats: int) -> list[Sample]:
    """Return one sample, or up to `repeats` of a quick call, fastest first."""
    samples = [timed(call, text)]
    if samples[0].runtime_s < QUICK_S:
        until = time.perf_counter() + REPEATING_S
        while len(samples) < repeats and time.perf_counter() < until:
            samples.append(timed(call, text))
    return sorted(samples, key=lambda sample: sample.runtime_s)


def peak_mb() -> float | None:
    """Return the process's largest resident memory so far (10⁶ bytes), children included.

    Linux hands the parent's maximum on to a new process in ``ru_maxrss``; ``VmHWM`` starts afresh.
    """
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        own = int(fields["VmHWM"].split()[0]) * 1024
    else:
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return max(own, children) / 1e6


def main() -> None:
    """Do one job and answer it."""
    answers = _take_stdout()
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        _work(job, answers)
    except Exception as error:
        ours = isinstance(error, (ValueError, ImportError)) and not job["function"]
        if ours or _is_input_error(error):
            kind, message = "refused", str(error)
        else:
            notes = getattr(error, "__notes__", ())
            kind, message = "crashed", " ".join([f"{type(error).__name__}: {error}", *notes])
        _say(answers, {"ended": kind, "message": " ".join(message.split())})


def _work(job: dict[str, Any], answers: TextIO) -> None:
    def call(instance: Instance, limit: float = job["time_limit_s"]) -> Result:
        from .bench_lines import Line, solve

        return solve(Line(*job["line"]), instance, job["problem"], limit)

    version = None
    for family, users, seed in WARM_UP if job["warm"] else ():
        with _named(f"on the warm-up instance {family}-{users}-{seed}"):
            version = call(generate(family, users, seed), WARM_UP_LIMIT_S).solver_version
    _say(answers, {"ended": "warm-up", "solver_version": version})
    if job["instance"] is not None:
        samples = measure(call, job["instance"], job["repeats"])
        _say(answers, {"ended": "answer", **_summary(samples)})


@contextmanager
def _named(place: str) -> Iterator[None]:
    """Have an exception tell where it was raised."""
    try:
        yield
    except Exception as error:
        error.add_note(place)
        raise


def _summary(samples: list[Sample]) -> dict[str, Any]:
    middle = samples[(len(samples) - 1) // 2]
    result = middle.result.model_dump(mode="json", by_alias=True)
    Result.model_validate_json(json.dumps(result))  # built without validation, it may be anything
    return {
        "runtime_s": middle.runtime_s,
        "cpu_s": middle.cpu_s,
        "repeats": len(samples),
        "peak_mb": peak_mb(),
        "result": result,
        "objectives": sorted({str(sample.result.objective) for sample in samples}),
    }


def _is_input_error(error: Exception) -> bool:
    from instances import InputError

    return isinstance(error, InputError)


def _take_stdout() -> TextIO:
    """Return stdout for answers alone; what is printed from now on goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _say(answers: TextIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _end_with_parent() -> None:
    """End when the parent's end of stdin closes: nobody waits for the answer any more."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
