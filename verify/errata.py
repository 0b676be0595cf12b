"""Work out the paper's errata, now: ``python -m verify.errata``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from instances import commandline
from instances.commandline import Exit

from . import findings
from .evidence import findings_table
from .kernels import READY


def main(
    output: Annotated[Path, typer.Option(help="Folder for the instances.")] = Path(
        "balance-errata"
    ),
    as_json: commandline.AsJson = False,
) -> Exit:
    """Show each erratum of the paper on an instance: printed, corrected and optimal results.

    Nothing is looked up: algorithms, certified optima and the judge run now. The instances are
    saved as files that formulations.solve, heuristics.solve and verify.check read.

    Exit code 0: every row shows what it claims; 1: one does not; 2: bad usage.
    """
    for get_ready in READY:
        get_ready()
    rows = [evidence() for evidence in findings.EVIDENCE]
    findings.save(rows, output)
    held = all(row.holds for row in rows)
    data = {"held": held, "rows": [row.to_dict(output) for row in rows]}
    text = json.dumps(data, indent=1, ensure_ascii=False)
    commandline.write(output / "errata.json", text + "\n")
    if as_json:
        print(text)
    else:
        _show(rows, output)
    return Exit.HELD if held else Exit.VIOLATION


def _show(rows: list[findings.Finding], folder: Path) -> None:
    console = commandline.console()
    console.print(findings_table(rows))
    console.print("Run them yourself:", style="bold")
    for row in rows:
        console.print(f"{row.erratum:3} {row.command_in(folder)}", markup=False, soft_wrap=True)
    failed = [f"{row.erratum} {row.place}" for row in rows if not row.holds]
    if failed:
        console.print(f"\nFAIL: not shown: {'; '.join(failed)}", style="red", soft_wrap=True)
    else:
        line = f"\nPASS: all {len(rows)} rows show what they claim; instances in {folder}"
        console.print(line, style="green", soft_wrap=True)


COMMAND = commandline.Command(main, "verify.errata", "--output errata")

if __name__ == "__main__":
    COMMAND.run()
