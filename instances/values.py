"""What serving users is worth: the objective where users have values of their own.

The paper counts users. With values the objective is ``Σ value`` over the users served; all rows
stay as they are. Solvers work in units of the values' greatest common divisor, so users who are all
worth the same are counted, as in the paper.
"""

from __future__ import annotations

import math

from .model import Instance
from .schedule import Schedule

#: Said of whoever counts users, after its name.
COUNTS_USERS = (
    "counts users, but in this instance their values differ; python -m formulations.solve "
    "maximises values with solver highs, scip, cp-sat, pyomo:NAME or exhaustive"
)


def worth(instance: Instance, schedule: Schedule) -> int:
    """Return the summed value of the users that a schedule serves, P1's objective.

    Raises
    ------
    ValueError
        If the schedule names a user that the instance does not have.
    """
    try:
        served = [instance.users[instance.index[name]] for name in schedule.ad + schedule.sd]
    except KeyError as unknown:
        raise ValueError(f"user {unknown} is not in the instance") from None
    return sum(user.value for user in served)


def total(instance: Instance) -> int:
    """Return what serving everybody is worth."""
    return sum(user.value for user in instance.users)


def unit(instance: Instance) -> int:
    """Return the greatest common divisor of the users' values; 1 without users."""
    return math.gcd(*(user.value for user in instance.users)) or 1


def differ(instance: Instance) -> bool:
    """Return whether users are worth different values, so that counting them is not enough."""
    return len({user.value for user in instance.users}) > 1


def refuse_different(instance: Instance, who: str) -> None:
    """Raise ValueError, in `who`'s name, if the users' values differ.

    Raises
    ------
    ValueError
        In one line that says which solvers to use.
    """
    if differ(instance):
        raise ValueError(f"{who} {COUNTS_USERS}")
