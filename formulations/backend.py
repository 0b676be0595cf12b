"""What every exact back end is asked and answers: `Request`, `Answer`, and the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from instances import CostTables
from instances.assignment import Assignment
from instances.values import COUNTS_USERS


@dataclass(frozen=True)
class Request:
    """One maximisation on one set of cost tables: of the summed `CostTables.value` of those served.

    Parameters
    ----------
    z_indices : tuple of int
        Positions in the z grid that may be chosen.
    lam_indices : tuple of int or None
        Positions in the λ grid that may be chosen (P2, P3); None: one joint memory row (P1).
    allow_ad, allow_sd : bool
        False: that mode must stay empty (SD-only, AD-only).
    start : Assignment or None
        An assignment that the tables accept; the search only needs to look for better ones.
    time_limit : float or None
        Wall seconds left.
    node_limit : int or None
        Search nodes allowed, for back ends that count them.
    seed : int
        For back ends that are seeded.
    options : dict
        Options of the back end by name, e.g. ``{"formulation": "compact"}``.
    weighted : bool
        Whether the users' values differ. Back ends that count users refuse such a request.
    """

    z_indices: tuple[int, ...]
    lam_indices: tuple[int, ...] | None = None
    allow_ad: bool = True
    allow_sd: bool = True
    start: Assignment | None = None
    time_limit: float | None = None
    node_limit: int | None = None
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    weighted: bool = False


@dataclass(frozen=True)
class Answer:
    """What a back end found on the tables; nobody trusts it before `certify` has rechecked it.

    Parameters
    ----------
    assignment : Assignment or None
        The best assignment found (the start, if nothing better exists); None without any.
    bound : int
        Upper bound on the objective, for the tables the back end was given.
    stopped_by : str or None
        ``"time_limit"``, ``"node_limit"``, ``"interrupt"``; None when it ran to its end.
    statistics : dict
        Counters: ``nodes``, ``build_s``, ``solve_s``, ...
    """

    assignment: Assignment | None
    bound: int
    stopped_by: str | None = None
    statistics: dict[str, Any] = field(default_factory=dict)


class Backend(Protocol):
    """An exact solver on cost tables."""

    name: str

    def version(self) -> str:
        """Return the solver's version, e.g. ``"highspy 1.16.0"``."""

    def check(self, request: Request) -> None:
        """Raise ValueError if the back end cannot serve such a request (options, limits)."""

    def solve(self, tables: CostTables, request: Request) -> Answer:
        """Maximise the objective.

        Raises
        ------
        ValueError
            Before anything is built, if the back end cannot serve the request.
        """


Factory = Callable[[], Backend]

_factories: dict[str, Factory] = {}
_families: dict[str, Callable[[str], Backend]] = {}


def register(name: str, factory: Factory) -> None:
    """Add a back end under a name; `factory` imports its solver only when called.

    Raises
    ------
    ValueError
        If the name is taken.
    """
    if name in _factories:
        raise ValueError(f"solver {name!r} is already registered")
    _factories[name] = factory


def register_family(prefix: str, factory: Callable[[str], Backend]) -> None:
    """Add back ends ``PREFIX:NAME``; `factory` gets NAME.

    Raises
    ------
    ValueError
        If the prefix is taken.
    """
    if prefix in _families:
        raise ValueError(f"solvers {prefix}:NAME are already registered")
    _families[prefix] = factory


def names() -> tuple[str, ...]:
    """Return the registered solver names."""
    return tuple(_factories)


def create(name: str) -> Backend:
    """Return the back end of that name.

    Raises
    ------
    ValueError
        If no solver has that name; the message lists those that exist.
    ModuleNotFoundError
        If its solver is not installed; the message says what to install.
    """
    prefix, colon, member = name.partition(":")
    if name in _factories:
        return _factories[name]()
    if colon and member and prefix in _families:
        return _families[prefix](member)
    choices = ", ".join([*_factories, *(f"{prefix}:NAME" for prefix in _families)])
    raise ValueError(f"unknown solver {name!r}; choose from {choices}")


#: Options of the MILP solvers alone.
MILP_OPTIONS = ("formulation", "cuts", "apart")


def check_options(
    name: str,
    request: Request,
    known: frozenset[str],
    counts_nodes: bool = True,
    weighted: bool = False,
) -> None:
    """Refuse options a back end does not know, and node limits and values it would ignore.

    Parameters
    ----------
    name : str
    request : Request
    known : frozenset of str
        Options of the back end.
    counts_nodes, weighted : bool
        Whether it heeds node limits, and whether it maximises values instead of counting users.

    Raises
    ------
    ValueError
        Naming the option and those that exist, or who heeds what this one does not.
    """
    if request.weighted and not weighted:
        raise ValueError(f"solver {name!r} {COUNTS_USERS}")
    for option in request.options:
        if option not in known:
            choices = ", ".join(sorted(known)) or "none"
            hint = "; the MILP solvers have, such as 'highs'" if option in MILP_OPTIONS else ""
            raise ValueError(f"solver {name!r} has no option {option!r} (it has: {choices}{hint})")
    if request.node_limit is not None and not counts_nodes:
        raise ValueError(f"solver {name!r} counts no nodes; use a time limit")
