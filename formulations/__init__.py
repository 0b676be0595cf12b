"""Exact optima of P1, P2 and P3 by interchangeable solvers, each answer certified."""

from . import solvers
from .api import solve
from .backend import names as solver_names

__all__ = ["solve", "solver_names", "solvers"]
