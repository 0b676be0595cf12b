"""The evaluation: claims, averages with confidence, pictures, the command and its report."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from instances import InputError
from instances.commandline import Exit
from verify import paper, paper_figures, paper_report, paper_run, study_report, workers
from verify.paper_averages import gain_percent, percent_text
from verify.paper_claims import check_claims
from verify.paper_reported import FIGURES, REPORTED, study_of
from verify.paper_tables import speedups
from verify.results import Row
from verify.study import Study
from verify.study_rows import COLUMNS
from verify.study_stats import Mean
from verify.workers import Workers, kept


def threads(*_: Any) -> Workers:
    return Workers(1, lambda: ThreadPoolExecutor(1))


def a_study(*algorithms: str, **instances: Any) -> Study:
    return Study.model_validate(
        {
            "title": "Small",
            "algorithms": list(algorithms),
            "seeds": [1, 2],
            "instances": {"family": "paper-4a", **instances},
            "grid": {"users": [4, 6]},
        }
    )


def rows_of(study: Study, served: dict[str, Sequence[int]], **fields: Any) -> list[Row]:
    """Return a study's rows, each algorithm serving these users at the points and seeds in turn."""
    places = [(point["users"], seed) for point in study.points() for seed in study.seeds]
    rows = []
    for at, (users, seed) in enumerate(places):
        for name in study.algorithms:
            objective = served[name][at]
            known = {
                "objective": objective,
                "throughput": objective / users,
                "bound": objective if name == "optimum" else None,
                "problem": "P1" if name == "optimum" else "P2",
                **fields.get(name, {}),
            }
            place = {"users": users, "instance": "paper-4a", "seed": seed, "algorithm": name}
            rest = {column: known.get(column) for column in COLUMNS if column != "users"}
            rows.append({**place, **rest})
    return rows


# Claims


def test_balance_below_a_baseline_is_told_with_its_instance() -> None:
    study = a_study("balance", "ad-only", "optimum")
    rows = rows_of(study, {"balance": [3, 3, 4, 4], "ad-only": [3, 2, 5, 4], "optimum": [4] * 4})
    (line,) = check_claims(study, rows).broken
    assert line.startswith("users = 6, instance = paper-4a, seed = 1: balance serves 4, but ad-")


def test_half_of_the_optimum_is_asked_for() -> None:
    study = a_study("balance", "optimum")
    rows = rows_of(study, {"balance": [2, 2, 2, 2], "optimum": [4, 4, 5, 4]})
    (line,) = check_claims(study, rows).broken
    assert "2 × balance >= optimum" in line


def test_equal_shares_bound_balance_only_on_grids_that_hold_them() -> None:
    served = {"balance": [1, 1, 1, 1], "ecra": [2, 2, 2, 2]}
    with_half, without = a_study("balance", "ecra"), a_study("balance", "ecra", z_grid=[0, 0.3, 1])
    assert len(check_claims(with_half, rows_of(with_half, served)).broken) == 4
    assert not check_claims(without, rows_of(without, served)).broken


def test_an_optimum_without_a_proof_stays_open() -> None:
    study = a_study("optimum")
    checked = check_claims(study, rows_of(study, {"optimum": [1] * 4}, optimum={"bound": 2}))
    assert len(checked.unproven) == 4
    assert "in 1 to 2" in checked.unproven[0]


# Averages


def test_every_reported_average_is_about_algorithms_of_its_study() -> None:
    assert FIGURES == ("1", "4a", "4b", "5a", "5b", "6", "7a", "7b")
    for row in REPORTED:
        study = study_of(row.figure)
        assert {row.subject, row.over} <= set(study.algorithms)
        assert all(value in study.grid[name] for name, value in row.where)


def test_a_gain_and_its_jackknife_by_hand() -> None:
    study = a_study("balance", "ad-only")
    rows = rows_of(study, {"balance": [2, 4, 6, 6], "ad-only": [1, 3, 3, 3]})
    found = gain_percent(study, rows, "balance", "ad-only")
    # Points: 6/4 and 12/6. Without seed 1: 4/3 and 6/3; without seed 2: 2/1 and 6/3.
    assert found is not None
    assert found.value == pytest.approx(75)
    assert found.half == pytest.approx(12.7062 * 100 / 6, rel=1e-4)  # t(1) × half the spread
    assert gain_percent(study, rows[:2], "balance", "ad-only") == Mean(pytest.approx(100), None, 1)


def test_what_was_not_measured_has_no_average() -> None:
    study = a_study("balance", "ad-only")
    rows = rows_of(study, {"balance": [1] * 4, "ad-only": [0] * 4})
    assert gain_percent(study, rows, "balance", "ad-only") is None
    assert (percent_text(None), percent_text(Mean(-0.01, 0.5, 3))) == ("–", "+0.0 ± 0.5 %")


