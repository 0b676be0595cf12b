"""Give the exact problem to another solver, as an MPS and an LP file, and judge what comes back.

``python examples/other_solver.py``. Here HiGHS reads the file; any MILP solver would do.
"""

from __future__ import annotations

import sys
from pathlib import Path

import highspy

import formulations
from formulations.quiet import STDOUT, quiet
from instances import Instance, Schedule, generate
from verify import check


def write(instance: Instance, z: float, folder: Path) -> Path:
    """Write P1 at one share z in both forms; return the MPS file."""
    model = formulations.build_p1(instance, z)
    for form in ("lp", "mps"):
        model.write(str(folder / f"p1.{form}"), io_options={"symbolic_solver_labels": True})
    return folder / "p1.mps"


def solve(path: Path) -> dict[str, float]:
    """Return the columns' values at the other solver's optimum, by name."""
    with quiet(STDOUT):  # HiGHS greets
        highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.readModel(str(path))
    highs.run()
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return dict(zip(highs.getLp().col_names_, highs.getSolution().col_value, strict=True))


def schedule_of(instance: Instance, z: float, values: dict[str, float]) -> Schedule:
    """Return the schedule: x(k) is 1 for users in AD, y(k) for those in SD."""
    ids = [user.id for user in instance.users]
    ad, sd = (
        tuple(name for k, name in enumerate(ids) if values.get(f"{mode}({k})", 0) > 0.5)
        for mode in ("x", "y")
    )
    return Schedule(z=z, ad=ad, sd=sd)


def main(folder: Path = Path()) -> None:
    """Write and solve each share in turn; compare the best with the toolkit's optimum."""
    instance = generate("paper-4a", users=8, seed=3, z_grid=(0, 0.25, 0.5, 0.75, 1))
    best = Schedule(z=0.0)
    for z in instance.z_grid:
        schedule = schedule_of(instance, z, solve(write(instance, z, folder)))
        assert check(instance, schedule).feasible  # a solver's tolerance is no proof
        print(f"z = {z:g}: {schedule.served} users")
        best = max(best, schedule, key=lambda candidate: candidate.served)
    certified = formulations.solve(instance)
    print(f"best: {best.served}; certified optimum: {certified.objective}")
    assert best.served == certified.objective


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
