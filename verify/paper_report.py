"""The evaluation's report: files of every figure, an HTML page, Markdown, and lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from instances import commandline
from instances.commandline import Exit
from instances.pictures import has_matplotlib

from . import paper_figures, paper_html, study_report
from .bench_protocol import machine, versions
from .paper_run import Recomputed
from .paper_tables import Grid, averages_table, point_rows, points_table, speedup_table
from .settings_space import DEFAULT, SPACE
from .study_rows import to_csv

TITLE = "The evaluation of BALANCE, recomputed"
RULES = (
    "An average is the mean, over a figure's points, of (mean served by one algorithm) / (mean "
    "served by the other) - 1; ± is the jackknife's 95 % confidence over seeds.",
    "Bands in the pictures are Student's 95 % confidence of the mean over instances.",
    "Every schedule was rechecked in exact arithmetic; the optimum is P1's, certified.",
    "Times are CPU seconds of one call in a warm process, Algorithm 3's start included.",
)


@dataclass(frozen=True)
class Evaluation:
    """All that was recomputed.

    Parameters
    ----------
    found : list of Recomputed
    command : str
        The command line that does it again.
    """

    found: Sequence[Recomputed]
    command: str

    @property
    def violations(self) -> list[str]:
        """Wrong answers and broken claims."""
        return [line for one in self.found for line in one.violations]

    @property
    def open(self) -> list[str]:
        """Runs without an answer and optima without a proof."""
        return [line for one in self.found for line in one.open]

    @property
    def verdict(self) -> Exit:
        """Whether all held, something is wrong, or something is open."""
        if self.violations:
            return Exit.VIOLATION
        return Exit.UNDECIDED if self.open or not self.found else Exit.HELD

    @property
    def closing(self) -> str:
        """One line that says PASS, FAIL or UNDECIDED, and what of."""
        runs = sum(len(one.rows) for one in self.found)
        compared = sum(one.checked.comparisons for one in self.found)
        if self.violations:
            return f"FAIL: {len(self.violations)} violations in {runs} runs"
        if self.verdict is Exit.UNDECIDED:
            return f"UNDECIDED: {len(self.open)} of {runs} runs are open; the others hold"
        return (
            f"PASS: {runs} answers hold in exact arithmetic; BALANCE between its baselines and "
            f"the certified optimum in all {compared} comparisons"
        )


def save_figure(one: Recomputed, output: Path) -> None:
    """Write a figure's rows, points, summary and pictures into its folder.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    folder = output / one.study.name
    study_report.save(one.study, one.rows, folder)
    commandline.write(folder / "points.csv", to_csv(point_rows(one)))
    if has_matplotlib():
        paper_figures.save_gains(one.figure, one.study, one.rows, folder)


def save(evaluation: Evaluation, output: Path, settings: dict[str, Any] | None = None) -> None:
    """Write ``report.html`` and ``averages.md`` into a folder that holds the figures' files.

    Parameters
    ----------
    evaluation : Evaluation
    output : Path
    settings : dict, optional
        What ``verify.settings`` wrote as ``settings.json``.
    """
    commandline.write(output / "averages.md", averages_table(evaluation.found).to_markdown())
    parts = list(_parts(evaluation, output, settings))
    commandline.write(output / "report.html", paper_html.page(TITLE, parts))


def _parts(evaluation: Evaluation, output: Path, settings: dict[str, Any] | None) -> Iterator[str]:
    held = evaluation.verdict is Exit.HELD
    yield paper_html.paragraph(evaluation.closing, "held" if held else "broken")
    if evaluation.violations or evaluation.open:
        yield paper_html.bullets([*evaluation.violations, *evaluation.open])
    yield paper_html.heading("The paper's averages and ours")
    yield paper_html.table(averages_table(evaluation.found))
    for one in evaluation.found:
        yield from _figure(one, output / one.study.name)
    if settings is not None:
        yield from _settings(settings)
    yield from _protocol(evaluation)


def _figure(one: Recomputed, folder: Path) -> Iterator[str]:
    yield paper_html.heading(one.study.title)
    if has_matplotlib():
        names = paper_figures.names(one.figure, one.study)
        yield paper_html.pictures(folder / f"{name}.svg" for name in names)
    if one.figure == "6":
        yield paper_html.table(speedup_table(one))
    for measure in one.study.plot.y:
        yield paper_html.folded(
            f"all points: {measure}", paper_html.table(points_table(one, measure))
        )


def _settings(found: dict[str, Any]) -> Iterator[str]:
    """Yield what a search for the setting that the paper left out has found."""
    yield paper_html.heading("What the paper left out: the closest single setting")
    averages = [
        (name, f"{found['default']['averages'][name]:+.1f} %", f"{value:+.1f} %")
        for name, value in found["best"]["averages"].items()
    ]
    distances = [f"{found[name]['distance']:.1f}" for name in ("default", "best")]
    rows = [*averages, ("distance to the paper, root mean square in points", *distances)]
    yield paper_html.table(Grid(("average", "default", "best"), rows))
    settings = [(name, str(value)) for name, value in found["best"]["setting"].items()]
    yield paper_html.table(Grid(("quantity", "best"), settings))


def _protocol(evaluation: Evaluation) -> Iterator[str]:
    yield paper_html.heading("Protocol")
    yield paper_html.bullets(RULES)
    defaults = [(name, str(DEFAULT[name]), str(SPACE[name]), SPACE[name].why) for name in SPACE]
    heads = ("what the paper does not state", "here", "plausible", "why")
    yield paper_html.table(Grid(heads, defaults))
    facts = {
        "command": evaluation.command,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **machine(),
        **versions(),
        "wall seconds": f"{sum(one.seconds for one in evaluation.found):.0f}",
    }
    yield paper_html.table(Grid(("", ""), [(name, str(value)) for name, value in facts.items()]))


def to_json(evaluation: Evaluation) -> str:
    """Return averages, verdict and violations as JSON."""
    data = {
        "schema": "balance-paper/1",
        "verdict": evaluation.verdict.name.lower(),
        "command": evaluation.command,
        "versions": versions(),
        "averages": [
            {
                "average": str(average.reported),
                "paper_percent": average.reported.percent,
                "ours_percent": average.ours and average.ours.value,
                "half_width": average.ours and average.ours.half,
            }
            for one in evaluation.found
            for average in one.averages
        ],
        "violations": evaluation.violations,
        "open": evaluation.open,
    }
    return json.dumps(data, indent=1, ensure_ascii=False)


def table(evaluation: Evaluation) -> Table:
    """Return the averages for people."""
    grid = averages_table(evaluation.found)
    result = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, head in enumerate(grid.heads):
        result.add_column(head, justify="right" if place else "left")
    for row in grid.rows:
        result.add_row(*row)
    return result


def line(one: Recomputed) -> str:
    """Return what became of one figure, in one line."""
    state = {Exit.HELD: "held", Exit.VIOLATION: "VIOLATED"}.get(one.verdict, "open")
    return f"{one.study.name}: {len(one.rows)} runs, {state}, {one.seconds:.0f} s"
