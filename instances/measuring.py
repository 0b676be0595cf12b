"""The sizes of pass that are timed, and the file that every timed one goes into at once."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import product
from pathlib import Path

from .files import InputError, read_text, writing
from .passes import Size

_COLUMNS = ("sequences", "tokens", "context", "seconds", "spread_seconds", "repeats")
#: Lines of a header that may differ where a file is continued.
_FREE = ("date", "versions", "clock")


def sweep(
    lengths: Sequence[int], batches: Sequence[int], contexts: Sequence[int], steps: Sequence[int]
) -> list[Size]:
    """Return the sizes of pass to time, the smallest first.

    Parameters
    ----------
    lengths : sequence of int
        Prompt lengths of the prefills.
    batches : sequence of int
        Sequences in a pass, for prefills and steps alike.
    contexts : sequence of int
        Tokens in the cache before a step.
    steps : sequence of int
        New tokens of each sequence in a step: 1 decodes, more verify drafts.
    """
    prefills = [Size(batch, length, 0) for batch, length in product(batches, lengths)]
    later = [Size(*size) for size in product(batches, steps, contexts)]
    sizes = dict.fromkeys([*prefills, *later])
    return sorted(sizes, key=lambda size: (size.sequences * size.new, size.context, size))


class PassesFile:
    """A CSV of passes under a header of comment lines; each row is on disk as soon as it is added.

    Parameters
    ----------
    path : Path
    header : dict
        What was measured on what.
    resume : bool
        Continue a file that is there, if its header says the same.

    Raises
    ------
    InputError
        If the file is there and is not to be continued, or cannot be written.
    """

    def __init__(self, path: Path, header: dict[str, str], resume: bool = False) -> None:
        self._path = path
        #: Sizes that the file holds already.
        self.done: frozenset[Size] = frozenset()
        if not path.exists():
            head = [f"# {key}: {value}" for key, value in header.items()]
            self._write("w", "\n".join([*head, ",".join(_COLUMNS)]) + "\n")
        elif not resume:
            raise InputError(f"{path}: is there already; --resume continues it")
        else:
            self.done = frozenset(self._continue(header))

    def _continue(self, header: dict[str, str]) -> Iterator[Size]:
        """Yield the sizes of a file's whole rows, having cut off a half-written one."""
        text = read_text(self._path)
        if not text.endswith("\n"):
            text = text[: text.rfind("\n") + 1]
            self._write("w", text)
        lines = text.splitlines()
        for key, value in header.items():
            if key not in _FREE and f"# {key}: {value}" not in lines:
                raise InputError(f"{self._path}: is not of {key} {value}; name another --output")
        rows = csv.DictReader(StringIO("\n".join(x for x in lines if not x.startswith("#"))))
        for row in rows:
            sequences = int(row["sequences"])
            yield Size(sequences, int(row["tokens"]) // sequences, int(row["context"]))

    def add(self, size: Size, seconds: float, spread_seconds: float, repeats: int) -> None:
        """Append one pass."""
        tokens = size.sequences * size.new
        cells = (size.sequences, tokens, size.context, seconds, spread_seconds, repeats)
        self._write("a", ",".join(f"{cell:.7g}" for cell in cells) + "\n")

    def _write(self, mode: str, text: str) -> None:
        with writing(self._path), self._path.open(mode, encoding="utf-8") as file:
            file.write(text)
