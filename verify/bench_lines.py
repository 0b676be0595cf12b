"""Solver lines: the names that a benchmark takes, and the calls that they stand for.

======================  ============================================================
``threshold``           an exact solver, by its name in `formulations.solve`
``highs@compact``       the same with a formulation
``highs@compact+CUT``   and with cuts of that name, also several: ``+pairs+count``, ``+all``
``...+no-start``        and without Algorithm 3's schedule to start from
``...+apart``           and each z to its own optimum, no bound or cutoff between them
``pyomo:NAME``          any solver that Pyomo can call
``heuristics:NAME``     an algorithm of `heuristics.solve`; it proves no bound
``module:function``     anybody's solver, ``function(instance, time_limit)``
======================  ============================================================

A third party's function gets an `instances.Instance` and the limit in seconds, and returns an
`instances.Result`, whose claims are checked like those of our own solvers, or an
`instances.Schedule`, which claims nothing about optimality. It solves the problem that the
benchmark is run for (for P2, its schedules carry a λ).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from instances import InputError, Instance, Problem, Result, Schedule, Status, worth

from .bench_cases import split

HEURISTICS = "heuristics:"
PYOMO = "pyomo:"
NO_START, APART = "no-start", "apart"


@dataclass(frozen=True)
class Line:
    """One solver line.

    Parameters
    ----------
    solver : str
        Without the formulation.
    formulation : str or None
        Without or with cuts, ``"compact+pairs"``; None: the solver's own choice.
    """

    solver: str
    formulation: str | None = None

    def __str__(self) -> str:
        return f"{self.solver}@{self.formulation}" if self.formulation else self.solver

    @property
    def is_heuristic(self) -> bool:
        """Whether the line is ``heuristics:NAME``."""
        return self.solver.startswith(HEURISTICS)

    @property
    def is_function(self) -> bool:
        """Whether the line is ``module:function``."""
        return ":" in self.solver and not self.is_heuristic and not self.solver.startswith(PYOMO)


def parse(text: str) -> Line:
    """Return the line that a text such as ``"highs@compact"`` names.

    Raises
    ------
    InputError
        If a part is empty.
    """
    solver, at, formulation = text.partition("@")
    if not solver or (at and not formulation) or "" in solver.split(":"):
        raise InputError(
            f"solver line {text!r}: expected NAME, NAME@FORMULATION or MODULE:FUNCTION"
        )
    return Line(solver, formulation or None)


def cross(solvers: Sequence[str], formulations: Sequence[str]) -> dict[Line, list[Line]]:
    """Return the solver lines, each with its crossings with the formulations.

    Heuristics, third parties' functions and lines that name their formulation have none.
    """
    names = list(split(formulations))

    def crossed(line: Line) -> list[Line]:
        return [] if _is_fixed(line) else [Line(line.solver, name) for name in names]

    return {line: crossed(line) for line in map(parse, split(solvers))}


def find(lines: Sequence[Line], name: str | None) -> Line | None:
    """Return the line of that name, or else the first of that solver; by default HiGHS, if it runs.

    Raises
    ------
    InputError
        If a name is given that no line has.
    """
    for line in lines:
        if str(line) == name:
            return line
    for line in lines:
        if line.solver == (name or "highs"):
            return line
    if name is None:
        return None
    raise InputError(f"--reference {name}: is none of the lines {', '.join(map(str, lines))}")


def _is_fixed(line: Line) -> bool:
    return line.formulation is not None or line.is_function or line.is_heuristic


def solve(line: Line, instance: Instance, problem: Problem, time_limit: float) -> Result:
    """Return what the line answers; a bare schedule becomes a result without a bound.

    Raises
    ------
    InputError
        If a third party's function does not exist or does not take an instance and a limit.
    TypeError
        If it returns something else.
    """
    if line.is_function:
        answer = _asked(line.solver, instance, time_limit)
        return as_result(answer, problem, str(line), instance)
    if line.is_heuristic:
        import heuristics

        return heuristics.solve(instance, algorithm=line.solver.removeprefix(HEURISTICS))
    import formulations

    return formulations.solve(
        instance, problem, line.solver, time_limit=time_limit, **_options(line.formulation)
    )


def _options(formulation: str | None) -> dict[str, Any]:
    """Return the arguments that the part of a line after the @ stands for."""
    if formulation is None:
        return {}
    name, *words = formulation.split("+")
    cuts = [word for word in words if word not in (NO_START, APART)]
    options: dict[str, Any] = {"formulation": name}
    options |= {"apart": True} if APART in words else {}
    options |= {"start": False} if NO_START in words else {}
    return options | ({"cuts": ",".join(cuts)} if cuts else {})


def as_result(answer: object, problem: Problem, name: str, instance: Instance) -> Result:
    """Return a third party's answer as a result."""
    if isinstance(answer, Result):
        return answer
    if not isinstance(answer, Schedule):
        raise TypeError(f"{name} returned {type(answer).__name__}, not a Result or Schedule")
    return Result(
        status=Status.FEASIBLE,
        problem=problem,
        solver=name,
        solver_version="",
        objective=worth(instance, answer),
        runtime_s=0.0,
        schedule=answer,
    )


def _asked(name: str, instance: Instance, time_limit: float) -> Any:
    function = _function(name)
    try:
        return function(instance, time_limit)
    except TypeError as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise  # a fault inside the function
        raise InputError(
            f"{error}; a solver takes (instance, time_limit), for a heuristic use "
            f"{HEURISTICS}{name}"
        ) from None


def _function(name: str) -> Callable[[Instance, float], Any]:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise InputError(str(error)) from None
    except AttributeError:
        raise InputError(f"module {module} has no {attribute}") from None
    if not callable(found):
        raise InputError(f"{attribute} is not a function")
    return found  # type: ignore[no-any-return]
