"""Exact optima of P1, P2 and P3 by interchangeable solvers, each answer certified."""

from . import solvers
from .api import solve
from .backend import names as solver_names
from .p1 import build_p1
from .p3 import build_p3

__all__ = ["build_p1", "build_p3", "solve", "solver_names", "solvers"]
