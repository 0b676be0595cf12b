"""Time a model's passes on this machine: ``python -m instances.measure --model NAME``."""

from __future__ import annotations

import importlib.util
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from . import catalog, commandline
from .commandline import Exit
from .extras import needs
from .files import InputError
from .measuring import PassesFile, sweep
from .server_options import model_names

if TYPE_CHECKING:
    from .decoder import Build
    from .timing import Timed

_MISSING = needs("measuring needs PyTorch", "measure")


def _numbers(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() and 0 < int(word) < 10**7 for word in words):
        raise InputError(f"{text!r} is no list of whole numbers above 0 such as 1,16,256")
    return [int(word) for word in words]


def main(
    model: Annotated[
        str,
        typer.Option(
            help="A model of the catalogue or a config.json.",
            autocompletion=model_names,
        ),
    ],
    output: Annotated[Path, typer.Option(help="CSV of passes, for instances.calibrate.")],
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda or cuda:N (default: the GPU, if there is one).")
    ] = None,
    dtype: Annotated[
        Literal["float16", "bfloat16", "float32"] | None,
        typer.Option(help="Number format (default: float16 on a GPU, float32 on a CPU)."),
    ] = None,
    layers: Annotated[
        int | None, typer.Option(min=1, help="Time only so many layers; calibrate scales them up.")
    ] = None,
    as_counted: Annotated[
        bool,
        typer.Option(
            "--as-counted",
            help="Exactly the paper's operations: two feed-forward matrices, no grouped keys.",
        ),
    ] = False,
    lengths: Annotated[
        str, typer.Option(metavar="N,N,...", help="Prompt lengths of the prefills.")
    ] = "16,64,256,1024,2048",
    batches: Annotated[
        str, typer.Option(metavar="N,N,...", help="Sequences in a pass.")
    ] = "1,4,16",
    contexts: Annotated[
        str, typer.Option(metavar="N,N,...", help="Tokens in the cache before a step.")
    ] = "128,512,2048",
    steps: Annotated[
        str,
        typer.Option(metavar="N,N,...", help="New tokens a step: 1 decodes, more verify drafts."),
    ] = "1,8",
    warm_up: Annotated[int, typer.Option(min=0, help="Passes before the timed ones.")] = 3,
    repeats: Annotated[int, typer.Option(min=1, help="Passes timed; the median counts.")] = 15,
    most_seconds: Annotated[
        float, typer.Option(min=0, help="No further repeat of a pass after that long.")
    ] = 10.0,
    threads: Annotated[
        int | None, typer.Option(min=1, help="CPU threads (default: PyTorch's choice).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the random weights.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the output file.")] = False,
) -> Exit:
    """Time prefills and decode steps of a decoder with random weights on this machine.

    Nothing is downloaded. What does not fit in memory is skipped and said. Exit code 0: done; 2:
    bad usage or input.
    """
    sizes = sweep(*(_numbers(text) for text in (lengths, batches, contexts, steps)))
    if importlib.util.find_spec("torch") is None:
        raise InputError(_MISSING)
    from . import timing

    build = _build(model, timing.use_device(device, threads), dtype, layers, as_counted)
    timing.check_room(build)
    file = PassesFile(output, _header(build, timing.describe_device(build.device)), resume)
    effort = timing.Effort(warm_up, repeats, most_seconds)
    left = [size for size in sizes if size not in file.done]
    skipped = 0
    for timed in timing.time_passes(build, left, effort, seed):
        skipped += timed.skipped is not None
        print(_line(timed), file=sys.stderr)
        if timed.skipped is None:
            file.add(timed.size, timed.seconds, timed.spread_seconds, timed.repeats)
    print(f"{len(sizes) - skipped} passes in {output}, {skipped} skipped", file=sys.stderr)
    print(f"next: python -m instances.calibrate {output}", file=sys.stderr)
    return Exit.HELD


def _build(
    given: str, device: str, dtype: str | None, layers: int | None, as_counted: bool
) -> Build:
    from .decoder import Build

    shape = catalog.find_model(given, true_kv_heads=not as_counted)
    matrices = 2 if as_counted else catalog.ffn_matrices(given)
    if layers is not None and layers > shape.layers:
        raise InputError(f"--layers: {given} has only {shape.layers}")
    usual = "float32" if device == "cpu" else "float16"
    return Build(shape, layers or shape.layers, matrices, device, dtype or usual)


def _header(build: Build, device: dict[str, str]) -> dict[str, str]:
    """Return what the file of passes says above its rows."""
    return {
        "model": build.shape.model_dump_json(exclude_none=True),
        "ffn_matrices": str(build.ffn_matrices),
        "layers_timed": str(build.layers),
        "dtype": build.dtype,
        "bytes_per_value": str(build.bytes_per_value),
        **device,
        "date": datetime.now(UTC).date().isoformat(),
    }


def _line(timed: Timed) -> str:
    """Return what is said of one pass."""
    size = timed.size
    people = "1 sequence" if size.sequences == 1 else f"{size.sequences} sequences"
    what = f"{people} × {size.new} new, {size.context} cached"
    if timed.skipped is not None:
        return f"{what}: skipped, {timed.skipped}"
    milliseconds, spread = 1e3 * timed.seconds, 1e3 * timed.spread_seconds
    return f"{what}: {milliseconds:.4g} ms (quartiles {spread:.2g} ms apart, {timed.repeats} times)"


COMMAND = commandline.Command(
    main, "instances.measure", "--model opt-125m --layers 2 --output p.csv"
)

if __name__ == "__main__":
    COMMAND.run()
