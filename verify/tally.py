"""What the rows of a run add up to: counts and exact ratios, for each family and together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .results import Row


@dataclass
class Ratios:
    """Least and mean of some ratios, exactly, whatever the order they come in."""

    count: int = 0
    total: Fraction = Fraction(0)
    least: Fraction | None = None

    def add(self, served: int, optimum: int) -> None:
        """Count served / optimum; 1 where nobody can be served."""
        ratio = Fraction(served, optimum) if optimum else Fraction(1)
        self.count += 1
        self.total += ratio
        self.least = ratio if self.least is None else min(self.least, ratio)

    @property
    def mean(self) -> Fraction | None:
        """Mean ratio; None without any."""
        return self.total / self.count if self.count else None

    def to_dict(self) -> dict[str, Any]:
        """Return floats, and the least ratio also as a fraction."""
        return {
            "min": None if self.least is None else float(self.least),
            "min_exact": None if self.least is None else str(self.least),
            "mean": None if self.mean is None else float(self.mean),
        }


@dataclass
class Losses:
    """Users that coarse grids lose, over instances whose optima are all certified.

    Attributes
    ----------
    count : int
        Instances.
    z : Counter
        Instances by P1's optimum on the finer grid of z less that on their own.
    lam : Counter
        Instances by P1's optimum less P2's: what the grid of λ loses against a continuous λ.
    """

    count: int = 0
    z: Counter[int] = field(default_factory=Counter)
    lam: Counter[int] = field(default_factory=Counter)

    def add(self, p1: int, p2: int, fine: int) -> None:
        """Count one instance."""
        self.count += 1
        self.z[fine - p1] += 1
        self.lam[p1 - p2] += 1

    def mean(self, losses: Counter[int]) -> float | None:
        """Return the mean of `z` or `lam`; None without any."""
        return sum(n * many for n, many in losses.items()) / self.count if self.count else None

    def __str__(self) -> str:
        """Return both means as people read them."""
        z, lam = self.mean(self.z), self.mean(self.lam)
        return "–" if z is None or lam is None else f"{z:.2f}/{lam:.2f}"

    def to_dict(self) -> dict[str, Any]:
        """Return mean and greatest losses and how many instances lose any."""
        return {
            "instances": self.count,
            "z": self._summed(self.z),
            "lambda": self._summed(self.lam),
        }

    def _summed(self, losses: Counter[int]) -> dict[str, Any]:
        some = sum(many for n, many in losses.items() if n)
        return {"mean": self.mean(losses), "max": max(losses, default=None), "losing": some}


@dataclass
class Tally:
    """Sums over the rows of `guarantee.Guarantee`.

    Attributes
    ----------
    checked : int
        Instances with both optima certified, or with a violation.
    skipped, undecided, errors : int
        Instances that the solver or family refuses, without a certified optimum, or that crashed.
    violated : int
        Instances with at least one fault.
    optimal : int
        Instances on which the algorithm serves P1's optimum.
    faults : Counter
        Instances for each kind of fault.
    p1, p2 : Ratios
        Users served over the optimum.
    losses : Losses
        What the grids lose, where it was asked.
    seconds : float
        Time in the workers.
    """

    checked: int = 0
    skipped: int = 0
    undecided: int = 0
    errors: int = 0
    violated: int = 0
    optimal: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    p1: Ratios = field(default_factory=Ratios)
    p2: Ratios = field(default_factory=Ratios)
    losses: Losses = field(default_factory=Losses)
    seconds: float = 0.0

    def add(self, row: Row) -> None:
        """Count one row."""
        self.seconds += row.get("seconds", 0.0)
        if "error" in row:
            self.errors += 1
        elif "skipped" in row:
            self.skipped += 1
        else:
            self._compare(row)

    def _compare(self, row: Row) -> None:
        decided = row["p1"][0] == row["p1"][1] and row["p2"][0] == row["p2"][1]
        self.faults.update(row["faults"].keys())
        self.violated += bool(row["faults"])
        if not decided and not row["faults"]:
            self.undecided += 1
            return
        self.checked += 1
        if decided and row["served"] is not None:
            self.p1.add(row["served"], row["p1"][1])
            self.p2.add(row["served"], row["p2"][1])
            self.optimal += row["served"] == row["p1"][1]
        if decided and "fine" in row and row["fine"][0] == row["fine"][1]:
            self.losses.add(row["p1"][1], row["p2"][1], row["fine"][1])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "checked": self.checked,
            "skipped": self.skipped,
            "undecided": self.undecided,
            "errors": self.errors,
            "violated": self.violated,
            "faults": dict(sorted(self.faults.items())),
            "optimal": self.optimal,
            "ratio_p1": self.p1.to_dict(),
            "ratio_p2": self.p2.to_dict(),
            **({"loss_to_grid": self.losses.to_dict()} if self.losses.count else {}),
            "worker_seconds": round(self.seconds, 3),
        }
