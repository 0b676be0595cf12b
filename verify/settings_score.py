"""How close one setting brings the averages that the paper reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any

import formulations
import heuristics
from instances import Instance, Result

from .paper_averages import restricted
from .paper_reported import FIGURES, REPORTED, Reported, reported_for, study_of
from .results import Row
from .settings_space import MEMORY, Setting
from .study import Study
from .study_fields import build
from .study_stats import Cell, gain, mean
from .study_work import OPTIMUM, measured

#: Percent by the name of a `Reported`.
Averages = dict[str, float]


@lru_cache
def _study(figure: str) -> Study:
    """Return a figure's study, cut down to what its averages are about."""
    where = {name: value for row in reported_for(figure) for name, value in row.where}
    return restricted(study_of(figure), [], where)[0]


def averages(setting: Setting, seeds: Sequence[int]) -> Averages:
    """Return every average of `REPORTED` under a setting.

    Parameters
    ----------
    setting : dict
        Names as in `study_fields`, and `MEMORY`. What a figure's study fixes itself stays.
    seeds : sequence of int
        Instances of each point.
    """
    changes = {name: value for name, value in setting.items() if name != MEMORY}
    found = {}
    for figure in FIGURES:
        rows = reported_for(figure)
        cells = _cells(_study(figure), rows, changes, setting[MEMORY], seeds)
        for row in rows:
            share = gain(cells, row.subject, row.over, row.measure)
            found[str(row)] = round(100 * share, 3)
    return found


def _cells(
    study: Study,
    rows: Sequence[Reported],
    changes: Mapping[str, Any],
    memory: Any,
    seeds: Sequence[int],
) -> list[Cell]:
    """Return the measures of every algorithm that a figure's averages name."""
    names = sorted({name for row in rows for name in (row.subject, row.over)})
    measures = sorted({row.measure for row in rows})
    cells = []
    for point in study.points():
        instances = [build({**changes, **study.settings(point, {"seed": seed})}) for seed in seeds]
        for name in names:
            values = [_measures(instance, name, memory, measures) for instance in instances]
            means = {measure: mean([value[measure] for value in values]) for measure in measures}
            cells.append(Cell(point, name, means, 0))
    return cells


def _measures(
    instance: Instance, name: str, memory: Any, measures: Sequence[str]
) -> dict[str, float]:
    """Return what an algorithm's answer measures; no judge, who is slower than all the rest."""
    result = _solved(instance, name, memory)
    served = {"throughput": (result.objective or 0) / max(1, len(instance.users))}
    return served if list(measures) == ["throughput"] else measured(instance, result.schedule)


def _solved(instance: Instance, name: str, memory: Any) -> Result:
    if name == OPTIMUM:
        return formulations.solve(instance)
    return heuristics.solve(instance, name, memory=memory)


def distance(found: Averages) -> float:
    """Return the root mean square of (ours - the paper's) in percentage points."""
    return math.sqrt(fmean((found[str(row)] - row.percent) ** 2 for row in REPORTED))


def score(payload: tuple[Setting, Sequence[int]]) -> Row:
    """Return a setting's averages and distance, as a row for the runner."""
    setting, seeds = payload
    found = averages(setting, seeds)
    return {"setting": setting, "averages": found, "distance": round(distance(found), 3)}
