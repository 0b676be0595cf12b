"""Integer rows as floats, for solvers with tolerances: scaled, and relaxed on request."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .data import Row, Rows

#: Added to a scaled row's limit (its largest coefficient is 1): a solver's own tolerance again.
MARGIN = 1e-6
#: Smaller coefficients of a scaled row are dropped. Solvers drop those below 1e-9 silently; HiGHS
#: has also returned wrong optima on coefficients below its tolerance.
NEGLIGIBLE = 1e-7

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScaledRows:
    """Row-wise sparse form; continuous columns run over [0, 1], every row's largest entry is 1.

    Attributes
    ----------
    objective, upper : (columns,) float
    integer : (columns,) bool
    start : (rows + 1,) int32
    index, value : (entries,) int32, float
    lower_limit, upper_limit : (rows,) float
    """

    objective: Floats
    upper: Floats
    integer: NDArray[np.bool_]
    start: NDArray[np.int32]
    index: NDArray[np.int32]
    value: Floats
    lower_limit: Floats
    upper_limit: Floats


def scale(rows: Rows, relaxed: bool) -> ScaledRows:
    """Return the rows as floats.

    Parameters
    ----------
    rows : Rows
    relaxed : bool
        True: every point that satisfies the integer rows satisfies the float rows with room to
        spare, so that no rounding inside a solver cuts it off and the dual bound stays valid.
        Structural rows (ones on binaries) are exact in floats and stay as they are.

    Notes
    -----
    Dropping a coefficient below `NEGLIGIBLE` relaxes too: a negative one is added to the limit.
    """
    unit = [
        1 if whole else max(1, most) for most, whole in zip(rows.upper, rows.integer, strict=True)
    ]
    start, index, value = [0], list[int](), list[float]()
    limits = []
    for row in rows.rows:
        terms, limit = _scaled_row(row, unit, rows.integer, MARGIN if relaxed else 0.0)
        index += [column for column, _ in terms]
        value += [entry for _, entry in terms]
        start.append(len(index))
        limits.append(limit)
    equal = np.array([row.equal for row in rows.rows], np.bool_)
    upper_limit = np.array(limits, np.float64)
    return ScaledRows(
        objective=np.array([c * u for c, u in zip(rows.objective, unit, strict=True)], np.float64),
        upper=np.array([most / u for most, u in zip(rows.upper, unit, strict=True)], np.float64),
        integer=np.array(rows.integer, np.bool_),
        start=np.array(start, np.int32),
        index=np.array(index, np.int32),
        value=np.array(value, np.float64),
        lower_limit=np.where(equal, upper_limit, -np.inf),
        upper_limit=upper_limit,
    )


def _scaled_row(
    row: Row, unit: list[int], integer: list[bool], margin: float
) -> tuple[list[tuple[int, float]], float]:
    """Return a row's float entries and limit; each entry is one correctly rounded division."""
    terms = [(column, factor * unit[column]) for column, factor in row.terms]
    largest = max((abs(factor) for _, factor in terms), default=1)
    structural = largest == 1 and all(integer[column] for column, _ in terms)
    entries, limit = [], row.limit / largest + (0.0 if structural else margin)
    for column, factor in terms:
        if abs(factor) > NEGLIGIBLE * largest:
            entries.append((column, factor / largest))
        elif factor < 0:
            limit += -factor / largest
    return entries, limit
