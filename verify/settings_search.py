"""A seeded search for the one setting that brings the paper's averages closest.

First settings anywhere in the space, then rounds of settings near the best so far, ever nearer.
The best few are scored again on instances that the search never saw, and the best of those is the
answer: the least of many noisy distances would flatter itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from instances.randomness import Stream

from . import settings_space as space
from .kernels import READY
from .progress import track
from .results import ResultsFile, Row, results_in
from .runner import Task, run
from .settings_score import Averages, score
from .settings_space import Setting
from .workers import Workers, kept

#: Settings that a round's new ones are near to, and that are scored again at the end.
PARENTS, FINALISTS = 8, 8
#: Share of each range within which the first round looks, and by how much the next look closer.
WIDTH, CLOSER = 0.3, 0.65
#: Seed of the first instance that only finalists see.
FRESH_SEED = 1001
#: Stages of a search.
DEFAULT, FINAL = "default", "final"


@dataclass(frozen=True)
class Search:
    """What is searched, and how long.

    Parameters
    ----------
    seed : int
    first, each, rounds : int
        Settings drawn anywhere; settings of each later round, and how many such rounds.
    instances, final_instances : int
        Instances of each point of each figure, in the search and for the finalists.
    fixed : dict
        Values that stay.
    """

    seed: int = 1
    first: int = 150
    each: int = 50
    rounds: int = 5
    instances: int = 2
    final_instances: int = 20
    fixed: Setting = field(default_factory=dict)

    def __len__(self) -> int:
        """Return how many settings are scored."""
        return self.first + self.each * self.rounds + 1 + min(FINALISTS, self.first)

    def to_dict(self) -> dict[str, Any]:
        """Return what decides every row, for the results file."""
        return {**asdict(self), "space": {name: str(d) for name, d in space.SPACE.items()}}


@dataclass(frozen=True)
class Scored:
    """A setting and what it brings.

    Parameters
    ----------
    setting : dict
    averages : dict of str to float
        Percent, by the name of a `Reported`.
    distance : float
        Root mean square of the differences to the paper's, percentage points.
    """

    setting: Setting
    averages: Averages
    distance: float


@dataclass(frozen=True)
class Answer:
    """What a search found, both on the finalists' instances.

    Parameters
    ----------
    default, best : Scored
    tried : int
        Settings scored.
    troubles : list of str
        Settings that could not be scored, and why.
    """

    default: Scored
    best: Scored
    tried: int
    troubles: list[str]


def search(
    asked: Search, workers: Workers, output: Path | None = None, resume: bool = False
) -> Answer:
    """Return the best setting found.

    Parameters
    ----------
    asked : Search
    workers : Workers
    output : Path, optional
        Folder of ``results.jsonl``, to which every scored setting is appended.
    resume : bool
        Whether to keep the rows that are there.

    Raises
    ------
    InputError
        If the results cannot be written or belong to another search.
    WorkersLost
        If the workers do not answer any more.
    """
    with results_in(output, asked.to_dict(), resume) as results, kept(workers) as crew:
        rows = list(track(_rows(asked, crew, results), len(asked), "settings"))
    return _answer(rows)


def _rows(asked: Search, workers: Workers, results: ResultsFile | None) -> Iterator[Row]:
    """Yield every stage's rows; a stage's settings follow from the rows of those before."""
    seeds = list(range(1, asked.instances + 1))
    fresh = list(range(FRESH_SEED, FRESH_SEED + asked.final_instances))
    done: list[Row] = []
    for number in range(asked.rounds + 1):
        stage = [(f"{number}:{i}", (s, seeds)) for i, s in enumerate(_round(asked, number, done))]
        for row in _scored(stage, workers, results, () if number else READY):
            done.append(row)
            yield row
    best = [row["setting"] for row in _best(done, FINALISTS)]
    finals = [(f"{FINAL}:{i}", (setting, fresh)) for i, setting in enumerate(best)]
    yield from _scored([(DEFAULT, (space.DEFAULT, fresh)), *finals], workers, results)


def _scored(
    stage: list[tuple[str, Any]],
    workers: Workers,
    results: ResultsFile | None,
    ready: Sequence[Callable[[], object]] = (),
) -> Iterator[Row]:
    wanted = {key for key, _ in stage}
    tasks = (Task(key, payload) for key, payload in stage)
    rows = run(score, tasks, workers, results, prepare=ready)
    yield from (row for row in rows if row["key"] in wanted)


def _round(asked: Search, number: int, done: Sequence[Row]) -> list[Setting]:
    """Return a round's settings: anywhere at first, then near the best so far."""
    parents = [row["setting"] for row in _best(done, PARENTS)]
    settings = []
    for i in range(asked.each if number else asked.first):
        stream = Stream(f"settings {number}:{i}", asked.seed)
        if parents:
            width = WIDTH * CLOSER ** (number - 1)
            settings.append(space.near(stream.choice(parents), width, stream, asked.fixed))
        else:
            settings.append(space.draw(stream, asked.fixed))
    return settings


def _best(rows: Sequence[Row], count: int) -> list[Row]:
    """Return the rows of least distance, whatever order the workers finished in."""
    good = [row for row in rows if "error" not in row]
    return sorted(good, key=lambda row: (row["distance"], row["key"]))[:count]


def _answer(rows: Sequence[Row]) -> Answer:
    finals = [row for row in rows if row["key"].startswith(FINAL)]
    (default,) = (row for row in rows if row["key"] == DEFAULT)
    troubles = [f"{row['key']}: {row['error']}" for row in rows if "error" in row]
    if "error" in default or not _best(finals, 1):
        raise RuntimeError("; ".join(troubles))
    return Answer(_of(default), _of(_best(finals, 1)[0]), len(rows), troubles)


def _of(row: Row) -> Scored:
    return Scored(row["setting"], row["averages"], row["distance"])
