"""Measured forward passes: how much work each did, what it took, and the CSV they are kept in."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from .files import InputError, describe, read_text
from .model import LARGEST_COUNT, Transformer
from .workload import linear_flops, prefill_flops, verify_flops

#: Columns of a file of passes; the first and either `tokens` or `flops` must be there.
COLUMNS = ("seconds", "tokens", "flops", "sequences", "context")


class Size(NamedTuple):
    """How large a pass is: sequences, new tokens of each, and tokens of each in the cache."""

    sequences: int
    new: int
    context: int


@dataclass(frozen=True)
class Pass:
    """One forward pass as it was timed.

    Parameters
    ----------
    seconds : float
        What it took.
    tokens : int or None
        New tokens of all sequences together; None where only `flops` is known.
    sequences : int
        Sequences in the pass, each with as many new tokens.
    context : int
        Tokens of each sequence that were in the cache before.
    flops : float or None
        FLOP, where the file states them.
    """

    seconds: float
    tokens: int | None = None
    sequences: int = 1
    context: int = 0
    flops: float | None = None


@dataclass(frozen=True)
class Measurements:
    """The passes of one model on one device.

    Parameters
    ----------
    source : str
        Where they were read.
    passes : tuple of Pass
    model : Transformer, optional
        The model as it ran, with its own key/value heads.
    ffn_matrices : int
        Matrices of its feed-forward network, 2 or 3.
    attention : bool
        Whether the attention itself is in the times (not in Vidur's profiles).
    server : dict
        What is known of an instance's ``hardware`` section beside α and β.
    about : dict
        Device, number format, versions, date, as the file states them.
    notes : tuple of str
        What was left out.
    """

    source: str
    passes: tuple[Pass, ...]
    model: Transformer | None = None
    ffn_matrices: int = 2
    attention: bool = True
    server: dict[str, str | int] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def counted_flops(measured: Measurements, true_kv_heads: bool = False) -> list[float]:
    """Return the FLOP that the paper's formulas, and so an instance, count for each pass.

    ``sequences × Γ^p(n)`` without a context, ``sequences × Γ^v(P, n)`` after one (a decode step
    at n = 1). Two matrices in the feed-forward network, and as many key/value heads as heads unless
    the instance keeps the `true_kv_heads`.
    """

    def count(model: Transformer, tokens: int, context: int) -> int:
        shape = model if true_kv_heads else model.model_copy(update={"kv_heads": None})
        if not measured.attention:
            return shape.layers * tokens * linear_flops(shape)
        if context == 0:
            return prefill_flops(shape, tokens)
        return verify_flops(shape, context, tokens)

    return [_flops(measured, one, count) for one in measured.passes]


def executed_flops(measured: Measurements) -> list[float]:
    """Return the FLOP that the model really does in each pass.

    Causal attention, its own key/value heads and all matrices of its feed-forward network.
    """

    def count(model: Transformer, tokens: int, context: int) -> int:
        more = 2 * (measured.ffn_matrices - 2) * model.hidden_size * model.intermediate_size
        work = tokens * model.layers * more
        if not measured.attention:
            return work + model.layers * tokens * linear_flops(model)
        return work + verify_flops(model, context, tokens)

    return [_flops(measured, one, count) for one in measured.passes]


def select(
    measured: Measurements,
    from_tokens: int | None = None,
    to_tokens: int | None = None,
    to_context: int | None = None,
) -> Measurements:
    """Return only the passes of some sizes, both ends included.

    Raises
    ------
    InputError
        If no pass is left, or the file states FLOP but no tokens to select by.
    """
    low, high, most = from_tokens or 0, to_tokens or math.inf, to_context
    if low == 0 and high == math.inf and most is None:
        return measured
    if any(one.tokens is None for one in measured.passes):
        raise InputError(f"{measured.source}: has no column tokens to select passes by")
    passes = tuple(
        one
        for one in measured.passes
        if low <= (one.tokens or 0) <= high and (most is None or one.context <= most)
    )
    if not passes:
        count = len(measured.passes)
        raise InputError(f"{measured.source}: none of its {count} passes is of that size")
    return replace(measured, passes=passes)


def _flops(
    measured: Measurements, one: Pass, count: Callable[[Transformer, int, int], int]
) -> float:
    if one.flops is not None or one.tokens is None:
        return one.flops or 0.0
    if measured.model is None:
        raise InputError(f"{measured.source}: does not say of which model; name its --model")
    return float(one.sequences * count(measured.model, one.tokens // one.sequences, one.context))


def read_passes(path: str | Path) -> Measurements:
    """Return the passes in a CSV file.

    Parameters
    ----------
    path : str or Path
        Columns: ``seconds`` and ``tokens`` (new tokens of the whole pass) or ``flops``; optional
        ``sequences`` (1 without) and ``context`` (0 without); others are not read. Lines
        ``# key: value`` above the header are read as `python -m instances.measure` writes them.

    Raises
    ------
    InputError
        In one line: the file, the line, the column, what is wrong.
    """
    path = Path(path)
    lines = read_text(path).splitlines()
    head = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    about = dict(_comments(lines[:head]))
    passes = tuple(_rows(path, lines, head))
    if not passes:
        raise InputError(f"{path}: holds no passes below its header")
    return _with_header(path, passes, about)


def _comments(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        key, colon, value = line.lstrip("# ").partition(":")
        if colon:
            yield key.strip(), value.strip()


def _rows(path: Path, lines: list[str], head: int) -> Iterator[Pass]:
    rows = csv.DictReader(StringIO("\n".join(lines[head:])), skipinitialspace=True)
    names = [name.strip() for name in rows.fieldnames or []]
    rows.fieldnames = names
    if "seconds" not in names or not {"tokens", "flops"} & set(names):
        found = ", ".join(names)[:200] or "none"
        raise InputError(
            f"{path}: line {head + 1}: needs the columns seconds and tokens (or flops); has {found}"
        )
    for row in rows:
        yield _pass(Row(path, head + rows.line_num, row))


@dataclass(frozen=True)
class Row:
    """One line of a CSV file, whose cells are read as numbers or refused by line and column."""

    path: Path
    line: int
    cells: dict[str, str | None]

    def number(self, column: str) -> float:
        """Return a cell as a finite number above 0."""
        text = self.cells.get(column)
        try:
            value = float(text or "")
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            raise self.fault(column, "must be a number above 0")
        return value

    def count(self, column: str, least: int = 1) -> int:
        """Return a cell as a whole number of at least `least`."""
        text = (self.cells.get(column) or "").strip()
        if not (text.isascii() and text.isdigit() and least <= int(text[:20]) <= LARGEST_COUNT):
            raise self.fault(column, f"must be a whole number from {least} to {LARGEST_COUNT}")
        return int(text)

    def fault(self, column: str, message: str) -> InputError:
        """Return the error that names file, line, column and what was found there."""
        text = self.cells.get(column)
        found = "nothing" if text is None else repr(text[:40])
        return InputError(f"{self.path}: line {self.line}, column {column}: {message}, not {found}")


def _pass(row: Row) -> Pass:
    flops = row.number("flops") if "flops" in row.cells else None
    tokens = row.count("tokens") if "tokens" in row.cells else None
    sequences = row.count("sequences") if "sequences" in row.cells else 1
    context = row.count("context", least=0) if "context" in row.cells else 0
    if tokens is not None and tokens % sequences:
        raise row.fault("tokens", f"must be a multiple of the row's {sequences} sequences")
    return Pass(row.number("seconds"), tokens, sequences, context, flops)


def _with_header(path: Path, passes: tuple[Pass, ...], about: dict[str, str]) -> Measurements:
    """Return the passes with what the comment lines say of model, device and server."""
    model = _model(path, about.pop("model", None))
    timed = _whole(path, about, "layers_timed", model.layers if model else 1, least=1)
    notes: tuple[str, ...] = ()
    if model and timed != model.layers:
        share = model.layers / timed
        passes = tuple(replace(one, seconds=one.seconds * share) for one in passes)
        notes = (f"{timed} of {model.layers} layers were timed; times are scaled to all",)
    matrices = _whole(path, about, "ffn_matrices", 2)
    known = [key for key in ("memory_bytes", "bytes_per_value") if key in about]
    server: dict[str, str | int] = {key: _whole(path, about, key, 0) for key in known}
    if "device" in about:
        server["name"] = about["device"]
    return Measurements(str(path), passes, model, matrices, server=server, about=about, notes=notes)


def _model(path: Path, text: str | None) -> Transformer | None:
    if text is None:
        return None
    try:
        return Transformer.model_validate_json(text)
    except ValidationError as error:
        raise InputError(f"{path}: # model: {describe(error)}") from None


def _whole(path: Path, about: dict[str, str], key: str, default: int, least: int = 0) -> int:
    text = about.pop(key, str(default))
    if not (text.isascii() and text.isdigit() and int(text[:20]) >= least):
        raise InputError(f"{path}: # {key}: must be a whole number above {least - 1}, not {text!r}")
    return int(text)
