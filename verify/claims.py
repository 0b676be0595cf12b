"""What a claim of the paper is to the checks: a function of an instance that returns cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from instances import Instance
from instances.randomness import Stream


@dataclass(frozen=True)
class Case:
    """One comparison of a number of users with the optimum that a claim relates it to.

    Parameters
    ----------
    group : str
        Row of the table that it counts in.
    got, best : int
        Users served, and the optimum to compare with.
    fault : str
        Why the case contradicts the claim; empty if it does not.
    split : int, optional
        Users that a linear relaxation splits.
    """

    group: str
    got: int
    best: int
    fault: str = ""
    split: int | None = None


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, or a correction, that is checked on instances.

    Parameters
    ----------
    name : str
        For ``--claim``.
    source : str
        Where it stands.
    examine : callable
        Takes an instance and a stream of random numbers; returns cases.
    families : tuple of str
        Drawn in turn.
    users : (int, int)
        Least and most users of an instance.
    falls_short : tuple of str
        Groups of which some case must stay below the optimum: what the erratum says.
    """

    name: str
    source: str
    examine: Callable[[Instance, Stream], list[Case]]
    families: tuple[str, ...]
    users: tuple[int, int]
    falls_short: tuple[str, ...] = ()
