"""One run in its own process: started, watched, killed at the limit, its answer judged."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from typing import Any

from instances import InputError, Result, Schedule, dumps

from .bench_cases import Case
from .bench_check import faults
from .bench_lines import Line
from .bench_protocol import Protocol, cpu_model
from .bench_records import Outcome, Record, outcome_of
from .workers import Workers

#: Variables that hold numerical libraries to one thread.
ONE_THREAD = tuple(
    f"{library}_NUM_THREADS"
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "NUMEXPR", "VECLIB")
)

#: Seconds of a warm-up after which a person is told what takes so long.
SLOW_S = 10.0


@dataclass(frozen=True)
class Run:
    """A record with the schedule behind it, if there is one."""

    record: Record
    schedule: Schedule | None = None


@dataclass(frozen=True)
class Probe:
    """How a line's warm-up went: ``"warm-up"``, ``"refused"``, ``"crashed"`` or ``"killed"``."""

    ended: str
    message: str = ""

    @property
    def usable(self) -> bool:
        """Whether the line solved the warm-up's instances."""
        return self.ended == "warm-up"


_alive: set[Child] = set()


class Child:
    """A measuring process and its answers; gone, with all it started, when the block ends."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the block)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "verify.bench_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=_environment(),
            start_new_session=True,
        )
        _alive.add(self)
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._give, args=(json.dumps(job),), daemon=True).start()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()
        self._errors.close()

    def receive(self, seconds: float) -> dict[str, Any]:
        """Return the next answer; ``{"ended": "killed"}`` if it does not come in time."""
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            self.kill()
            return {"ended": "killed", "message": f"no answer within {seconds:g} s"}

    def kill(self) -> None:
        """End the process and whatever it started, without asking."""
        if self._process.poll() is None:
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        _alive.discard(self)

    def _give(self, job: str) -> None:
        """Hand the job over; stdin stays open, as the sign that somebody waits."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(job.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:  # died already; the answers tell
            pass

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(json.loads(line))
        code = self._process.wait()
        self._answers.put({"ended": "crashed", "message": self._obituary(code)})

    def _obituary(self, code: int) -> str:
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        try:
            self._errors.seek(0)
            last = self._errors.read().decode(errors="replace").strip().splitlines()[-1:]
        except ValueError:  # closed: nobody asks any more
            last = []
        return ": ".join([f"the process died ({name})", *last])


def _environment() -> dict[str, str]:
    """One thread, reproducible hashes, and the parent's import path."""
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    threads = dict.fromkeys(ONE_THREAD, "1")
    return {**os.environ, **threads, "PYTHONHASHSEED": "0", "PYTHONPATH": path}


def _job(line: Line, protocol: Protocol, case: Case | None) -> dict[str, Any]:
    return {
        "line": astuple(line),
        "function": line.is_function,
        "problem": protocol.problem,
        "time_limit_s": protocol.time_limit_s,
        "warm": protocol.warm or case is None,
        "repeats": protocol.repeats if protocol.warm else 1,
        "instance": None if case is None else dumps(case.instance),
    }


def probe(line: Line, protocol: Protocol) -> Probe:
    """Let a line warm up in a process of its own and return how that went."""
    with Child(_job(line, protocol, None)) as child, _told_if_slow(line, protocol):
        answer = child.receive(protocol.warm_up_limit_s)
    return Probe(answer["ended"], answer.get("message", ""))


@contextmanager
def _told_if_slow(line: Line, protocol: Protocol) -> Iterator[None]:
    limit = protocol.warm_up_limit_s
    text = f"warming up {line}, for {limit:g} s at most (--warm-up-limit)"
    timer = threading.Timer(SLOW_S, lambda: print(text, file=sys.stderr, flush=True))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def settle(wanted: Mapping[Line, Sequence[Line]], protocol: Protocol) -> dict[Line, Probe]:
    """Return the lines to measure, crossings that are accepted or else the line alone, and how
    each one's warm-up went.

    Every line is asked once for the small instances of the warm-up, so that compiled kernels are on
    disk before anything is timed. One that crashes or hangs there fails all its runs
    (`failed_run`) and leaves the others in peace.

    Raises
    ------
    InputError
        If a line is refused (an unknown name, a solver that is not installed), or none is usable.
    """
    lines: dict[Line, Probe] = {}
    for line, crossings in wanted.items():
        answers = {c: probe(c, protocol) for c in crossings}
        accepted = {c: answer for c, answer in answers.items() if answer.usable}
        lines |= accepted or {line: probe(line, protocol)}
    hopeless = not any(answer.usable for answer in lines.values())
    for line, answer in lines.items():
        if answer.ended == "refused" or hopeless:
            raise InputError(f"solver line {line}: {answer.message}")
    return lines


