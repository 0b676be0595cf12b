"""What is more GPU memory worth? The optimum of one instance on servers of 13 to 24 GB.

``python examples/memory.py [PICTURE.png]``
"""

from __future__ import annotations

import sys
from pathlib import Path

import formulations
from instances import Instance, generate
from instances.pictures import new_figure, save_picture, tidy

GIGABYTES = (13, 14, 15, 16, 17, 18, 20, 24)


def with_memory(instance: Instance, memory_bytes: int) -> Instance:
    """Return the instance on a server of the same speed with other memory."""
    hardware = instance.hardware.model_copy(update={"memory_bytes": memory_bytes, "name": None})
    return instance.model_copy(update={"hardware": hardware})


def optima(instance: Instance) -> dict[int, list[int]]:
    """Return who can be served with both modes, with AD alone and with SD alone, by GB."""
    table: dict[int, list[int]] = {}
    for gigabytes in GIGABYTES:
        server = with_memory(instance, gigabytes * 10**9)
        results = [
            formulations.solve(server, modes=modes) for modes in ("both", "ad-only", "sd-only")
        ]
        table[gigabytes] = [result.objective or 0 for result in results]
    return table


def main(picture: Path | None = None) -> None:
    """Print the table; draw it if a picture is named."""
    table = optima(generate("paper-5a", users=20, seed=2))
    print("GB  both  AD  SD")
    for gigabytes, served in table.items():
        print("{:2d}  {:4d}  {:2d}  {:2d}".format(gigabytes, *served))
    if picture is None:
        return
    figure = new_figure(7, 4)
    ax = figure.subplots()
    for position, label in enumerate(("both", "AD alone", "SD alone")):
        counts = [served[position] for served in table.values()]
        ax.plot(list(table), counts, marker="o", label=label)
    tidy(ax, "Users served by memory")
    ax.set_xlabel("GPU memory in GB")
    ax.set_ylabel("users served")
    ax.legend()
    save_picture(figure, picture)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
