"""Claims on many drawn instances: tasks for the runner, rows in, one tally a group out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

from instances import Instance, families, generate
from instances.commandline import Exit
from instances.randomness import Stream

from . import rounding, splits, subproblems
from .claims import Case, Claim
from .kernels import READY
from .optima import WrongAnswer
from .progress import track
from .results import Row
from .runner import Task, run
from .workers import Workers

#: All claims that are checked on instances, by name.
CLAIMS = {
    claim.name: claim
    for claim in (
        splits.PROPOSITION_2,
        subproblems.PROPOSITION_4,
        subproblems.PROPOSITION_5,
        splits.THEOREM_1,
        rounding.ADDITIVE,
    )
}
#: Faults told one by one.
MOST_TOLD = 5


def draw(claim: Claim, seed: int) -> tuple[Instance, Stream]:
    """Return the claim's instance of that seed, and the stream that goes on from there."""
    stream = Stream(claim.name, seed)
    family = claim.families[seed % len(claim.families)]
    users = max(families.find(family).fewest, stream.integer(*claim.users))
    return generate(family, users, seed), stream


def examine(payload: tuple[str, int]) -> Row:
    """Return the cases of one claim (by name) on the instance of one seed."""
    name, seed = payload
    claim = CLAIMS[name]
    instance, stream = draw(claim, seed)
    try:
        cases = claim.examine(instance, stream)
    except WrongAnswer as error:
        cases = [Case("exact solver", 0, 0, str(error))]
    return {"claim": name, "seed": seed, "cases": [asdict(case) for case in cases]}


@dataclass
class Tally:
    """The cases of one group of a claim.

    Attributes
    ----------
    cases, below : int
        All of them, and those below the optimum they were compared with.
    lost : Fraction
        Sum of the shares of the optimum that are missing.
    worst : (int, int) or None
        Users served and optimum of the case with the least quotient.
    most_split : int or None
        Most users that a relaxation split.
    faults : int
        Cases that contradict the claim.
    """

    cases: int = 0
    below: int = 0
    lost: Fraction = Fraction(0)
    worst: tuple[int, int] | None = None
    most_split: int | None = None
    faults: int = 0

    def add(self, case: Case) -> None:
        """Count one case."""
        self.cases += 1
        self.faults += bool(case.fault)
        if case.split is not None:
            self.most_split = max(self.most_split or 0, case.split)
        if case.got < case.best:
            self.below += 1
            self.lost += Fraction(case.best - case.got, case.best)
            if self.worst is None or case.got * self.worst[1] < self.worst[0] * case.best:
                self.worst = case.got, case.best

    @property
    def mean_loss(self) -> float:
        """Mean share of the optimum that is missing."""
        return float(self.lost / self.cases) if self.cases else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        data = {name: value for name, value in asdict(self).items() if name != "lost"}
        return data | {"mean_loss": self.mean_loss}


@dataclass
class Campaign:
    """What a run found on some claims.

    Attributes
    ----------
    claims : sequence of Claim
    tallies : dict
        By claim name and group.
    faults, troubles : list of (str, int, str)
        Claim, seed and sentence: contradictions, and instances that stayed open.
    """

    claims: Sequence[Claim]
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    faults: list[tuple[str, int, str]] = field(default_factory=list)
    troubles: list[tuple[str, int, str]] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Count one row."""
        if "error" in row:
            name, seed = row["key"].split(":")
            self.troubles.append((name, int(seed), row["error"]))
            return
        for data in row["cases"]:
            case = Case(**data)
            self.tallies.setdefault((row["claim"], case.group), Tally()).add(case)
            if case.fault:
                self.faults.append((row["claim"], row["seed"], f"{case.group}: {case.fault}"))

    def groups(self, claim: Claim) -> Iterator[tuple[str, Tally, bool | None]]:
        """Yield a claim's groups with tally and verdict (None: open), in order of appearance."""
        for (name, group), tally in self.tallies.items():
            if name == claim.name:
                yield group, tally, self._verdict(claim, group, tally)

    def _verdict(self, claim: Claim, group: str, tally: Tally) -> bool | None:
        if tally.faults:
            return False
        return None if group in claim.falls_short and not tally.below else True

    @property
    def verdict(self) -> Exit:
        """Whether all held, something failed, or something (or everything) stayed open."""
        if self.faults:
            return Exit.VIOLATION
        verdicts = [[holds for *_, holds in self.groups(claim)] for claim in self.claims]
        shown = all(found and None not in found for found in verdicts)
        return Exit.UNDECIDED if self.troubles or not shown else Exit.HELD

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "groups": [
                {"claim": claim.name, "group": group, "holds": holds, **tally.to_dict()}
                for claim in self.claims
                for group, tally, holds in self.groups(claim)
            ],
            "faults": [_told(*fault) for fault in sorted(self.faults)],
            "undecided": [_told(*trouble) for trouble in sorted(self.troubles)],
        }


def again(claim: str, seed: int) -> str:
    """Return the line that examines one claim on one instance again."""
    return f"python -m verify.propositions --claim {claim} --seed {seed} --instances 1"


def _told(claim: str, seed: int, sentence: str) -> dict[str, Any]:
    return {"claim": claim, "seed": seed, "what": sentence, "again": again(claim, seed)}


def check_claims(
    names: Iterable[str], instances: int, seed: int, workers: Workers, time_limit: float
) -> Campaign:
    """Check some claims on instances of the seeds ``seed``, ``seed + 1``, ...

    Parameters
    ----------
    names : iterable of str
        Keys of `CLAIMS`.
    instances : int
        How many for each claim.
    seed : int
    workers : Workers
    time_limit : float
        Seconds for one instance.

    Raises
    ------
    WorkersLost
        If the workers do not answer any more.
    """
    claims = [CLAIMS[name] for name in names]
    pairs = [(claim.name, seed + i) for i in range(instances) for claim in claims]
    tasks = (Task(f"{name}:{number}", (name, number)) for name, number in pairs)
    campaign = Campaign(claims)
    rows = run(examine, tasks, workers, None, time_limit, READY if pairs else ())
    for row in sorted(track(rows, len(pairs), "checking"), key=_position):
        campaign.add(row)
    return campaign


def _position(row: Row) -> tuple[int, str]:
    """Sort rows by seed, whatever order the workers finish in."""
    name, _, seed = row["key"].partition(":")
    return int(seed), name
