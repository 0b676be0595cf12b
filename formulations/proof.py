"""Proof that no more than `bound` users can be served, box by box: made, resumed, rechecked.

`formulations.proof_marks` says how a proof is written down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from instances import CostTables, Instance, build_tables, stopwatch
from instances.assignment import Assignment, fits
from instances.values import refuse_different

from .boxes import BoxSearch, Step
from .grid import Limits, PointAnswer
from .highs import HighsModel, HighsSolver, new_solver
from .points import Point, groups
from .proof_marks import mark_of, name_of, packed, parsed, unpacked
from .rows.box import tighten
from .rows.data import Rows
from .rows.relaxation import Relaxation
from .rows.split import cut_inside
from .rows.weights import refutes


class Entry(NamedTuple):
    """A decided box, as a journal keeps it.

    Attributes
    ----------
    group : int
        Position of the group of z.
    mark : str
    seconds : float
        Since the start of the proof.
    box : list or None
        A split box, tightened, so that nothing is computed twice when a proof is resumed.
    """

    group: int
    mark: str
    seconds: float
    box: list[Any] | None = None


@dataclass
class Proof:
    """How far a proof of P1's bound has come.

    Attributes
    ----------
    verdict : str
        ``"proven"``, ``"refuted"`` (the relaxed tables allow more users) or ``"open"``.
    boxes : list of str
        The marks of each group of z.
    open : int
        Boxes not decided.
    seconds : float
    milp : str or None
        The solver that decided the boxes marked ``m``.
    """

    verdict: str = "open"
    boxes: list[str] = field(default_factory=list)
    open: int = 0
    seconds: float = 0.0
    milp: str | None = None

    @property
    def counts(self) -> Counter[str]:
        """Boxes by what became of them."""
        marks = (mark for boxes in self.boxes for mark in boxes.split())
        return Counter(name_of(mark) for mark in marks)

    def to_dict(self) -> dict[str, Any]:
        """Return the proof as JSON takes it."""
        return {**vars(self), "counts": dict(self.counts)}


def prove(
    instance: Instance,
    bound: int,
    time_limit: float | None = None,
    done: Sequence[Entry] = (),
    record: Callable[[Entry], None] = lambda entry: None,
) -> Proof:
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
    done : sequence of Entry
        Boxes that an earlier, interrupted call for the same instance and bound has recorded.
    record : callable
        Is given every box as it is decided.
    """
    refuse_different(instance, "this proof")
    before = done[-1].seconds if done else 0.0
    proof, started = Proof(), stopwatch.seconds()

    limits = partial(Limits(time_limit).running(), 0)
    for number, search in enumerate(_searches(instance, bound)):
        if proof.verdict == "refuted":
            break
        mine = [entry for entry in done if entry.group == number]
        marks = [entry.mark for entry in mine]
        for entry in mine:
            _redo(search, entry)
        for step in search.steps(limits):
            marks.append(mark_of(step))
            proof.seconds = before + stopwatch.seconds() - started
            if marks[-1] == "?":
                proof.open += 1
                proof.verdict = "refuted" if _allows_more(search.tables, step) else "open"
                break
            record(Entry(number, marks[-1], proof.seconds, packed(step.box)))
        proof.boxes.append(" ".join(marks))
        proof.open += len(search.stack)
    if proof.counts["milp"]:
        proof.milp = HighsSolver().version()
    if proof.open == 0:
        proof.verdict = "proven"
    return proof


def recheck(instance: Instance, bound: int, boxes: Sequence[str]) -> Counter[str]:
    """Return how the boxes of a proof are refuted, each redone in integers from its marks.

    Raises
    ------
    ValueError
        Naming the box, if a mark is not what follows from the tables, or boxes are left; if users'
        values differ.
    """
    refuse_different(instance, "this proof")
    counts: Counter[str] = Counter()
    searches = list(_searches(instance, bound))
    if len(searches) != len(boxes):
        raise ValueError(f"{len(searches)} groups of z, but marks of {len(boxes)}")
    for number, (search, marks) in enumerate(zip(searches, boxes, strict=True)):
        for place, mark in enumerate(marks.split()):
            if not search.stack or not _holds(search, mark):
                raise ValueError(f"group {number}, box {place}: {mark!r} does not hold")
            counts[name_of(mark)] += 1
        if search.stack:
            raise ValueError(f"group {number}: {len(search.stack)} boxes without a mark")
    return counts


def _searches(instance: Instance, bound: int) -> Iterator[BoxSearch]:
    """Yield the search for one user more in each group of z."""
    relaxation = Relaxation(new_solver(Limits()))
    tables = build_tables(instance, rounded_up=False)
    for z_indices in groups(tables, tuple(range(len(instance.z_grid)))):
        yield BoxSearch(tables, Point(z_indices[0]), z_indices, bound + 1, _highs, relaxation)


def _holds(search: BoxSearch, mark: str) -> bool:
    """Take the next box off the stack; return whether its mark follows, and push its halves."""
    node = search.stack.pop()
    if mark == "m":
        return True
    box = tighten(search.setting, node.box, node.weights, rounds=2)
    if mark == "c":
        return box is None
    cut, weights = parsed(mark)
    if box is None or cut is None:
        return box is not None and refutes(search.setting.query, box, weights)
    inside = cut_inside(box, cut)
    if inside:
        search.split(box, cut, weights)
    return inside


def _redo(search: BoxSearch, entry: Entry) -> None:
    """Bring a search to where it was after this box."""
    search.stack.pop()
    if entry.box is not None:
        cut, weights = parsed(entry.mark)
        assert cut is not None
        search.split(unpacked(entry.box), cut, weights)


def _allows_more(tables: CostTables, step: Step) -> bool:
    """Return whether a MILP has found a schedule that the tables accept."""
    answer = step.answer
    if answer is None or answer.modes is None or step.point is None:
        return False
    return fits(tables, Assignment(answer.modes, step.point.z_index))


def _highs(rows: Rows, point: Point, goal: int, limits: Limits) -> PointAnswer:
    """Decide a box with HiGHS."""
    return HighsModel(rows, relaxed=True).solve(goal, limits)
