"""The problem's data: instances, their integer cost tables and exact arithmetic, and generators."""

from .costs import CostTables, build_tables
from .files import InputError, dumps, load, load_schedule, loads, save
from .generators import FAMILIES, generate
from .mmkp import MMKP
from .mmkp_files import load_mmkp
from .model import Hardware, Instance, Transformer, User
from .partition import equal_cardinality_partition
from .schedule import Problem, Result, Schedule, Status
from .values import worth

__all__ = [
    "FAMILIES",
    "MMKP",
    "CostTables",
    "Hardware",
    "InputError",
    "Instance",
    "Problem",
    "Result",
    "Schedule",
    "Status",
    "Transformer",
    "User",
    "build_tables",
    "dumps",
    "equal_cardinality_partition",
    "generate",
    "load",
    "load_mmkp",
    "load_schedule",
    "loads",
    "save",
    "worth",
]
