"""Exact optima of P1, P2 and P3 by interchangeable solvers, each answer certified; and the MMKP."""

from . import solvers
from .api import solve
from .backend import names as solver_names
from .mmkp_mapping import mmkp, mmkp_schedule, mmkp_selection
from .mmkp_models import build_mmkp
from .mmkp_solvers import solve_mmkp
from .mmkp_thresholds import AdThresholds, SdThresholds, Thresholds, tight_thresholds
from .p1 import build_p1
from .p3 import build_p3

__all__ = [
    "AdThresholds",
    "SdThresholds",
    "Thresholds",
    "build_mmkp",
    "build_p1",
    "build_p3",
    "mmkp",
    "mmkp_schedule",
    "mmkp_selection",
    "solve",
    "solve_mmkp",
    "solver_names",
    "solvers",
    "tight_thresholds",
]
