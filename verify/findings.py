"""Errata E1 to E5, each worked out now: what is printed, what we do, what is optimal.

A `Finding` says whether its numbers show what the erratum claims; none of them is written down
here. The algorithms are judged by certified optima and `verify.check`, whose code they do not use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import heuristics
from instances import Instance, Schedule, dumps
from instances.commandline import write
from instances.exact import accepted_drafts, sd_iterations
from instances.numbers import exact
from instances.partition import equal_cardinality_partition, equal_half

from . import counterexamples
from .display import amount
from .judge import check
from .optima import optimum

#: What stands for the instance's file in a command until it has one.
FILE = "{file}"
#: The same for the printed algorithm's schedule on it.
PRINTED = "{printed}"
_HEURISTIC = f"python -m heuristics.solve {FILE}"
_EXACT = f"python -m formulations.solve {FILE}"


@dataclass(frozen=True)
class Finding:
    """One line of evidence for an erratum.

    Parameters
    ----------
    erratum : str
        ``"E1"`` ... ``"E5"``, ``"1/2"`` for the instance on which the bound is tight.
    place : str
        Where in the paper.
    shows : str
        What the numbers show, if `holds`.
    printed, corrected, optimum : str
        What the paper's text gives, what we do instead, and the certified optimum.
    holds : bool
        Whether they do show it.
    instance : Instance
    command : str
        Repeats the numbers; ``{file}`` stands for the instance's file, ``{printed}``
        for one that holds the printed algorithm's schedule.
    """

    erratum: str
    place: str
    shows: str
    printed: str
    corrected: str
    optimum: str
    holds: bool
    instance: Instance = field(repr=False)
    command: str

    def file(self, folder: Path) -> Path:
        """Return where the instance lies once saved."""
        return folder / f"{self.instance.name}.json"

    def command_in(self, folder: Path) -> str:
        """Return the command, for the instance in a folder."""
        file = self.file(folder)
        printed = file.with_name(f"{file.stem}-printed.json")
        return self.command.replace(FILE, str(file)).replace(PRINTED, str(printed))

    def to_dict(self, folder: Path) -> dict[str, Any]:
        """Return the finding as JSON data."""
        names = (item.name for item in fields(self) if item.name != "instance")
        data = {name: getattr(self, name) for name in names}
        return data | {"file": str(self.file(folder)), "command": self.command_in(folder)}


def padding_breaks_half(memory_bytes: int = 16012) -> Finding:
    """E1: Algorithm 3 as printed serves less than half of P1's optimum."""
    instance = counterexamples.padding(memory_bytes)
    printed, corrected = _served(instance, memory="padded"), _served(instance)
    best = optimum(instance)
    return Finding(
        "E1",
        "(27), Th. 1",
        f"below ½ (Q = {memory_bytes:,})",
        str(printed),
        str(corrected),
        str(best),
        2 * printed < best <= 2 * corrected,
        instance,
        f"{_HEURISTIC} --memory padded; {_EXACT}",
    )


def padding_breaks_optimality(z: float = 0.5, lam: float = 0.9) -> Finding:
    """E1: Algorithm 1 as printed misses P3.1's optimum, so Proposition 4 fails."""
    instance = counterexamples.padding()
    point: dict[str, Any] = {"z": z, "lam": lam}
    printed = len(_schedule(instance, memory="padded", **point).ad)
    corrected = len(_schedule(instance, **point).ad)
    best = optimum(instance, "P3", modes="ad-only", **point)
    options = f"--z {z:g} --lambda {lam:g}"
    return Finding(
        "E1",
        "(27), Pr. 4",
        f"P3.1 at z = {z:g}, λ = {lam:g}",
        str(printed),
        str(corrected),
        str(best),
        printed < best == corrected,
        instance,
        f"{_HEURISTIC} {options} --memory padded; {_EXACT} --problem P3 {options} --modes ad-only",
    )


def missing_token_breaks_memory() -> Finding:
    """E2: Algorithm 2 as printed returns a set that breaks P1's memory row."""
    instance = counterexamples.missing_token()
    schedule = _schedule(instance, memory="padded")
    report = check(instance, schedule)
    over = max((-r.slack for r in report.inequalities if r.kind == "memory"), default=Fraction(0))
    corrected, best = _schedule(instance), optimum(instance)
    holds = set(report.violations) == {"memory"} and over > 0 and not schedule.ad
    return Finding(
        "E2",
        "(31) vs (16)",
        "Alg. 2 overfills memory",
        f"{schedule.served} (+{amount(over, 'B')})",
        str(corrected.served),
        str(best),
        holds and check(instance, corrected).feasible,
        instance,
        f"{_HEURISTIC} --memory padded --output {PRINTED}; python -m verify.check {FILE} {PRINTED}",
    )


