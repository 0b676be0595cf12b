"""A whole study: every algorithm on every instance, on any workers, resumable; rows in order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from formulations.ready import ready_solver

from .kernels import ready_algorithms
from .progress import track
from .results import Row, results_in
from .runner import Task
from .runner import run as run_tasks
from .study import Study
from .study_rows import COLUMNS
from .study_work import Run, Solving, is_exact
from .workers import Workers, processes

#: Seconds for drawing, warming up and the judge, on top of an algorithm's time limit.
ASIDE_SECONDS = 120.0


def run(
    study: Study, workers: Workers | None = None, output: Path | None = None, resume: bool = False
) -> list[Row]:
    """Return one row for each point × instance × algorithm, in the study's order.

    Parameters
    ----------
    study : Study
    workers : Workers, optional
        Processes on all cores if left out.
    output : Path, optional
        Folder of ``results.jsonl``, to which every finished row is appended.
    resume : bool
        Whether to keep the rows that are there. A study may have grown meanwhile: by points, seeds
        and algorithms; rows that it has no longer are left alone.

    Returns
    -------
    list of dict
        The grid's fields by name; ``instance``, ``seed`` (None for a file), ``algorithm``;
        ``users``; ``status``, ``stopped_by``; ``objective``, ``throughput`` (served / K),
        ``bound``, ``problem``; ``cpu_s``, ``wall_s``; ``z``, ``lambda``, ``ad``, ``sd``,
        ``latency_s``, ``memory_bytes`` (as `study_work.measured`); ``fault``: what the judge says
        against it; ``error``: why there is no answer. What is unknown is None.

    Raises
    ------
    InputError
        If the results cannot be written or belong to another study.
    WorkersLost
        If the workers do not answer any more.
    """
    wanted = {key: facts for key, facts, _ in _runs(study)}
    tasks = (Task(key, payload) for key, _, payload in _runs(study))
    function = Solving(study.problem, study.time_limit)
    limit = study.time_limit + ASIDE_SECONDS
    found: dict[str, Row] = {}
    with results_in(output, _configuration(study), resume) as results:
        ready = [ready_algorithms] + [ready_solver] * any(map(is_exact, study.algorithms))
        rows = run_tasks(function, tasks, workers or processes(), results, limit, ready)
        mine = (row for row in rows if row["key"] in wanted)
        for row in track(mine, len(wanted), "solving"):
            found[row["key"]] = row
    return [_tidy(facts, found[key]) for key, facts in wanted.items()]


def _configuration(study: Study) -> dict[str, Any]:
    """Return what every row depends on; what tells rows apart is in their keys."""
    return {
        "instances": {name: value for name, value in study.instances.items() if name != "files"},
        "problem": study.problem,
        "time_limit": study.time_limit,
    }


def _runs(study: Study) -> Iterator[tuple[str, Row, Run]]:
    """Yield each run's key, the facts that its row begins with, and the work."""
    for point in study.points():
        for draw in study.draws():
            settings = study.settings(point, draw)
            for algorithm in study.algorithms:
                instance = draw.get("file") or settings["family"]
                facts = {**point, "instance": instance, "seed": draw.get("seed")}
                key = json.dumps({**point, **draw, "algorithm": algorithm}, ensure_ascii=False)
                yield key, {**facts, "algorithm": algorithm}, Run(settings, algorithm)


def _tidy(facts: Row, found: Row) -> Row:
    """Return a row with all columns; the grid's own fields come first."""
    users, served = (
        found.get("users"),
        None if found.get("ad") is None else found["ad"] + found["sd"],
    )
    share = None if served is None or not users else round(served / users, 6)
    found = {**found, "throughput": share}
    return {**facts, **{name: found.get(name) for name in COLUMNS if name not in facts}}