def test_speedups_are_quotients_of_mean_times() -> None:
    study = a_study("balance", "exhaustive")
    times = {"balance": {"cpu_s": 0.5}, "exhaustive": {"cpu_s": 2.0}}
    rows = rows_of(study, {"balance": [1] * 4, "exhaustive": [1] * 4}, **times)
    one = paper_run.Recomputed(study, rows, 0.0)
    assert speedups(one) == {"K = 4": 4, "K = 6": 4, "mean": 4}


def test_gains_are_drawn_with_the_papers_averages() -> None:
    pytest.importorskip("matplotlib")
    study = a_study("balance", "ad-only")
    rows = rows_of(study, {"balance": [2, 4, 6, 6], "ad-only": [1, 3, 3, 3]})
    reported = [row for row in REPORTED if row.figure == "4a" and row.over == "ad-only"]
    axes = paper_figures.plot_gains(study, rows, reported)
    curve, average, _ = axes.lines
    assert list(curve.get_ydata()) == pytest.approx([50, 100])
    assert list(average.get_ydata()) == [37.9, 37.9]


# Runs


def test_studies_are_chosen_by_figure_ablation_or_group() -> None:
    assert paper_run.chosen(["4a", "ablation-z", "4a"]) == ["figure-4a", "ablation-z"]
    assert len(paper_run.chosen(["all"])) == len(FIGURES) + len(paper_run.ABLATIONS)
    with pytest.raises(InputError, match="--figure 9: choose from 1, 4a"):
        paper_run.chosen(["9"])


def test_the_trace_and_the_seeds_are_the_callers() -> None:
    (study,) = paper_run.studies(["ablation-trace"], "3-4", True, Path("mine.csv"))
    assert (study.instances["trace"], study.seeds) == ("mine.csv", [3, 4])
    (alone,) = paper_run.studies(["figure-1"], "3-4", False, None)
    assert alone.seeds == [1]  # nothing is drawn


def test_kept_workers_stay_until_they_break() -> None:
    made: list[ThreadPoolExecutor] = []
    stopped: list[object] = []

    def start() -> ThreadPoolExecutor:
        made.append(ThreadPoolExecutor(1))
        return made[-1]

    with kept(Workers(1, start, stopped.append)) as crew:
        crew.stop(crew.start())
        assert crew.start() is made[0]
        made[0].shutdown()
        assert crew.start() is made[1]
        assert stopped == [made[0]]
    assert stopped == made


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "chosen", threads)
    study = study_of("4a").model_copy(update={"grid": {"users": [4, 6]}, "seeds": [1, 2]})
    monkeypatch.setattr(paper_run, "load", lambda _: study)


@pytest.mark.usefixtures("small")
def test_the_command_writes_one_page_that_needs_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert paper.main(figure=["4a"], output=tmp_path) is Exit.HELD
    assert "PASS: 16 answers hold" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text()
    assert "4a: throughput, BALANCE over SD-only" in page
    assert len(re.findall('src="data:image/svg', page)) == 2
    assert not re.findall(r'(src|href)="(?!data:)', page)
    assert (
        "| 4a: throughput, BALANCE over AD-only | +37.9 % |"
        in (tmp_path / "averages.md").read_text()
    )
    points = (tmp_path / "figure-4a" / "points.csv").read_text().splitlines()
    assert len(points) == 1 + 2 * 4
    for name in ("throughput.png", "gains.svg", "rows.csv"):
        assert (tmp_path / "figure-4a" / name).stat().st_size
    resumed_alone(tmp_path, capsys)


def resumed_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """See that a finished run is not overwritten, and that resuming it solves nothing again."""
    with pytest.raises(InputError, match="exists; add --resume"):
        paper.main(figure=["4a"], output=folder)
    rows = folder / "figure-4a" / "results.jsonl"
    before = rows.read_text()
    assert paper.main(figure=["4a"], output=folder, resume=True, as_json=True) is Exit.HELD
    data = json.loads(capsys.readouterr().out)
    assert rows.read_text() == before
    assert [row["paper_percent"] for row in data["averages"]] == [37.9, 33.4]


@pytest.mark.usefixtures("small")
def test_a_violation_is_listed_and_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = paper_run.run

    def lazy(*given: Any) -> list[Row]:
        return [
            {**row, "objective": 0} if row["algorithm"] == "balance" else row
            for row in honest(*given)
        ]

    monkeypatch.setattr(paper_run, "run", lazy)
    for module in (paper_report, study_report):
        monkeypatch.setattr(module, "has_matplotlib", lambda: False)
    assert paper.main(figure=["4a"], output=tmp_path) is Exit.VIOLATION
    told = capsys.readouterr().out
    assert "seed = 1: balance serves 0, but ad-only serves" in told
    assert "FAIL: " in told


def test_settings_of_another_kind_are_refused(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text("{}")
    with pytest.raises(InputError, match=r"is not a settings\.json"):
        paper.main(figure=["4a"], settings=tmp_path / "settings.json", output=tmp_path)
