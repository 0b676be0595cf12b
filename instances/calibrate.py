"""Fit α and β to measured passes: ``python -m instances.calibrate PASSES``."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from . import calibration, catalog, commandline
from .affine_law import Loss
from .calibration_report import error_table, law_table, save_calibration
from .commandline import Exit
from .passes import Measurements, select
from .pictures import check_picture
from .profiles import read_measurements
from .server_options import gpu_names, model_names


def main(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="PASSES",
            help="CSV of passes (seconds, tokens or flops, sequences, context); a kernel profile's "
            "folder; Vidur's CSV.",
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help="What was measured, if the file does not say: a name or a config.json.",
            autocompletion=model_names,
        ),
    ] = None,
    ffn_matrices: Annotated[
        int | None, typer.Option(min=2, max=3, help="Matrices of its feed-forward network.")
    ] = None,
    true_kv_heads: Annotated[
        bool, typer.Option("--true-kv-heads", help="The instance keeps grouped key/value heads.")
    ] = False,
    device: Annotated[str | None, typer.Option(help="Whose rows, where there are several.")] = None,
    from_tokens: Annotated[int | None, typer.Option(help="Fit passes of that many on.")] = None,
    to_tokens: Annotated[int | None, typer.Option(help="Fit passes of up to that many.")] = None,
    to_context: Annotated[
        int | None, typer.Option(help="Fit passes with up to that many tokens in the cache.")
    ] = None,
    loss: Annotated[
        Loss,
        typer.Option(
            help="Minimise the sum of |relative error| (robust), of its square (relative), or of "
            "the squared seconds (absolute)."
        ),
    ] = "robust",
    role: Annotated[calibration.Role, typer.Option(help="Its place in an instance.")] = "llm",
    gpu: Annotated[
        str | None,
        typer.Option(
            help="GPU of the catalogue whose memory goes into --output.",
            autocompletion=gpu_names,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap behind the intervals.")] = 0,
    as_json: commandline.AsJson = False,
    plot: Annotated[Path | None, typer.Option(help="Also draw it: .png, .svg or .pdf.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Put α and β into this hardware section (JSON); the rest of it stays."),
    ] = None,
) -> Exit:
    """Fit seconds = α FLOP + β to measured passes and tell how well the law holds, by size.

    Exit code 0: fitted; 2: bad usage or input.
    """
    if plot is not None:
        check_picture(plot)
    shape = None if model is None else catalog.find_model(model, true_kv_heads=True)
    if model is not None and ffn_matrices is None:
        ffn_matrices = catalog.ffn_matrices(model)
    measured = read_measurements(source, shape, ffn_matrices, device)
    measured = _on(gpu, select(measured, from_tokens, to_tokens, to_context))
    found = calibration.calibrate(measured, loss, true_kv_heads, seed)
    if as_json:
        print(json.dumps(found.to_dict(role), indent=1, ensure_ascii=False))
    else:
        _show(found, role)
    if plot is not None:
        save_calibration(found, plot)
    if output is not None:
        _save(output, found.hardware(role))
    return Exit.HELD


def _on(gpu: str | None, measured: Measurements) -> Measurements:
    """Return the measurements with the memory of a GPU of the catalogue, at two bytes a value."""
    if gpu is None:
        return measured
    known: dict[str, str | int] = {"name": gpu, "memory_bytes": catalog.gpu(gpu).memory_bytes}
    return replace(measured, server={"bytes_per_value": 2, **measured.server, **known})


def _show(found: calibration.Calibration, role: calibration.Role) -> None:
    console = commandline.console()
    model = found.measured.model
    name = f"{model.name or 'a model'}: " if model else ""
    console.print(f"{name}{len(found.flops)} passes of {found.measured.source}", markup=False)
    for note in found.measured.notes:
        console.print(f"note: {note}", markup=False, style="dim")
    console.print(law_table(found))
    for what, rows in found.errors.items():
        if what == "context" and len(rows) == 1:
            continue
        title = {"tokens": "tokens in the pass", "context": "tokens in the cache"}[what]
        console.print(error_table(rows, title))
    fitted = {key: value for key, value in found.hardware(role).items() if role in key}
    text = json.dumps(fitted)[1:-1]
    console.print(f"For an instance's hardware: {text}", markup=False, soft_wrap=True)


def _save(path: Path, known: dict[str, str | int | float]) -> None:
    missing = calibration.write_hardware(path, known)
    if missing:
        print(f"note: {path} still lacks {', '.join(missing)}", file=sys.stderr)


COMMAND = commandline.Command(main, "instances.calibrate", "p.csv --output hardware.json")

if __name__ == "__main__":
    COMMAND.run()
