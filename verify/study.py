"""Studies: a grid over any fields of an instance × algorithms × seeds, written as a TOML file.

.. code-block:: toml

    title = "Throughput over the number of users"
    algorithms = ["balance", "ad-only", "optimum"]
    seeds = "1-20"

    [instances]                    # what stays fixed: a source, and names of `study_fields`
    family = "paper-4a"            # or files = ["a.json", "b.json"], or trace = "requests.csv"
    "deadline_s.max" = 6

    [grid]                         # what varies: name = [values]; every combination is a point
    users = [20, 40, 60]
    hardware.memory_bytes = [16_000_000_000, 24_000_000_000]

    [plot]                         # all optional
    x = "users"                    # a name of the grid; its first if left out
    y = ["throughput", "cpu_s"]    # a picture for each of `study_rows.MEASURES`
    log = ["cpu_s"]
    labels = { balance = "BALANCE" }

    [quick]                        # what --quick cuts down; two seeds if left out
    seeds = [1]
    grid = { users = [20, 40] }

Algorithms are the names of `heuristics.algorithms`, ``"printed"`` (Algorithm 3 with the printed
memory), ``"optimum"`` (the fastest exact solver), any solver of `formulations.solver_names` (with a
formulation: ``"highs@compact"``), or ``"module:function"``. `problem` is what exact solvers solve.

``--output`` gets ``rows.csv``, ``summary.json``, pictures (extra ``plot``) and the rows as
``rows.parquet`` (extra ``parquet``).

From Python, in three steps that ``verify.paper`` takes too::

    study = load("figure-4a")           # a path, or the name of a study that is shipped
    rows = run(study, workers)          # `study_run.run`: one dict a (point, seed, algorithm)
    cells = summarise(study, rows)      # `study_stats`: means, 95 % confidence, gains
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from instances import InputError, Problem
from instances.files import describe, read_text

from .bench_cases import integers
from .study_fields import build, flat
from .study_work import find

#: The studies that are shipped.
SHIPPED = Path(__file__).parent / "studies"

Measure = Literal["throughput", "objective", "cpu_s", "wall_s", "latency_s", "memory_bytes"]


def _flat(value: Any) -> Any:
    return flat(value) if isinstance(value, dict) else value


def _seeds(value: Any) -> Any:
    """Read ``"1-20"`` as the numbers that it means."""
    try:
        return integers([value], "") if isinstance(value, str) else value
    except InputError as error:
        raise ValueError(str(error).removeprefix(": ")) from None


Settings = Annotated[dict[str, Any], BeforeValidator(_flat)]
Grid = Annotated[dict[str, Annotated[list[Any], Field(min_length=1)]], BeforeValidator(_flat)]
Seeds = Annotated[list[Annotated[int, Field(ge=0)]], BeforeValidator(_seeds), Field(min_length=1)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Plot(_Table):
    """What the pictures show.

    Parameters
    ----------
    x : str, optional
        A name of the grid; the first if left out. The others give a curve for each value.
    y : list of str
        Measures, one picture for each.
    log : list of str
        Axes with a logarithmic scale: ``"x"`` or measures.
    xlabel : str, optional
    labels : dict of str to str
        What the legend calls an algorithm.
    """

    x: str | None = None
    y: list[Measure] = ["throughput"]
    log: list[str] = []
    xlabel: str | None = None
    labels: dict[str, str] = {}


class Quick(_Table):
    """What is left of the seeds and of some axes of the grid in a quick run."""

    seeds: Seeds | None = None
    grid: Grid = {}


class Study(_Table):
    """A grid over instances × algorithms × seeds; see this module's example.

    Parameters
    ----------
    name : str
        Of its file, without the suffix.
    title : str
    instances : dict of str to JSON data
        The source and what stays fixed, names as in `study_fields`.
    grid : dict of str to list
        What varies.
    algorithms : list of str
    seeds : list of int
        Instances of each point; files have none.
    problem : {"P1", "P2"}
        What exact solvers solve.
    time_limit : float
        Seconds for one algorithm on one instance.
    plot : Plot
    quick_run : Quick
        The file's table ``quick``.
    """

    name: str = "study"
    title: Annotated[str, Field(min_length=1)]
    instances: Settings
    grid: Grid = {}
    algorithms: Annotated[list[str], Field(min_length=1)]
    seeds: Seeds = list(range(1, 11))
    problem: Problem = "P1"
    time_limit: Annotated[float, Field(gt=0)] = 60.0
    plot: Plot = Plot()
    quick_run: Annotated[Quick, Field(alias="quick")] = Quick()

    @model_validator(mode="after")
    def _consistent(self) -> Study:
        sources = [name for name in ("family", "files") if name in self.instances]
        if len({*sources, *({"family"} & self.grid.keys())}) != 1:
            raise ValueError("instances: needs a family, a trace or a list of files, one of them")
        if not isinstance(self.instances.get("files", ["-"]), list) or not self.draws():
            raise ValueError("instances.files: must be a list of instance files")
        for name in {"seed", "file", "files"} & {*self.grid, *(self.instances.keys() - {"files"})}:
            raise ValueError(f"{name}: belongs to the study's own seeds, or to instances.files")
        for name in self.grid.keys() & self.instances.keys():
            raise ValueError(f"grid.{name}: stands in instances too")
        for name in self.quick_run.grid.keys() - self.grid.keys():
            raise ValueError(f"quick.grid.{name}: is not in grid")
        if self.plot.x is not None and self.plot.x not in self.grid:
            raise ValueError(f"plot.x: {self.plot.x!r} is not in grid")
        if self.problem == "P3":
            raise ValueError("problem: must be P1 or P2 (found P3)")
        lists: dict[str, list[Any]] = {"algorithms": self.algorithms, "seeds": self.seeds}
        lists |= {f"grid.{name}": values for name, values in self.grid.items()}
        for place, values in lists.items():
            twice = [value for turn, value in enumerate(values) if value in values[:turn]]
            if twice:
                raise ValueError(f"{place}: {twice[0]!r} occurs more than once")
        return self

    def __len__(self) -> int:
        """Return how many runs the study has: points × instances × algorithms."""
        points = math.prod(len(values) for values in self.grid.values())
        return points * len(self.draws()) * len(self.algorithms)

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield every combination of the grid's values by name, the last name fastest."""
        for values in itertools.product(*self.grid.values()):
            yield dict(zip(self.grid, values, strict=True))

    def draws(self) -> list[dict[str, Any]]:
        """Return what tells the instances of a point apart: ``seed``, or ``file``."""
        if "files" in self.instances:
            return [{"file": path} for path in self.instances["files"]]
        return [{"seed": seed} for seed in self.seeds]

    def settings(self, point: dict[str, Any], draw: dict[str, Any]) -> dict[str, Any]:
        """Return what `study_fields.build` makes an instance of a point from."""
        fixed = {name: value for name, value in self.instances.items() if name != "files"}
        return {**fixed, **point, **draw}

    def quick(self) -> Study:
        """Return the study cut down to what its table ``quick`` says; by default two seeds."""
        seeds = self.quick_run.seeds or self.seeds[:2]
        return self.model_copy(update={"seeds": seeds, "grid": self.grid | self.quick_run.grid})

    def with_seeds(self, text: str) -> Study:
        """Return the study on other seeds, such as ``"1-20"``.

        Raises
        ------
        InputError
            If the text is no list of counts and ranges.
        """
        return self.model_copy(update={"seeds": integers([text], "--seeds")})


