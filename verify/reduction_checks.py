"""Both reductions on what one seed draws: an instance for the mapping, integers for hardness."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from instances import FAMILIES, Instance, Problem, Result, generate
from instances.families import find
from instances.partition import equal_cardinality_partition

from .reduction_hardness import check_partition, draw_integers
from .reduction_mapping import MappingCheck
from .reduction_sharp import sharpened

#: What is checked, and how a report calls it. Faults carry these names.
CHECKS = {
    "optimum": "(a) MMKP optimum = best schedule under its thresholds",
    "maximum": "(b) largest MMKP optimum = certified optimum of P1, P3",
    "schedule": "(c) the judge accepts what MMKPs select",
    "hard_if": "hardness: a half exists => all can be served",
    "hard_only_if": "hardness: all can be served => a half exists",
}
#: Users of the drawn instances: few with all thresholds, some more with a sample.
SIZES = (1, 2, 2, 3, 3, 4, 4, 4, 5, 6, 8)


@dataclass(frozen=True)
class Reduction:
    """A run: which seeds, and who certifies optima.

    Parameters
    ----------
    count : int
        How many seeds.
    seed : int
        The first of them.
    solver : str
        An exact solver of `formulations.solve`.
    time_limit : float
        Wall seconds for each exact solution.
    """

    count: int
    seed: int = 0
    solver: str = "exhaustive"
    time_limit: float = 60.0

    def __iter__(self) -> Iterator[str]:
        """Yield the keys: the seeds."""
        return map(str, range(self.seed, self.seed + self.count))

    def to_dict(self) -> dict[str, Any]:
        """Return what decides the rows, as JSON data."""
        return asdict(self)

    def __call__(self, key: str) -> dict[str, Any]:
        """Return the row of one seed.

        Returns
        -------
        dict
            ``instance``, ``users``, ``thresholds`` (pairs looked at) and ``problems`` (different
            MMKPs among them) of the mapping; ``integers`` and ``yes`` of the hardness reduction;
            ``faults``: kind to sentence; ``open``: kinds left undecided; ``seconds``.
        """
        begin = time.perf_counter()
        instance, points = draw_mapping(int(key))
        check = MappingCheck(instance, self._solve)
        rng = random.Random(f"thresholds {key}")
        found = [check.at(z, lam, rng) for z, lam in points]
        integers = draw_hardness(int(key))
        hardness = check_partition(integers, lambda made: self._solve(made, "P1", None, None))
        faults = dict(hardness["faults"])
        for point in found:
            faults = point.faults | faults
        return {
            "instance": instance.name,
            "users": len(instance.users),
            "thresholds": sum(point.pairs for point in found),
            "problems": sum(point.problems for point in found),
            "integers": integers,
            "yes": hardness["yes"],
            "faults": faults,
            "open": sorted(
                {kind for point in found for kind in point.open}
                | ({"hard_only_if"} if hardness["open"] else set())
            ),
            "seconds": round(time.perf_counter() - begin, 6),
        }

    def _solve(
        self, instance: Instance, problem: Problem, z: float | None, lam: float | None
    ) -> Result:
        import formulations  # not before it is needed: it loads solvers

        return formulations.solve(
            instance, problem, self.solver, z=z, lam=lam, time_limit=self.time_limit
        )


def draw_mapping(seed: int) -> tuple[Instance, list[tuple[float, float | None]]]:
    """Return the instance that a seed draws, and the points (z, λ) to look at: of P1 and of P3.

    Every other one is sharpened for one of the points, the others stay as their family made them.
    """
    rng = random.Random(f"mapping {seed}")
    users = rng.choice(SIZES)
    families = [name for name in FAMILIES if find(name).fewest <= users]
    instance = generate(rng.choice(families), users=users, seed=seed)
    if rng.random() < 0.5:
        points = [
            (rng.choice(instance.z_grid), None),
            (rng.choice(instance.z_grid), rng.choice(instance.lambda_grid)),
        ]
        return instance, points
    z, lam = rng.choice(instance.z_grid[1:-1]), rng.choice(instance.lambda_grid[1:-1])
    return sharpened(instance, z, rng.choice([None, lam]), rng), [(z, None), (z, lam)]


def draw_hardness(seed: int) -> list[int]:
    """Return the integers that a seed draws."""
    return draw_integers(random.Random(f"partition {seed}"))


def instances_of(seed: int) -> dict[str, Instance]:
    """Return both instances of a seed, by what they are for."""
    return {
        "mapping": draw_mapping(seed)[0],
        "partition": equal_cardinality_partition(draw_hardness(seed)),
    }
