"""Request-length traces: one reader for the public forms, which counts every row it drops."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from .files import InputError, read_text
from .model import LARGEST_COUNT

#: The trace that the package ships: synthetic, in Azure's form.
SYNTHETIC = Path(__file__).parent / "data" / "synthetic_requests.csv"


@dataclass(frozen=True)
class Form:
    """A public trace's column names; `time_unit_s` is what a bare number in `time` counts."""

    name: str
    input: str
    output: str
    time: str
    time_unit_s: float = 1.0


#: Forms by their columns; matching ignores case, blanks and underscores.
FORMS = (
    Form("Azure", "ContextTokens", "GeneratedTokens", "TIMESTAMP"),
    Form("BurstGPT", "Request tokens", "Response tokens", "Timestamp"),
    Form("vidur", "num_prefill_tokens", "num_decode_tokens", "arrived_at"),
    Form("Mooncake", "input_length", "output_length", "timestamp_ms", 1e-3),
    Form("Mooncake", "input_length", "output_length", "timestamp", 1e-3),
    Form("plain", "input_tokens", "output_tokens", "arrival_s"),
)


@dataclass(frozen=True)
class Request:
    """One kept row: lengths in tokens, arrival in seconds since the first kept time.

    `deadline_s` is there where the file has a column of that name, in seconds from the arrival.
    """

    input_tokens: int
    output_tokens: int
    arrival_s: float | None
    deadline_s: float | None = None


@dataclass(frozen=True)
class Trace:
    """A file's requests and what became of its rows.

    Attributes
    ----------
    name : str
        The file's name.
    form : str
        Whose form it has.
    requests : tuple of Request
        The rows kept, in the file's order.
    rows : int
        Rows below the header.
    dropped : dict
        Rows dropped by reason; together with the kept ones they make `rows`.
    """

    name: str
    form: str
    requests: tuple[Request, ...]
    rows: int
    dropped: dict[str, int]

    def report(self) -> str:
        """One line: rows read, kept, and dropped by reason."""
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.dropped.items())
        lost = self.rows - len(self.requests)
        return (
            f"{self.name} ({self.form}): {self.rows} rows, {len(self.requests)} kept, "
            f"{lost} dropped" + (f": {reasons}" if reasons else "")
        )


class _Dropped(Exception):
    """Why a row is of no use."""


def read_trace(path: str | Path, max_tokens: int | None = None) -> Trace:
    """Return the requests in a CSV or JSON-lines trace.

    Parameters
    ----------
    path : str or Path
        A file in one of `FORMS`; ``.jsonl`` means one JSON object a line.
    max_tokens : int, optional
        Drop requests whose input and output together are longer, such as a model's context.

    Returns
    -------
    Trace
        Rows that are dropped are counted as ``unreadable`` (a length that is no whole number, or
        missing; a deadline that is no positive number), ``zero input``, ``zero output`` or
        ``too long``. A time that cannot be read costs the request its `arrival_s`, nothing else.

    Raises
    ------
    InputError
        In one line: the file, the line or the columns, what is wrong; also if no row is usable.
    """
    path = Path(path)
    read = _json_lines if path.suffix.lower() == ".jsonl" else _csv
    form, rows = read(path, read_text(path))
    requests, dropped = [], Counter[str]()
    for row in rows:
        try:
            requests.append(_request(row, form, max_tokens))
        except _Dropped as reason:
            dropped[str(reason)] += 1
    trace = Trace(
        path.name, form.name, _since_first(requests), len(rows), dict(sorted(dropped.items()))
    )
    if not requests:
        raise InputError(f"{path}: holds no usable request ({trace.report()})")
    return trace


def cached_trace(path: str | Path) -> Trace:
    """Return `read_trace(path)`, read again only when the file has changed."""
    try:
        stat = Path(path).stat()
    except (OSError, ValueError):
        return read_trace(path)  # tells what is wrong
    return _cached(Path(path), stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _cached(path: Path, changed_ns: int, size: int) -> Trace:
    return read_trace(path)


def _plain(name: Any) -> str:
    return str(name).strip().casefold().replace(" ", "").replace("_", "")


def _form(path: Path, columns: list[str]) -> Form:
    """Return the form whose columns are there, one whose time column is there if possible."""
    there = {_plain(column) for column in columns}
    fitting = [f for f in FORMS if _plain(f.input) in there and _plain(f.output) in there]
    if not fitting:
        wanted = "; ".join(dict.fromkeys(f"{f.input}, {f.output} ({f.name})" for f in FORMS))
        found = ", ".join(columns)
        raise InputError(f"{path}: line 1: has the columns {found[:200]}; expected {wanted}")
    return next((f for f in fitting if _plain(f.time) in there), fitting[0])


Row = dict[str, Any]


def _csv(path: Path, text: str) -> tuple[Form, list[Row]]:
    lines = csv.reader(text.splitlines())
    try:
        header = next(lines)
        form, names = _form(path, header), [_plain(column) for column in header]
        return form, [dict(zip(names, line, strict=False)) for line in lines if line]
    except csv.Error as error:
        raise InputError(f"{path}: line {lines.line_num}: not CSV ({error})") from None


def _json_lines(path: Path, text: str) -> tuple[Form, list[Row]]:
    rows = [{_plain(key): value for key, value in row.items()} for row in _json_objects(path, text)]
    return _form(path, list(rows[0])), rows


def _json_objects(path: Path, text: str) -> Iterator[Row]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise InputError(f"{path}: line {number}: not a JSON object")
        yield row


def _request(row: Row, form: Form, max_tokens: int | None) -> Request:
    tokens = _count(row.get(_plain(form.input))), _count(row.get(_plain(form.output)))
    if tokens[1] == 0:  # a request that failed; BurstGPT gives it no input either
        raise _Dropped("zero output")
    if tokens[0] == 0:
        raise _Dropped("zero input")
    if max(tokens) > LARGEST_COUNT or (max_tokens is not None and sum(tokens) > max_tokens):
        raise _Dropped("too long")
    arrival = _seconds(row.get(_plain(form.time)), form.time_unit_s)
    return Request(*tokens, arrival, _deadline(row.get(_plain("deadline_s"))))


def _count(value: Any) -> int:
    """Return a whole number ≥ 0, written as 7, 7.0 or "7"."""
    number = _number(value)
    if number < 0 or number != int(number):
        raise _Dropped("unreadable")
    return int(number)


def _deadline(value: Any) -> float | None:
    """Return a deadline in seconds; None where the file gives none."""
    if value is None or value == "":
        return None
    seconds = _number(value)
    if seconds <= 0:
        raise _Dropped("unreadable")
    return seconds


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _Dropped("unreadable") from None
    if not math.isfinite(number):
        raise _Dropped("unreadable")
    return number


def _seconds(value: Any, unit_s: float) -> float | None:
    """Return a time as seconds from some origin: a bare number, or an ISO date and time."""
    try:
        return float(value) * unit_s
    except (TypeError, ValueError, OverflowError):
        pass
    try:
        moment = datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()


def _since_first(requests: list[Request]) -> tuple[Request, ...]:
    times = [r.arrival_s for r in requests if r.arrival_s is not None]
    origin = times[0] if times else 0.0
    return tuple(
        r if r.arrival_s is None else replace(r, arrival_s=round(r.arrival_s - origin, 6))
        for r in requests
    )
