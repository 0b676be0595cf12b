"""Which algorithm is judged: one of `heuristics`, or a function of the reader's own."""

from __future__ import annotations

import importlib

from instances import InputError, Instance, Result, Schedule

#: Algorithm 3 as the paper prints its memory accounting (errata E1 and E2); by the fast search,
#: which gives the same schedule as the printed loops.
PRINTED = "printed"


def run(name: str, instance: Instance) -> Schedule:
    """Return an algorithm's schedule; nothing is said about its feasibility.

    Parameters
    ----------
    name : str
        A name in `heuristics.algorithms()`, ``"printed"`` (with the printed memory accounting),
        or ``"module:function"``, a function of the instance that returns a `Schedule`.
    instance : Instance

    Raises
    ------
    ValueError
        If there is no such algorithm, or its answer is no schedule of the instance.
    """
    result = solve(name, instance)
    if result.schedule is None:
        raise ValueError(f"{name} returned no schedule")
    return result.schedule


def solve(name: str, instance: Instance) -> Result:
    """Return an algorithm's whole answer; as `run` otherwise.

    Raises
    ------
    ValueError
        If there is no such algorithm, it refuses the instance, or its answer is no schedule of it.
    """
    import heuristics  # not before it is needed: it compiles

    if name == PRINTED:
        return heuristics.solve(instance, memory="padded")
    return heuristics.solve(instance, name)


def find(name: str) -> None:
    """See that an algorithm exists.

    Raises
    ------
    InputError
        If it does not; the message lists those that do, or says why it cannot be loaded.
    """
    module, colon, attribute = name.partition(":")
    if colon:
        try:
            found = getattr(importlib.import_module(module), attribute)
        except Exception as error:  # a module of the reader's may fail in any way
            raise InputError(f"algorithm {name!r}: {type(error).__name__}: {error}") from None
        if not callable(found):
            raise InputError(f"algorithm {name!r}: {attribute} is not a function")
    elif name not in ("balance", PRINTED):  # these two without loading the compiler
        import heuristics

        known = ", ".join(heuristics.algorithms())
        if name not in heuristics.algorithms():
            raise InputError(f"unknown algorithm {name!r}; choose from {known}, module:function")
