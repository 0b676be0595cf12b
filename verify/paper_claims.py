"""What must hold on every instance of every figure: BALANCE between its baselines and the optimum.

All of it is provable, so a violation is a fault of ours (or an optimum that is none):

- BALANCE >= AD-only. Algorithm 3 visits z = λ = 1 (both grids hold 1). There Algorithm 1 has the
  whole GPU and all the memory, as AD-only has, and Algorithm 2 has neither.
- BALANCE >= SD-only. At z = λ = 0 Algorithm 1 has no time and serves nobody, so that Algorithm 2
  chooses from all users with the whole GPU and all the memory, as SD-only does.
- BALANCE >= ECRA, EMA, ECRMA, which are Algorithm 3 on a part of the grid: where ½ is in Z, in Λ,
  in both. On a grid without ½ the baselines use a share that BALANCE may not, and nothing follows.
- 2 BALANCE >= optimum of P1: Theorem 1 with memory charged by eqs. (15) and (16).
- Nobody serves more than the optimum of P1: `study_rows.contradictions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from instances import Instance

from .results import Row
from .study import Study
from .study_fields import build
from .study_rows import label, place
from .study_work import OPTIMUM

HALF = 0.5


@dataclass(frozen=True)
class Claim:
    """``factor`` × users that `more` serves >= users that `less` serves, where `grids` hold ½."""

    more: str
    less: str
    grids: tuple[str, ...] = ()
    factor: int = 1

    def applies(self, instance: Instance) -> bool:
        """Return whether the theorem speaks of this instance's grids."""
        return all(HALF in getattr(instance, grid) for grid in self.grids)

    def holds(self, more: Row, less: Row) -> bool:
        """Return whether two answers on one instance agree with it."""
        return bool(self.factor * more["objective"] >= less["objective"])


CLAIMS = (
    Claim("balance", "ad-only"),
    Claim("balance", "sd-only"),
    Claim("balance", "ecra", ("z_grid",)),
    Claim("balance", "ema", ("lambda_grid",)),
    Claim("balance", "ecrma", ("z_grid", "lambda_grid")),
    Claim("balance", OPTIMUM, factor=2),
)


@dataclass(frozen=True)
class Checked:
    """What became of the claims on a study's rows.

    Parameters
    ----------
    comparisons : int
        Pairs of answers that were compared, bounds included.
    broken : list of str
        Claims that do not hold, each with its instance.
    unproven : list of str
        Runs of the optimum that ended without a proof.
    """

    comparisons: int
    broken: list[str]
    unproven: list[str]


def check_claims(study: Study, rows: Sequence[Row]) -> Checked:
    """Hold every claim against every instance of a study.

    Parameters
    ----------
    study : Study
    rows : sequence of dict
        As `study_run.run` returns them, in the study's order.
    """
    comparisons, broken = 0, []
    for _, together in groupby(rows, place):
        runs = {row["algorithm"]: row for row in together if row["objective"] is not None}
        for claim in _applying(study, runs):
            comparisons += 1
            more, less = runs[claim.more], runs[claim.less]
            if not claim.holds(more, less):
                broken.append(_told(claim, more, less))
        bounds = sum(row["bound"] is not None for row in runs.values())
        comparisons += bounds * (len(runs) - 1)
    unproven = [
        f"{label(row)}: in {row['objective']} to {row['bound']}"
        for row in rows
        if row["algorithm"] == OPTIMUM and not row["error"] and row["objective"] != row["bound"]
    ]
    return Checked(comparisons, broken, unproven)


def _applying(study: Study, runs: dict[str, Row]) -> Iterator[Claim]:
    """Yield the claims about algorithms that ran, where the grids are as they ask."""
    there = [claim for claim in CLAIMS if {claim.more, claim.less} <= runs.keys()]
    if not any(claim.grids for claim in there):
        yield from there
        return
    row = next(iter(runs.values()))
    point = {name: row[name] for name in study.grid}
    instance = build(study.settings(point, {"seed": row["seed"]}))
    yield from (claim for claim in there if claim.applies(instance))


def _told(claim: Claim, more: Row, less: Row) -> str:
    factor = f"{claim.factor} × " if claim.factor > 1 else ""
    return (
        f"{label(more)} serves {more['objective']}, but {claim.less} serves {less['objective']}: "
        f"{factor}{claim.more} >= {claim.less} is broken"
    )
