"""What a study's rows add up to: means over the instances with 95 % confidence, and gains."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import NormalDist, fmean, stdev
from typing import Any

from .results import Row
from .study import Study
from .study_rows import MEASURES

#: Two-sided confidence of every interval.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean over instances.

    Parameters
    ----------
    value : float
    half : float or None
        Half the width of the 95 % confidence interval (Student's t); None for one instance.
    count : int
        Instances with a value.
    """

    value: float
    half: float | None
    count: int


@dataclass(frozen=True)
class Cell:
    """One algorithm at one point of the grid.

    Parameters
    ----------
    point : dict
        The grid's values by name.
    algorithm : str
    means : dict of str to Mean or None
        Per measure; None where no instance has a value.
    optimal : int
        Answers with a certificate: bound = objective.
    """

    point: dict[str, Any]
    algorithm: str
    means: dict[str, Mean | None]
    optimal: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        means = {name: mean and vars(mean) for name, mean in self.means.items()}
        return {**self.point, "algorithm": self.algorithm, "optimal": self.optimal, **means}


def quantile(freedom: int) -> float:
    """Return Student's t that a share (1 + 0.95) / 2 of the distribution lies below.

    Exact for one and two degrees of freedom, else Fisher's expansion about the normal quantile,
    whose error is under 0.2 % there.
    """
    upper = (1 + CONFIDENCE) / 2
    if freedom == 1:
        return math.tan(math.pi * (upper - 0.5))
    if freedom == 2:
        return (2 * upper - 1) / math.sqrt(2 * upper * (1 - upper))
    z = NormalDist().inv_cdf(upper)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))


def mean(values: Sequence[float]) -> Mean | None:
    """Return the mean of some values with its confidence; None without any."""
    if not values:
        return None
    half = None
    if len(values) > 1:
        half = quantile(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return Mean(fmean(values), half, len(values))


def summarise(study: Study, rows: Iterable[Row]) -> list[Cell]:
    """Return a cell for each point and algorithm, in the study's order; wrong answers left out.

    Parameters
    ----------
    study : Study
    rows : iterable of dict
        As `study_run.run` returns them.
    """
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if not row["fault"]:
            groups[_key({name: row[name] for name in study.grid}, row["algorithm"])].append(row)
    return [
        _cell(point, algorithm, groups[_key(point, algorithm)])
        for point in study.points()
        for algorithm in study.algorithms
    ]


def _key(point: dict[str, Any], algorithm: str) -> str:
    return json.dumps([point, algorithm], sort_keys=True)


def _cell(point: dict[str, Any], algorithm: str, rows: Sequence[Row]) -> Cell:
    def known(name: str) -> list[float]:
        return [float(row[name]) for row in rows if row[name] is not None]

    proven = sum(row["bound"] is not None and row["bound"] == row["objective"] for row in rows)
    return Cell(point, algorithm, {name: mean(known(name)) for name in MEASURES}, proven)


def by_point(cells: Iterable[Cell]) -> Iterator[list[Cell]]:
    """Yield the cells of each point, one for every algorithm."""
    for _, together in groupby(cells, key=lambda cell: cell.point):
        yield list(together)


def gain(cells: Iterable[Cell], algorithm: str, over: str, measure: str = "throughput") -> float:
    """Return by what share an algorithm's mean exceeds another's, averaged over the points.

    ``mean over points of (mean of algorithm / mean of over) - 1``, as the paper reports its gains;
    points where the other's mean is 0 or unknown are left out, NaN if that is all of them.
    """
    by_name: dict[str, dict[str, float]] = defaultdict(dict)
    for cell in cells:
        found = cell.means[measure]
        if found is not None:
            by_name[cell.algorithm][_key(cell.point, "")] = found.value
    mine, theirs = by_name[algorithm], by_name[over]
    ratios = [mine[point] / theirs[point] for point in mine if theirs.get(point)]
    return fmean(ratios) - 1 if ratios else math.nan
