"""What millions of instances on a cluster would take: ``python -m verify.scale``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from instances import commandline
from instances.commandline import Exit

from .parcels import Bounds, bounds
from .scale_costs import Costs, load_costs, measure
from .scale_simulation import Forecast, forecast
from .sources import drawn


def main(
    instances: Annotated[int, typer.Option(min=1, help="Instances of the run.")] = 10_000_000,
    workers: Annotated[int, typer.Option(min=1, help="Workers of the cluster.")] = 100,
    users: Annotated[int, typer.Option(min=0, help="Users in each measured instance.")] = 8,
    sample: Annotated[int, typer.Option(min=1, help="Instances that are measured.")] = 240,
    seed: Annotated[int, typer.Option(min=0, help="Of the sample and the simulation.")] = 0,
    costs: Annotated[
        Path | None, typer.Option(help="Costs of an earlier --output, instead of measuring.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for scale.json and what was measured, costs.json.")
    ] = None,
    as_json: commandline.AsJson = False,
) -> Exit:
    """Simulate a run of verify.bound on a Dask cluster from costs measured on this machine.

    Exit code 0: simulated; 2: bad input.
    """
    measured = load_costs(costs) if costs else measure(drawn(sample, seed=seed, users=users))
    rules = {
        "an instance a task": Bounds(0.0, 1),
        "parcels of 0.2 s": bounds(1),
        "parcels as the runner makes them": bounds(workers),
    }
    found = {
        name: forecast(measured, instances, workers, rule, seed) for name, rule in rules.items()
    }
    data = {name: vars(run) for name, run in found.items()}
    if output is not None:
        if costs is None:
            commandline.write(output / "costs.json", measured.model_dump_json(indent=1) + "\n")
        commandline.write(output / "scale.json", json.dumps(data, indent=1) + "\n")
    if as_json:
        print(json.dumps({"costs": _brief(measured), "runs": data}, indent=1))
        return Exit.HELD
    console = commandline.console()
    if not console.is_terminal:
        console.width = 110  # a file has no edge to wrap at
    for name, value in _brief(measured).items():
        console.print(f"{name}: {value}")
    console.print("", _table(found), sep="\n")
    last = found["parcels as the runner makes them"]
    console.print(
        f"results.jsonl: {last.results_bytes / 1e9:.2f} GB; "
        f"keys of a resumed run: {last.resume_bytes / 1e6:.0f} MB"
    )
    return Exit.HELD


def _brief(costs: Costs) -> dict[str, Any]:
    return {
        "CPU ms an instance": f"{costs.mean_s * 1e3:.2f} (most {max(costs.instance_s) * 1e3:.1f})",
        "CPU µs of the runner a row": f"{costs.row_s * 1e6:.1f}",
        "CPU µs of the runner a parcel": f"{costs.parcel_s * 1e6:.0f}",
        "CPU µs of Dask a parcel": f"{costs.scheduler_s * 1e6:.0f}",
        "bytes a row": f"{costs.row_bytes:.0f}",
    }


def _table(found: dict[str, Forecast]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, caption="workers, runner, scheduler: busy")
    table.add_column("tasks of the cluster", no_wrap=True)
    for title in ("parcels", "hours", "workers", "runner", "scheduler"):
        table.add_column(title, justify="right")
    for name, run in found.items():
        busy = [
            run.efficiency,
            run.runner_seconds / run.seconds,
            run.scheduler_seconds / run.seconds,
        ]
        shares = [f"{share:.1%}" for share in busy]
        table.add_row(name, f"{run.parcels:,}", f"{run.seconds / 3600:.2f}", *shares)
    return table


COMMAND = commandline.Command(main, "verify.scale", "--instances 10000000 --workers 100")

if __name__ == "__main__":
    COMMAND.run()
