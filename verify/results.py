"""``results.jsonl``: one line a finished instance, so that a killed run can be resumed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from instances import InputError
from instances.files import writing

Row = dict[str, Any]

SCHEMA = "balance-results/1"


class ResultsFile:
    """Rows on disk: the first line holds the run's configuration, each other line one row.

    Parameters
    ----------
    path : Path
        Made with its folder if it does not exist.
    configuration : dict
        The options that decide what a row says; JSON data.
    resume : bool
        Whether to go on with an existing file.

    Raises
    ------
    InputError
        If the file exists and `resume` is false, was written with another configuration, is no
        results file, or cannot be written.
    """

    def __init__(self, path: Path, configuration: dict[str, Any], resume: bool = False) -> None:
        self.path = path
        header = {"schema": SCHEMA, "configuration": configuration}
        with writing(path):
            self._file: BinaryIO = path.open("a+b", buffering=0)
        if path.stat().st_size and not resume:
            raise InputError(f"{path}: exists; add --resume to go on, or name another --output")
        self._cut_torn_line()
        if path.stat().st_size:
            _compare(path, self._header(), json.loads(json.dumps(header)))
        else:
            self._write(json.dumps(header))

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def rows(self) -> Iterator[Row]:
        """Yield the rows that were there, one at a time.

        Raises
        ------
        InputError
            If a line is not a row.
        """
        with self.path.open("rb") as lines:
            next(lines)
            for number, line in enumerate(lines, 2):
                row = _decoded(line)
                if row is None or "key" not in row:
                    raise InputError(f"{self.path}: line {number}: not a row of results")
                yield row

    def append(self, lines: Iterable[str]) -> None:
        """Write encoded rows; when this returns, they survive the death of this process.

        Raises
        ------
        InputError
            If the file cannot be written any more.
        """
        self._write("\n".join(lines))

    def _write(self, text: str) -> None:
        data = memoryview(f"{text}\n".encode())
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:  # a full disk
            raise InputError(f"{self.path}: cannot be written ({error.strerror})") from None

    def _cut_torn_line(self) -> None:
        """Cut off what follows the last newline: the row that was being written at the end."""
        end = size = self._file.seek(0, 2)
        while end:
            start = max(0, end - 65536)
            self._file.seek(start)
            newline = self._file.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            self._file.truncate(end)

    def _header(self) -> Row | None:
        with self.path.open("rb") as lines:
            return _decoded(next(lines))


def _decoded(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def _compare(path: Path, found: Row | None, wanted: Row) -> None:
    if found is None or found.get("schema") != SCHEMA:
        raise InputError(f"{path}: is not a results file of this toolkit")
    old, new = found.get("configuration", {}), wanted["configuration"]
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            raise InputError(
                f"{path}: was begun with {name} = {json.dumps(old.get(name))}, not "
                f"{json.dumps(new.get(name))}; resume with the same options or name another "
                "--output"
            )


@contextmanager
def results_in(
    folder: Path | None, configuration: dict[str, Any], resume: bool
) -> Iterator[ResultsFile | None]:
    """Provide the file ``results.jsonl`` of a folder; None without a folder.

    Raises
    ------
    InputError
        As `ResultsFile` does.
    """
    if folder is None:
        yield None
        return
    with ResultsFile(folder / "results.jsonl", configuration, resume) as results:
        yield results
