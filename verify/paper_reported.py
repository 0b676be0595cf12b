"""What the paper's Section V reports in numbers: the averages that ours are held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .study import Study, load

#: How people read the names of algorithms and measures.
NAMES = {
    "balance": "BALANCE",
    "ad-only": "AD-only",
    "sd-only": "SD-only",
    "ecra": "ECRA",
    "ema": "EMA",
    "ecrma": "ECRMA",
    "optimum": "optimum",
    "throughput": "throughput",
    "latency_s": "latency",
    "memory_bytes": "memory",
}


@dataclass(frozen=True)
class Reported:
    """One average that the paper states.

    Parameters
    ----------
    figure : str
        ``"1"``, ``"4a"``, ...
    subject, over : str
        Algorithms: whose measure is compared with whose.
    percent : float
        By how much the subject exceeds the other, averaged over the figure's points.
    measure : str
        One of `study_rows.MEASURES`.
    where : tuple of (str, value)
        Values of the study's grid that it is about; all by default.
    """

    figure: str
    subject: str
    over: str
    percent: float
    measure: str = "throughput"
    where: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        """Return what the average is, unique: ``"4a: throughput, BALANCE over AD-only"``."""
        subject, over = NAMES[self.subject], NAMES[self.over]
        return f"{self.figure}: {NAMES[self.measure]}, {subject} over {over}"


#: L^D of every experiment of Section V; the paper does not state Figure 1's.
DRAFT_LENGTH = (("draft_length", 1),)


def _gains(figure: str, **gains: float) -> list[Reported]:
    return [
        Reported(figure, "balance", over.replace("_", "-"), gain) for over, gain in gains.items()
    ]


#: Every percentage that Section V and Figure 1 report.
REPORTED: tuple[Reported, ...] = (
    Reported("1", "sd-only", "ad-only", -39.1, "latency_s", DRAFT_LENGTH),
    Reported("1", "sd-only", "ad-only", 18.3, "memory_bytes", DRAFT_LENGTH),
    *_gains("4a", ad_only=37.9, sd_only=33.4),
    *_gains("4b", ad_only=31.5, sd_only=27.3),
    *_gains("5a", ad_only=38.8, sd_only=23.9),
    *_gains("5b", ad_only=30.4, sd_only=27.3),
    *_gains("6", optimum=-0.9),
    *_gains("7a", ecra=5.6, ema=18.7, ecrma=23.7),
    *_gains("7b", ecra=9.0, ema=4.9, ecrma=18.4),
)
#: Figure 6: how many times Algorithm 3 is faster than exhaustive search, on average and at K = 16.
SPEEDUPS = {"mean": 5_100, "K = 16": 21_800}
#: All figures of the evaluation, in the paper's order.
FIGURES = tuple(dict.fromkeys(row.figure for row in REPORTED))


def study_of(figure: str) -> Study:
    """Return the shipped study that recomputes a figure."""
    return load(f"figure-{figure}")


def reported_for(figure: str) -> list[Reported]:
    """Return the averages that the paper states for a figure."""
    return [row for row in REPORTED if row.figure == figure]
