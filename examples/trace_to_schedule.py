"""From a trace of requests to a schedule that a judge has checked.

``python examples/trace_to_schedule.py [TRACE.csv]``; without a trace, the package's own.
"""

from __future__ import annotations

import sys
from pathlib import Path

import formulations
from instances import InputError, generate, save
from instances.traces import SYNTHETIC
from verify import check


def main(trace: Path = SYNTHETIC, folder: Path = Path()) -> None:
    """Draw 20 users with the trace's lengths, serve the most of them, write both files."""
    instance = generate("trace", users=20, seed=1, trace=trace, gpu="RTX 4090", draft_length=2)
    optimum = formulations.solve(instance)
    schedule = optimum.schedule
    assert schedule is not None
    report = check(instance, schedule)
    print(f"{schedule.served} of {len(instance.users)} users can be served ({optimum.status})")
    print(f"AD with {100 * schedule.z:.0f} % of the GPU: {' '.join(schedule.ad) or 'nobody'}")
    print(f"SD with the rest: {' '.join(schedule.sd) or 'nobody'}")
    for kind in ("memory", "ad_latency", "sd_latency"):
        if row := report.worst.get(kind):
            print(f"least slack of {kind}: {float(row.slack):.6g} {row.unit}")
    assert report.feasible
    save(instance, folder / "instance.json")
    save(schedule, folder / "schedule.json")


if __name__ == "__main__":
    try:
        main(*map(Path, sys.argv[1:2]))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