def partition_is_hard(integers: tuple[int, ...], name: str) -> Finding:
    """E3: everybody can be served iff half of the integers have half of their sum."""
    instance = equal_cardinality_partition(integers).model_copy(update={"name": name})
    everyone, best = len(instance.users), optimum(instance)
    exists = equal_half(integers) is not None
    return Finding(
        "E3",
        "Pr. 1",
        f"halves of {' '.join(map(str, integers))}: {'yes' if exists else 'no'}",
        "–",
        str(everyone) if exists else f"< {everyone}",
        str(best),
        (best == everyone) == exists,
        instance,
        _EXACT,
    )


def finite_split_costs() -> Finding:
    """E4: with a finite Λ, P2's optimum lies strictly below P1's."""
    instance = counterexamples.split()
    p1, p2 = optimum(instance), optimum(instance, "P2")
    finer = counterexamples.split((0.0, 0.25, 0.3, 0.5, 0.75, 1.0))
    return Finding(
        "E4",
        "(22e), Pr. 2",
        "P2 < P1, equal with 0.3",
        f"P2: {p2}",
        f"P2: {optimum(finer, 'P2')}",
        f"P1: {p1}",
        p2 < p1 == optimum(finer, "P2"),
        instance,
        f"{_EXACT} --problem P2; {_EXACT}",
    )


def closed_form_undefined() -> Finding:
    """E5: the closed form of accepted drafts is 0/0 at A = 1; the sum is L^D there."""
    instance = counterexamples.all_accepted()
    drafts = instance.draft_length
    accepted = {accepted_drafts(user, drafts) for user in instance.users}
    rounds = [sd_iterations(user, drafts) for user in instance.users]
    served, best = _served(instance), optimum(instance)
    agree = all(_forms_agree(rate, drafts) for rate in (0.0, 0.1, 0.5, 0.9, 0.999))
    undefined = _form_at_one(drafts)
    return Finding(
        "E5",
        "L_k^A",
        f"sum = {drafts}; N = {', '.join(map(str, rounds))}",
        undefined,
        str(served),
        str(best),
        undefined == "0/0" and accepted == {drafts} and agree and served == best > 0,
        instance,
        _EXACT,
    )


def half_is_tight(count: int = 3) -> Finding:
    """Algorithm 3 with exact memory serves exactly half: the bound cannot be better."""
    instance = counterexamples.half(count)
    printed, corrected = _served(instance, memory="padded"), _served(instance)
    best = optimum(instance)
    return Finding(
        "½",
        "Th. 1",
        "fixed, it is exactly ½",
        str(printed),
        str(corrected),
        str(best),
        2 * corrected == best,
        instance,
        f"{_HEURISTIC}; {_EXACT}",
    )


#: The evidence, in the order of the table.
EVIDENCE: tuple[Callable[[], Finding], ...] = (
    padding_breaks_half,
    lambda: padding_breaks_half(16024),
    padding_breaks_optimality,
    missing_token_breaks_memory,
    lambda: partition_is_hard((3, 5, 6, 8), "e3-yes"),
    lambda: partition_is_hard((3, 5, 6, 10), "e3-no"),
    finite_split_costs,
    closed_form_undefined,
    half_is_tight,
)


def save(findings: Iterable[Finding], folder: Path) -> None:
    """Write every finding's instance into a folder.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    for finding in findings:
        write(finding.file(folder), dumps(finding.instance))


def closed_form(rate: Fraction, drafts: int) -> Fraction:
    """Return the paper's closed form A (1 - A^(L^D)) / (1 - A) of accepted drafts.

    Raises
    ------
    ZeroDivisionError
        At A = 1, where it is 0/0.
    """
    return rate * (1 - rate**drafts) / (1 - rate)


def _form_at_one(drafts: int) -> str:
    try:
        return str(closed_form(Fraction(1), drafts))
    except ZeroDivisionError:
        return "0/0"


def _forms_agree(rate: float, drafts: int) -> bool:
    """Return whether sum and closed form are one number below A = 1."""
    user = counterexamples.all_accepted().users[0].model_copy(update={"acceptance_rate": rate})
    return closed_form(exact(rate), drafts) == accepted_drafts(user, drafts)


def _schedule(instance: Instance, **request: Any) -> Schedule:
    """Return the schedule of Algorithm 3."""
    schedule = heuristics.solve(instance, **request).schedule
    assert schedule is not None, "Algorithm 3 always has a schedule"
    return schedule


def _served(instance: Instance, **request: Any) -> int:
    return _schedule(instance, **request).served
