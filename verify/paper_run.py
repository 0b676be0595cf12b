"""The evaluation's runs: each figure and ablation is a study, in a folder of its own."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from instances import InputError
from instances.commandline import Exit

from .paper_averages import Average, averages
from .paper_claims import Checked, check_claims
from .paper_reported import FIGURES
from .results import Row
from .study import Study, load, shipped
from .study_rows import errors, faults, label
from .study_run import run
from .study_stats import Cell, summarise
from .workers import Workers

FIGURE, ABLATION = "figure-", "ablation-"
ABLATIONS = tuple(name for name in shipped() if name.startswith(ABLATION))
#: What ``--figure`` takes beside single figures and ablations.
GROUPS = {
    "figures": tuple(FIGURE + figure for figure in FIGURES),
    "ablations": ABLATIONS,
}
GROUPS["all"] = GROUPS["figures"] + GROUPS["ablations"]
TRACE = "ablation-trace"


@dataclass(frozen=True)
class Recomputed:
    """One figure or ablation, worked out.

    Parameters
    ----------
    study : Study
    rows : list of dict
    seconds : float
        Wall time.
    """

    study: Study
    rows: list[Row]
    seconds: float

    @cached_property
    def checked(self) -> Checked:
        """What became of the claims."""
        return check_claims(self.study, self.rows)

    @property
    def figure(self) -> str:
        """The paper's name of the figure: ``"4a"``; an ablation's is the study's."""
        return self.study.name.removeprefix(FIGURE)

    @cached_property
    def cells(self) -> list[Cell]:
        """Means by point and algorithm."""
        return summarise(self.study, self.rows)

    @cached_property
    def averages(self) -> list[Average]:
        """The averages that the paper reports, and ours."""
        return averages(self.figure, self.study, self.rows)

    @property
    def violations(self) -> list[str]:
        """Wrong answers and broken claims, one line each."""
        wrong = [f"{label(row)}: {what}" for row, what in faults(self.rows)]
        return [f"{self.study.name}: {line}" for line in [*wrong, *self.checked.broken]]

    @property
    def open(self) -> list[str]:
        """Runs without an answer and optima without a proof, one line each."""
        lost = [f"{label(row)}: {what}" for row, what in errors(self.rows)]
        return [f"{self.study.name}: {line}" for line in [*lost, *self.checked.unproven]]

    @property
    def verdict(self) -> Exit:
        """Whether all held, something is wrong, or something is open."""
        if self.violations:
            return Exit.VIOLATION
        return Exit.UNDECIDED if self.open or not self.rows else Exit.HELD


def chosen(words: Iterable[str]) -> list[str]:
    """Return the studies that some words mean: ``4a``, ``ablation-z``, or a group.

    Raises
    ------
    InputError
        If a word means nothing; the message lists what does.
    """
    names: dict[str, None] = {}
    for word in words:
        found = GROUPS.get(word) or [n for n in GROUPS["all"] if n in (word, FIGURE + word)]
        if not found:
            choices = ", ".join([*FIGURES, *ABLATIONS, *GROUPS])
            raise InputError(f"--figure {word}: choose from {choices}")
        names |= dict.fromkeys(found)
    return list(names)


def studies(
    names: Sequence[str], seeds: str | None, quick: bool, trace: Path | None
) -> list[Study]:
    """Return the studies of those names, cut down or with other seeds as asked."""
    found = []
    for study in map(load, names):
        if study.name == TRACE and trace is not None:
            study = study.model_copy(update={"instances": study.instances | {"trace": str(trace)}})
        study = study.quick() if quick else study
        one_user = len(study.seeds) == 1  # nothing is drawn in Figure 1
        found.append(study if seeds is None or one_user else study.with_seeds(seeds))
    return found


def recompute(study: Study, workers: Workers, output: Path, resume: bool = False) -> Recomputed:
    """Run one study; its rows are kept in ``results.jsonl`` in its folder under `output`."""
    started = time.perf_counter()
    rows = run(study, workers, output / study.name, resume)
    return Recomputed(study, rows, time.perf_counter() - started)
