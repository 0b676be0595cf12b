"""Optima of very few users by trying every pair of batches in rationals.

Stands on `instances.exact` alone: no tables, no prices of `instances.pricing`, no solver. So it
also contradicts what algorithms, solvers and the mapping to MMKPs would get wrong together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property

from instances import Instance, Problem, User
from instances.exact import (
    ad_latency,
    ad_memory,
    remaining_budget,
    room,
    sd_latency,
    sd_memory,
)
from instances.numbers import exact

from .optima import WrongAnswer

#: Up to so many users every pair is tried: 3^K of them at each z.
MOST_TRIED = 6

#: A batch that is on time: users as a bit mask, and the bytes of its caches.
Batch = tuple[int, Fraction]


class Brute:
    """Everything that an instance's users can do, at some shares z.

    Parameters
    ----------
    instance : Instance
    z_grid : iterable of float, optional
        The instance's Z if left out.
    """

    def __init__(self, instance: Instance, z_grid: Iterable[float] | None = None) -> None:
        self.instance = instance
        self.z_grid = tuple(instance.z_grid if z_grid is None else z_grid)

    def most_served(self, lambda_grid: Iterable[float] | None = None) -> int:
        """Return the best objective at any z: with one memory, or with any of some splits of it."""
        shares = None if lambda_grid is None else sorted(map(exact, lambda_grid))
        return max((self._at(z, shares) for z in self.z_grid), default=0)

    def _at(self, z: float, shares: Sequence[Fraction] | None) -> int:
        total = room(self.instance, z)
        if total < 0:
            return 0
        best, worth = 0, self._worth
        for first, ad in self._ad[z]:
            for second, sd in self._sd[z]:
                served = worth[first] + worth[second]
                if served > best and not first & second and _fits(ad, sd, total, shares):
                    best = served
        return best

    @cached_property
    def _worth(self) -> list[int]:
        """What every set of users is worth."""
        worth = [0]
        for user in self.instance.users:
            worth += [each + user.value for each in worth]
        return worth

    @cached_property
    def _ad(self) -> dict[float, list[Batch]]:
        return self._batches([z for z in self.z_grid if z > 0], ad_latency, ad_memory)

    @cached_property
    def _sd(self) -> dict[float, list[Batch]]:
        return self._batches([z for z in self.z_grid if z < 1], sd_latency, sd_memory)

    def _batches(
        self,
        shared: Sequence[float],
        latency: Callable[[Instance, Sequence[User], float], Fraction],
        memory: Callable[[Instance, Sequence[User]], Fraction | int],
    ) -> dict[float, list[Batch]]:
        """Return the batches of one mode that are on time at each z, the empty one always.

        Every part of a batch that is on time is so too, so a batch is only tried where the one
        without its first user was.
        """
        users, on_time = self.instance.users, {0: set(shared)}
        batches: dict[float, list[Batch]] = {z: [(0, Fraction(0))] for z in self.z_grid}
        for mask in range(1, 1 << len(users)):
            on_time[mask] = set()
            if left := on_time[mask & (mask - 1)]:
                batch = [user for k, user in enumerate(users) if mask >> k & 1]
                budget = min(remaining_budget(self.instance, user) for user in batch)
                bytes_ = Fraction(memory(self.instance, batch))
                for z in left:
                    if latency(self.instance, batch, z) <= budget:
                        on_time[mask].add(z)
                        batches[z].append((mask, bytes_))
        return batches


def agree(instance: Instance, problem: Problem, found: int, brute: Brute | None = None) -> int:
    """Return an optimum of P1 or P2 that a solver found on tables, confirmed where users are few.

    Parameters
    ----------
    instance : Instance
    problem : {"P1", "P2"}
    found : int
    brute : Brute, optional
        Of the same users and Z, if at hand.

    Raises
    ------
    WrongAnswer
        If there is another optimum in rationals.
    """
    if len(instance.users) > MOST_TRIED:
        return found
    tried = brute or Brute(instance)
    best = tried.most_served(None if problem == "P1" else instance.lambda_grid)
    if best != found:
        raise WrongAnswer(f"{problem}: certified {found}, in rationals {best} can be served")
    return found


def _fits(ad: Fraction, sd: Fraction, total: int, shares: Sequence[Fraction] | None) -> bool:
    if shares is None:
        return ad + sd <= total
    needed = ad / total if total else Fraction(0)
    least = bisect_left(shares, needed)  # the smallest share that is enough for AD: most for SD
    return least < len(shares) and ad <= total and sd <= (1 - shares[least]) * total
