"""The paper's averages beside ours: recomputed from a study's rows, with 95 % confidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from .paper_reported import Reported, reported_for
from .results import Row
from .study import Study
from .study_stats import Mean, gain, quantile, summarise

Statistic = Callable[[Sequence[Row]], float]


@dataclass(frozen=True)
class Average:
    """One reported average and ours, in percent; None where nothing was measured."""

    reported: Reported
    ours: Mean | None

    @property
    def text(self) -> str:
        """Ours for people: ``"+31.1 ± 2.0 %"``."""
        return percent_text(self.ours)


def percent_text(mean: Mean | None) -> str:
    """Return a percentage with its confidence, for people."""
    if mean is None:
        return "–"
    half = "" if mean.half is None else f" ± {mean.half:.1f}"
    return f"{round(mean.value, 1) + 0.0:+.1f}{half} %"  # + 0.0: no "-0.0"


def averages(figure: str, study: Study, rows: Sequence[Row]) -> list[Average]:
    """Return a figure's averages; one of which the paper reports nothing has none."""
    return [Average(reported, _ours(reported, study, rows)) for reported in reported_for(figure)]


def _ours(reported: Reported, study: Study, rows: Sequence[Row]) -> Mean | None:
    part, kept = restricted(study, rows, dict(reported.where))
    return gain_percent(part, kept, reported.subject, reported.over, reported.measure)


def gain_percent(
    study: Study, rows: Sequence[Row], subject: str, over: str, measure: str = "throughput"
) -> Mean | None:
    """Return `study_stats.gain` in percent with its confidence; None where it is unknown."""
    return with_confidence(
        lambda some: 100 * gain(summarise(study, some), subject, over, measure), rows
    )


def restricted(study: Study, rows: Sequence[Row], where: dict[str, Any]) -> tuple[Study, list[Row]]:
    """Return the part of a study, and of its rows, that has some values of the grid."""
    grid = study.grid | {name: [value] for name, value in where.items()}
    kept = [row for row in rows if all(row[name] == value for name, value in where.items())]
    return study.model_copy(update={"grid": grid}), kept


def with_confidence(statistic: Statistic, rows: Sequence[Row]) -> Mean | None:
    """Return a statistic of some rows with the jackknife's 95 % confidence over seeds.

    A seed stands for one instance of every point, drawn alike at all of them, so seeds, not rows,
    are what is independent.

    Parameters
    ----------
    statistic : callable
        Of rows; NaN where it is unknown.
    rows : sequence of dict
    """
    value, seeds = statistic(rows), sorted({row["seed"] for row in rows})
    if math.isnan(value):
        return None
    count = len(seeds)
    if count < 2:
        return Mean(value, None, count)
    left_out = [statistic([row for row in rows if row["seed"] != seed]) for seed in seeds]
    middle = fmean(left_out)
    variance = (count - 1) / count * sum((other - middle) ** 2 for other in left_out)
    half = quantile(count - 1) * math.sqrt(variance)
    return Mean(value, None if math.isnan(half) else half, count)
