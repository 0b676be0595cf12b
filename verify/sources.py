"""Where the instances of a run come from: seeded families or files, each named by a short key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from instances import FAMILIES, InputError, Instance, generate, load

#: Stands in a key before the path, where a family's name stands before the seed.
FILE = "file"


@dataclass(frozen=True)
class Sources:
    """The instances of one run, in order, without holding any.

    Parameters
    ----------
    count : int
        How many are drawn; ignored if there are files.
    families : tuple of str
        Drawn in turn: the first of each, then the second of each, ...
    seed : int
        Seed of every family's first instance; the next ones count up.
    users : int, optional
        Users in each; the family's typical numbers if left out.
    trace : str, optional
        A CSV of request lengths for the family ``trace``.
    files : tuple of str
        Instance files, taken instead of drawing.
    """

    count: int = 0
    families: tuple[str, ...] = ()
    seed: int = 0
    users: int | None = None
    trace: str | None = None
    files: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.files) or self.count

    def __iter__(self) -> Iterator[str]:
        """Yield the instances' keys: ``family:seed`` or ``file:path``."""
        if self.files:
            yield from (f"{FILE}:{path}" for path in self.files)
            return
        for position in range(self.count):
            turn, which = divmod(position, len(self.families))
            yield f"{self.families[which]}:{self.seed + turn}"

    def load(self, key: str) -> Instance:
        """Return the instance behind a key.

        Raises
        ------
        InputError
            If its file is no instance, or its family cannot have that many users.
        """
        family, _, rest = key.partition(":")
        if family == FILE:
            return load(rest)
        if family == "trace" and self.trace is not None:
            return generate(family, self.users, int(rest), trace=self.trace)
        return generate(family, self.users, int(rest))


def family_of(key: str) -> str:
    """Return the family in a key; ``"file"`` for a file."""
    return key.partition(":")[0]


def file_of(key: str) -> str | None:
    """Return the path in a file's key; None for a drawn instance."""
    family, _, path = key.partition(":")
    return path if family == FILE else None


def from_files(paths: Sequence[Path]) -> Sources:
    """Return the instances in some files, each read once to see that it is one.

    Raises
    ------
    InputError
        In one line: the first bad file and what is wrong.
    """
    for path in paths:
        load(path)
    return Sources(files=tuple(dict.fromkeys(str(path) for path in paths)))


def drawn(
    count: int,
    families: Sequence[str] = (),
    seed: int = 0,
    users: int | None = None,
    trace: Path | None = None,
) -> Sources:
    """Return seeded instances of some families; of all in turn if none is named.

    Raises
    ------
    InputError
        If a named family does not exist or cannot have that many users, or the trace cannot be
        read.
    """
    if seed < 0:
        raise InputError(f"seed {seed} is negative")
    path = None if trace is None else str(trace)
    named = tuple(dict.fromkeys(families)) or (("trace",) if path else ())
    sources = Sources(count, named or FAMILIES, seed, users, path)
    for family in named:
        sources.load(f"{family}:{seed}")
    return sources
