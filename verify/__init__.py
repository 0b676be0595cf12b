"""The judge of schedules, and the commands that check the paper's claims on many instances."""

from .judge import Inequality, Report, check

__all__ = ["Inequality", "Report", "check"]
