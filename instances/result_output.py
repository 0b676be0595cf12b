"""How a command hands over the schedule that a solver or an algorithm found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .commandline import write
from .model import Instance
from .schedule import Result, Schedule

if TYPE_CHECKING:
    from rich.table import Table


def hand_over(
    instance: Instance,
    result: Result,
    output: Path | None,
    as_json: bool,
    show: Callable[[Instance, Result], None],
) -> None:
    """Write the result as JSON where that is asked for, and print it as JSON or by `show`.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    text = result.to_json(indent=1)
    if output is not None:
        write(output, text + "\n")
    if as_json:
        print(text)
    else:
        show(instance, result)


def served_table(instance: Instance, schedule: Schedule) -> Table:
    """Return the table of who is served how."""
    from rich.table import Table
    from rich.text import Text

    served = {*schedule.ad, *schedule.sd}
    rest = tuple(user.id for user in instance.users if user.id not in served)
    table = Table("mode", "count", "users")
    for mode, ids in (("AD", schedule.ad), ("SD", schedule.sd), ("not served", rest)):
        table.add_row(mode, str(len(ids)), Text(" ".join(ids)))
    return table
