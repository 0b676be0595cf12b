"""`Rows`: a mixed-integer program as plain data, with integer coefficients of any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from instances.assignment import AD, SD

Term = tuple[int, int]  # column, coefficient


class Row(NamedTuple):
    """``Σ coefficient * column <= limit``, or ``=`` where `equal`."""

    terms: tuple[Term, ...]
    limit: int
    equal: bool = False


@dataclass
class Rows:
    """Maximise ``Σ objective * column`` subject to rows; every column is at least 0.

    Attributes
    ----------
    users : int
        Number of users K.
    upper, integer, objective : list
        Per column: upper bound, whether it must be whole, objective coefficient.
    rows : list of Row
    ad, sd : dict
        Column of each user's binary in the mode; users not allowed in a mode have none.
    levels : dict
        By mode (0: AD, 1: SD) and threshold, where its levels have columns: each level's rank and
        the terms that are 1 if it is chosen, else 0.
    """

    users: int
    upper: list[int] = field(default_factory=list)
    integer: list[bool] = field(default_factory=list)
    objective: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    ad: dict[int, int] = field(default_factory=dict)
    sd: dict[int, int] = field(default_factory=dict)
    levels: dict[tuple[int, int], list[tuple[int, list[Term]]]] = field(default_factory=dict)

    def binary(self, objective: int = 0) -> int:
        """Add a 0-1 column and return its index."""
        return self._column(1, True, objective)

    def continuous(self, upper: int) -> int:
        """Add a column in [0, upper] and return its index."""
        return self._column(upper, False, 0)

    def _column(self, upper: int, integer: bool, objective: int) -> int:
        self.upper.append(upper)
        self.integer.append(integer)
        self.objective.append(objective)
        return len(self.upper) - 1

    def at_most(self, terms: Iterable[Term], limit: int) -> None:
        """Add ``Σ terms <= limit``; coefficients of 0 are left out."""
        self.rows.append(Row(tuple(term for term in terms if term[1]), limit))

    def exactly(self, terms: Iterable[Term], value: int) -> None:
        """Add ``Σ terms = value``."""
        self.rows.append(Row(tuple(terms), value, equal=True))

    def forbid(self, ad: Iterable[int], sd: Iterable[int], limit: int) -> None:
        """Add a cover cut: at most `limit` of these users in these modes together."""
        columns = [self.ad[int(k)] for k in ad] + [self.sd[int(k)] for k in sd]
        self.at_most([(column, 1) for column in columns], limit)

    def count(self, value: NDArray[np.int64]) -> None:
        """Let every user count by its value."""
        for columns in (self.ad, self.sd):
            for user, column in columns.items():
                self.objective[column] = int(value[user])

    def with_cutoff(self, objective: int) -> Rows:
        """Return these rows and one more: an objective of at least so much."""
        extended = replace(self, rows=[*self.rows])
        columns = (*self.ad.values(), *self.sd.values())
        extended.at_most([(column, -self.objective[column]) for column in columns], -objective)
        return extended

    @property
    def most(self) -> int:
        """The objective if everybody who is allowed in some mode is served."""
        return sum(self.objective[column] for column in (self.ad | self.sd).values())

    def worth(self, modes: NDArray[np.int8]) -> int:
        """Return the objective of a choice of modes."""
        columns = self.ad | self.sd  # a user counts the same in both
        return sum(self.objective[columns[k]] for k in np.flatnonzero(modes).tolist())

    def modes(self, values: NDArray[np.float64]) -> NDArray[np.int8]:
        """Return each user's mode in a solution, its binaries rounded to the nearest integer."""
        modes = np.zeros(self.users, np.int8)
        for mode, columns in ((AD, self.ad), (SD, self.sd)):
            for user, column in columns.items():
                if round(values[column]) == 1:
                    modes[user] = mode
        return modes


def merged(terms: Sequence[Term]) -> list[Term]:
    """Return the terms with one coefficient a column; zeros left out."""
    total: dict[int, int] = {}
    for column, factor in terms:
        total[column] = total.get(column, 0) + factor
    return [(column, factor) for column, factor in total.items() if factor]
