"""Every solver against every other, exhaustive search and a brute force in rationals."""

from __future__ import annotations

import pytest

import formulations
import instances
import verify
from verify.brute import MOST_TRIED, Brute

LEAST = {"printed-trap": 7, "tight-half": 2}


def agree(seed: int) -> None:
    """Compare all solvers on one instance of at most nine users."""
    family = instances.FAMILIES[seed % len(instances.FAMILIES)]
    users = max(LEAST.get(family, 0), seed // len(instances.FAMILIES) % 10)
    instance = instances.generate(
        family, users=min(users, 3) if family == "tiny" else users, seed=seed
    )
    served = {}
    for solver in formulations.solver_names():
        result = formulations.solve(instance, solver=solver, start=False)
        assert result.status == "optimal", (family, solver)
        assert result.schedule is not None
        assert verify.check(instance, result.schedule).feasible
        served[solver] = result.schedule.served
    if len(instance.users) <= MOST_TRIED:
        served["brute force"] = Brute(instance).most_served()
    assert len(set(served.values())) == 1, (family, served)


@pytest.mark.parametrize("seed", range(12))
def test_all_solvers_agree_on_one_instance_of_each_family(seed: int) -> None:
    agree(seed + 48)  # four users or so


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_all_solvers_agree_on_200_instances(seed: int) -> None:
    agree(seed)
