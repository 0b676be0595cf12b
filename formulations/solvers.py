"""The solvers there are; each is imported only when it is asked for."""

from __future__ import annotations

from importlib import import_module

from .backend import Backend, register, register_family


def _load(module: str, requirement: str, *arguments: str) -> Backend:
    """Return the back end of a module; say what to install if its solver is missing."""
    try:
        backend: Backend = import_module(f"formulations.{module}").backend(*arguments)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in ("formulations", "instances"):
            raise
        raise ModuleNotFoundError(
            f"this solver needs {requirement}: pip install '{requirement}'", name=error.name
        ) from None
    return backend


register("threshold", lambda: _load("threshold", "numba>=0.63"))
register("highs", lambda: _load("highs", "highspy>=1.16"))
register("exhaustive", lambda: _load("exhaustive", "numba>=0.63"))
register("scip", lambda: _load("scip", "ortools>=9.15"))
register("cp-sat", lambda: _load("cpsat", "ortools>=9.15"))
register("pyomo:highs", lambda: _load("pyomo_backend", "pyomo>=6.10", "highs"))
register_family("pyomo", lambda name: _load("pyomo_backend", "pyomo>=6.10", name))
