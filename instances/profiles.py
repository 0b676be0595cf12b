"""Profiles that others published, as measured passes: one reader a form."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from .files import InputError, read_text
from .model import Transformer
from .passes import Measurements, Pass, Row, read_passes

#: Kernels of one layer and how often it runs each; layer norms stand before both halves.
_LAYER = {
    "layernorm": 2,
    "qkv_proj": 1,
    "rotary_emb": 1,
    "o_proj": 1,
    "gate_up_proj": 1,
    "act_fn": 1,
    "down_proj": 1,
}
#: Kernels around the layers, once a pass: by tokens, and by sequences.
_ONCE, _ONCE_A_SEQUENCE = ("embedding", "final_layernorm"), ("lm_head", "sampler")
_VIDUR = ("device", "num_tokens", "non_attention_forward_ms")

Table = dict[tuple[str | int, ...], float]


def read_measurements(
    path: str | Path,
    model: Transformer | None = None,
    ffn_matrices: int | None = None,
    device: str | None = None,
) -> Measurements:
    """Return the passes in a file or folder of any form that is known.

    Parameters
    ----------
    path : str or Path
        A CSV of passes (`read_passes`); a folder with a kernel profile of LLMServingSim
        (``dense.csv``, ``attention.csv``, ``per_sequence.csv``: microseconds, one layer); or
        Vidur's CSV of forward times without attention.
    model : Transformer, optional
        The model that ran, with its own key/value heads; wins over what a file says.
    ffn_matrices : int, optional
        Matrices of its feed-forward network; likewise.
    device : str, optional
        Which device's rows to read where a file holds several.

    Raises
    ------
    InputError
        In one line: the file, the line, the column, what is wrong or must be named.
    """
    path = Path(path)
    if path.is_dir():
        measured = _kernel_profile(path, model)
    elif _columns(path) >= set(_VIDUR):
        measured = _vidur(path, device)
    else:
        measured = read_passes(path)
    changes: dict[str, Any] = {"model": model, "ffn_matrices": ffn_matrices}
    return replace(measured, **{key: value for key, value in changes.items() if value is not None})


def _columns(path: Path) -> set[str]:
    lines = (line for line in read_text(path).splitlines() if not line.startswith("#"))
    return {name.strip() for name in next(lines, "").split(",")}


def _rows(path: Path) -> Iterator[Row]:
    rows = csv.DictReader(StringIO(read_text(path)))
    for row in rows:
        yield Row(path, rows.line_num, row)


def _kernel_profile(folder: Path, model: Transformer | None) -> Measurements:
    """Sum kernel times to passes: prefills of one sequence and decode steps of several.

    Passes that do both at once are left out, as are sizes that not all three files hold.
    """
    if model is None:
        raise InputError(f"{folder}: does not say of which model; name its --model")
    dense = _table(folder / "dense.csv", "layer", "tokens")
    ends = _table(folder / "per_sequence.csv", "layer", "sequences")
    passes, mixed, missing = [], 0, 0
    for row in _rows(folder / "attention.csv"):
        chunk, decoding = row.count("prefill_chunk", 0), row.count("n_decode", 0)
        if chunk and decoding:
            mixed += 1
            continue
        context = row.count("kv_prefill" if chunk else "kv_decode", 0)
        one = Pass(row.number("time_us"), chunk or decoding, decoding or 1, context)
        try:
            passes.append(_whole_pass(one, model.layers, dense, ends))
        except KeyError:
            missing += 1
    if not passes:
        raise InputError(f"{folder}: its three files have no size of a pass in common")
    notes = [f"{mixed} passes that prefill and decode at once are left out"] * bool(mixed)
    notes += [f"{missing} passes whose size is not in all files are left out"] * bool(missing)
    return Measurements(str(folder), tuple(passes), model, 3, notes=tuple(notes))


def _table(path: Path, kernel: str, size: str) -> Table:
    return {
        (row.cells.get(kernel) or "", row.count(size)): row.number("time_us") for row in _rows(path)
    }


def _whole_pass(one: Pass, layers: int, dense: Table, ends: Table) -> Pass:
    """Return a pass of all layers, in seconds, from the microseconds of one layer's attention."""
    assert one.tokens is not None
    layer = one.seconds + sum(times * dense[name, one.tokens] for name, times in _LAYER.items())
    around = sum(dense[name, one.tokens] for name in _ONCE)
    around += sum(ends[name, one.sequences] for name in _ONCE_A_SEQUENCE)
    return replace(one, seconds=1e-6 * (layers * layer + around))


def _vidur(path: Path, device: str | None) -> Measurements:
    by_device = defaultdict(list)
    for row in _rows(path):
        seconds = row.number("non_attention_forward_ms") / 1e3
        by_device[row.cells["device"]].append(Pass(seconds, row.count("num_tokens")))
    if device is None and len(by_device) == 1:
        (device,) = by_device
    if device not in by_device:
        found = ", ".join(sorted(map(str, by_device)))
        raise InputError(f"{path}: holds the devices {found}; choose one with --device")
    return Measurements(
        str(path),
        tuple(by_device[device]),
        ffn_matrices=3,
        attention=False,
        about={"device": str(device)},
        notes=("times without attention: the FLOP leave it out, too",),
    )
