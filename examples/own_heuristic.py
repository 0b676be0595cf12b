"""How far is my own heuristic from the optimum?

Run it in a clone: ``python examples/own_heuristic.py``. The function below is also an algorithm for
the commands: ``python -m verify.bound --algorithm examples.own_heuristic:earliest_deadline_first``.
"""

from __future__ import annotations

import formulations
from instances import Instance, Schedule, generate
from verify import check


def earliest_deadline_first(instance: Instance) -> Schedule:
    """Return SD for everyone who still fits, the most urgent first."""
    schedule = Schedule(z=0.0)
    for user in sorted(instance.users, key=lambda user: user.deadline_s):
        more = Schedule(z=0.0, sd=(*schedule.sd, user.id))
        if check(instance, more).feasible:
            schedule = more
    return schedule


def main(count: int = 6, users: int = 12) -> None:
    """Compare the two on seeded instances of the paper's Figure 4a."""
    total = own_total = 0
    for seed in range(count):
        instance = generate("paper-4a", users, seed)
        own = earliest_deadline_first(instance).served
        optimum = formulations.solve(instance)
        assert optimum.objective is not None
        print(f"{instance.name}: {own} of {optimum.objective}")
        total, own_total = total + optimum.objective, own_total + own
    print(f"earliest deadline first serves {100 * own_total / total:.1f} % of the optimum")


if __name__ == "__main__":
    main()
