"""The problem's data: instances, their integer cost tables and exact arithmetic, and generators."""

from .costs import CostTables, build_tables
from .files import InputError, dumps, load, load_schedule, loads, save
from .generators import FAMILIES, generate
from .model import Hardware, Instance, Transformer, User
from .schedule import Problem, Result, Schedule, Status

__all__ = [
    "FAMILIES",
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
    "generate",
    "load",
    "load_schedule",
    "loads",
    "save",
]