def failed_run(line: Line, case: Case, protocol: Protocol, answer: Probe) -> Run:
    """Return the run of a line that failed its warm-up: not made, counted as that failure."""
    message = f"not run, for it failed the warm-up: {answer.message}"
    return _failure(_facts(line, case, protocol), answer.ended, message)


def _failure(facts: dict[str, Any], ended: str, message: str) -> Run:
    return Run(Record(**facts, outcome=Outcome(ended), message=message))


def run(line: Line, case: Case, protocol: Protocol) -> Run:
    """Measure a line on an instance in a process of its own, and judge the answer."""
    version = None
    with Child(_job(line, protocol, case)) as child:
        answer = child.receive(protocol.warm_up_limit_s)
        if answer["ended"] == "warm-up":
            version = answer["solver_version"]
            answer = child.receive(protocol.time_limit_s + protocol.grace_s)
    measured_here = {"solver_version": version, "machine": cpu_model()}
    facts = _facts(line, case, protocol) | measured_here
    if answer["ended"] != "answer":
        return _failure(facts, answer["ended"], answer["message"])
    return _judged(line, case, protocol, facts, answer)


def _facts(line: Line, case: Case, protocol: Protocol) -> dict[str, Any]:
    """Return the fields of a record that are known before anything ran."""
    return {
        "family": case.family,
        "instance": case.name,
        "digest": case.digest,
        "users": case.users,
        "seed": case.seed,
        "problem": protocol.problem,
        "line": str(line),
        "solver_version": None,
        "time_limit_s": protocol.time_limit_s,
    }


def _judged(
    line: Line, case: Case, protocol: Protocol, facts: dict[str, Any], answer: dict[str, Any]
) -> Run:
    result = Result.model_validate_json(json.dumps(answer["result"]))
    found = faults(case.instance, result, protocol.problem)
    if len(answer["objectives"]) > 1:
        found.append(f"repeated calls differ: objectives {', '.join(answer['objectives'])}")
    outcome = outcome_of(result, answer["runtime_s"], protocol.time_limit_s, line.is_heuristic)
    record = Record(
        **{**facts, "solver_version": result.solver_version or facts["solver_version"]},
        outcome=Outcome.WRONG if found else outcome,
        status=result.status.value,
        stopped_by=result.stopped_by,
        objective=result.objective,
        bound=result.bound,
        **{name: answer[name] for name in ("runtime_s", "cpu_s", "peak_mb", "repeats")},
        **_parts(result),
        message="; ".join(found),
    )
    return Run(record, result.schedule)


def _parts(result: Result) -> dict[str, Any]:
    """Return the counters and times that the solver itself reports."""
    names = ("nodes", "start_s", "build_s", "solve_s", "certify_s")
    return {name: result.statistics.get(name) for name in names}


def run_all(
    lines: Mapping[Line, Probe], cases: Sequence[Case], protocol: Protocol, workers: Workers
) -> Generator[Run]:
    """Yield every line on every instance as they finish; closing it ends the open ones.

    A run whose worker died, however often a cluster tried it again, is a crash.
    """
    for line, answer in lines.items():
        if not answer.usable:
            yield from (failed_run(line, case, protocol, answer) for case in cases)
    usable = [line for line, answer in lines.items() if answer.usable]
    executor = workers.start()
    asked = {
        executor.submit(run, line, case, protocol): (line, case)
        for case in cases
        for line in usable
    }
    try:
        for future in as_completed(asked):
            try:
                yield future.result()
            except Exception as error:
                lost = f"lost: {type(error).__name__}: {error}"
                yield _failure(_facts(*asked[future], protocol), "crashed", lost)
    finally:
        workers.stop(executor)
        for child in list(_alive):
            child.kill()


def threads(jobs: int) -> Workers:
    """Return threads of this process, each of which watches the process of its run."""
    return Workers(jobs, lambda: ThreadPoolExecutor(jobs))
