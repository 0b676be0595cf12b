"""Proof that no more than `bound` users can be served, box by box, with a log of every verdict."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from instances import CostTables, Instance, build_tables
from instances.assignment import Assignment, fits
from instances.values import refuse_different

from .boxes import BoxSearch, Step, groups
from .grid import Limits, PointAnswer
from .highs import HighsModel, new_solver
from .points import Point
from .rows.data import Rows
from .rows.relaxation import Relaxation


@dataclass
class Proof:
    """How far a proof of P1's bound has come.

    Attributes
    ----------
    verdict : str
        ``"proven"``, ``"refuted"`` (the relaxed tables allow more users) or ``"open"``.
    boxes : list of str
        Per group of z (0; those between; 1), what became of box after box, depth first, the upper
        half before the lower: ``c`` counted out, ``w`` by weights, ``m`` refuted by a MILP, ``?``
        undecided, ``kind,threshold,value`` split there (`formulations.rows.split`).
    counts : dict
        Boxes by verdict.
    open : int
        Boxes not decided.
    seconds : float
    """

    verdict: str = "open"
    boxes: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    open: int = 0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the proof as JSON takes it."""
        return {**vars(self), "counts": dict(self.counts)}


def prove(instance: Instance, bound: int, time_limit: float | None = None) -> Proof:
    """Try to prove that P1 serves at most `bound` users, without the threshold solver.

    Works on the tables built down, a relaxation of the instance.

    Raises
    ------
    ValueError
        If users' values differ: the proof counts them; or if the instance leaves a choice of draft
        lengths.

    Parameters
    ----------
    instance : Instance
    bound : int
    time_limit : float, optional
        Wall seconds.
    """
    refuse_different(instance, "this proof")
    tables = build_tables(instance, rounded_up=False)
    proof, started = Proof(), time.perf_counter()
    relaxation = Relaxation(new_solver(Limits()))

    def limits() -> Limits | None:
        left = None if time_limit is None else time_limit - (time.perf_counter() - started)
        return None if left is not None and left <= 0 else Limits(left)

    for z_indices in groups(tables, tuple(range(len(instance.z_grid)))):
        point = Point(z_indices[0])
        search = BoxSearch(tables, point, z_indices, bound + 1, _highs, relaxation)
        marks = [_mark(tables, proof, step) for step in search.steps(limits)]
        proof.boxes.append(" ".join(marks))
        proof.open += len(search.stack)
    proof.seconds = time.perf_counter() - started
    if proof.open == 0 and proof.verdict == "open":
        proof.verdict = "proven"
    return proof


def _mark(tables: CostTables, proof: Proof, step: Step) -> str:
    """Count a step and return its entry in the log."""
    proof.counts[step.verdict] += 1
    if step.cut is not None:
        return ",".join(str(part) for part in step.cut)
    answer = step.answer
    if answer is None or (answer.modes is None and answer.stopped_by is None):
        return step.verdict[0]
    proof.open += 1
    if answer.modes is not None and step.point is not None:
        found = Assignment(answer.modes, step.point.z_index)
        if fits(tables, found):
            proof.verdict = "refuted"
    return "?"


def _highs(rows: Rows, point: Point, goal: int, limits: Limits) -> PointAnswer:
    """Decide a box with HiGHS."""
    return HighsModel(rows, relaxed=True).solve(goal, limits)
