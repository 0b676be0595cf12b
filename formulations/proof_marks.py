"""How a proof is written down: a mark per box.

Marks stand per group of z (0; 1; those between), depth first, the upper half of a
split box before the lower:

- ``c``: refuted by counting, or with its parent's weights, while it was tightened;
- ``w:1,2,3,4,5,6``: refuted by weights of its own, integers (`formulations.rows.weights`);
- ``kind,threshold,value:1,2,3,4,5,6``: split there (`formulations.rows.split`); both halves are
  tightened with these weights;
- ``m``: refuted by a MILP; ``?``: undecided.

Marks say all that a recheck needs: boxes are tightened and weighed in integers alone, without an
LP, a search or a float. Only ``m`` rests on a solver.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from instances.costs import Integers

from .boxes import Step
from .rows.box import Box, Part
from .rows.split import Cut
from .rows.weights import ROWS, WEIGHT_BITS

_NAMES = {"c": "counting", "w": "weights", "m": "milp", "?": "undecided"}


def name_of(mark: str) -> str:
    """Return what a mark says became of its box."""
    return _NAMES.get(mark[0], "split")


def mark_of(step: Step) -> str:
    """Return a step's mark."""
    if step.weights is not None:
        cut = "w" if step.cut is None else ",".join(map(str, step.cut))
        return f"{cut}:{','.join(map(str, step.weights.tolist()))}"
    if step.answer is None:
        return "c"
    return "m" if step.answer.refuted else "?"


def parsed(mark: str) -> tuple[Cut | None, Integers]:
    """Return the cut (None: refuted) and the weights of a mark that has weights.

    Raises
    ------
    ValueError
        If it is none.
    """
    place, _, numbers = mark.partition(":")
    weights = np.array([int(number) for number in numbers.split(",")], np.int64)
    if len(weights) != ROWS or weights.min() < 0 or weights.max() > 2**WEIGHT_BITS:
        raise ValueError(f"mark {mark!r}: six weights from 0 to 2^20 are expected")
    if place == "w":
        return None, weights
    kind, threshold, value = (int(number) for number in place.split(","))
    return (kind, threshold, value), weights


def packed(box: Box | None) -> list[Any] | None:
    """Return a box as JSON takes it."""
    if box is None:
        return None
    return [*([column.tolist() for column in part] for part in (box.ad, box.sd)), box.z.tolist()]


def unpacked(box: list[Any]) -> Box:
    """Return a box that `packed` has packed."""
    ad, sd = (
        Part(
            np.array(low, np.int64),
            np.array(high, np.int64),
            np.array(free, np.bool_),
            np.array(size, np.int64),
        )
        for low, high, free, size in box[:2]
    )
    return Box(ad, sd, np.array(box[2], np.int64))