def shipped() -> tuple[str, ...]:
    """Return the names of the studies that are shipped."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.toml")))


def load(path: str | Path) -> Study:
    """Return the study in a TOML file, every setting tried once.

    Parameters
    ----------
    path : str or Path
        A file, or the name of a study that is `shipped`. Files that it names count from its folder.

    Raises
    ------
    InputError
        In one line: the file, the key, what is wrong.
    """
    path = Path(path)
    if str(path) in shipped() and not path.exists():
        path = SHIPPED / f"{path}.toml"
    if not path.exists():
        raise InputError(f"{path}: no such file, and no study is called so: {', '.join(shipped())}")
    try:
        document = tomllib.loads(read_text(path))
        study = Study.model_validate(_completed(document, path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    except ValidationError as error:
        raise InputError(f"{path}: {describe(error, document)}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    _try(study, path)
    return study


def _completed(document: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the file's table with a name, whole paths, and the family that a trace implies."""
    _refuse_infinite(document, "")
    instances = document.get("instances")
    if isinstance(instances, dict):
        instances = _whole_paths(flat(instances), path.parent)
        if "trace" in instances:
            instances.setdefault("family", "trace")
        document = {**document, "instances": instances}
    return {"name": path.stem, **document}


def _whole_paths(instances: dict[str, Any], folder: Path) -> dict[str, Any]:
    for name in ("trace", "llm", "slm", "gpu"):
        named = instances.get(name)
        if isinstance(named, str) and (name == "trace" or named.endswith(".json")):
            instances[name] = str(folder / named)
    if isinstance(instances.get("files"), list):
        instances["files"] = [str(folder / str(name)) for name in instances["files"]]
    return instances


def _refuse_infinite(value: Any, place: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{place}: must be finite (found {value})")
    if isinstance(value, dict):
        for name, inner in value.items():
            _refuse_infinite(inner, f"{place}.{name}" if place else name)
    if isinstance(value, list):
        for inner in value:
            _refuse_infinite(inner, place)


def _try(study: Study, path: Path) -> None:
    """Find every algorithm and build an instance for each value of each axis, before the run."""
    try:
        place = "algorithms"
        for name in study.algorithms:
            find(name, study.problem)
        place, point = (
            "instances",
            {name: study.grid[name][0] for name in {"family"} & study.grid.keys()},
        )
        for draw in study.draws() if "files" in study.instances else study.draws()[:1]:
            build(study.settings(point, draw))
        for name, values in study.grid.items():
            place = f"grid.{name}"
            for value in reversed(values):  # the first stays, for the axes that follow
                point[name] = value
                build(study.settings(point, study.draws()[0]))
    except InputError as error:
        raise InputError(f"{path}: {place}: {error}") from None
