"""The search for the setting that the paper left out: its space, rounds and answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from instances import InputError
from instances.commandline import Exit
from instances.families import Setting as Family
from instances.randomness import Stream
from verify import settings, settings_report, settings_score, settings_search, workers
from verify.paper_reported import REPORTED
from verify.results import Row
from verify.settings_space import DEFAULT, MEMORY, SPACE, Between, Setting, draw, near
from verify.study_fields import build
from verify.workers import Workers

SMALL = settings_search.Search(first=8, each=6, rounds=3)


def threads(*_: Any) -> Workers:
    return Workers(1, lambda: ThreadPoolExecutor(1))


def bowl(payload: tuple[Setting, Sequence[int]]) -> Row:
    """A score that is least at 1000 bits a token, whatever the rest."""
    setting, _ = payload
    far = abs(setting["bits_per_token"] - 1000)
    found = {str(row): row.percent + far for row in REPORTED}
    return {"setting": setting, "averages": found, "distance": far}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_search, "score", bowl)
    monkeypatch.setattr(settings_search, "READY", ())
    monkeypatch.setattr(workers, "chosen", threads)


def test_settings_stay_in_the_space_wherever_they_wander() -> None:
    setting = draw(Stream("space", 1), {})
    for seed in range(200):
        setting = near(setting, 0.6, Stream("walk", seed), {"z_grid": 5})
        for name, dimension in SPACE.items():
            if isinstance(dimension, Between):
                assert dimension.low <= setting[name] <= dimension.high
            else:
                assert setting[name] in dimension.values
    assert setting["z_grid"] == 5


def test_the_default_is_what_instances_are_drawn_with() -> None:
    changes = {name: value for name, value in DEFAULT.items() if name != MEMORY}
    source = {"family": "paper-4a", "users": 3, "seed": 2}
    changed, plain = build({**source, **changes}), build(source)
    assert changed.model_dump(exclude={"name"}) == plain.model_dump(exclude={"name"})
    assert Family().z_grid == plain.z_grid


@pytest.mark.usefixtures("stub")
def test_the_search_closes_in_and_answers_from_fresh_instances(tmp_path: Path) -> None:
    answer = settings_search.search(SMALL, threads(), tmp_path)
    assert answer.tried == len(SMALL)
    assert answer.best.distance < 100 < answer.default.distance
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    rows = {row["key"]: row for row in lines[1:]}
    assert answer.best.distance == min(row["distance"] for row in rows.values())
    assert len(settings_report.unexplained(answer)) in (0, len(REPORTED))


@pytest.mark.usefixtures("stub")
def test_a_search_that_was_cut_off_ends_as_if_it_was_not(tmp_path: Path) -> None:
    whole = settings_search.search(SMALL, threads(), tmp_path / "whole")
    lines = (tmp_path / "whole" / "results.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "results.jsonl").write_text("".join(lines[:12]))
    assert settings_search.search(SMALL, threads(), tmp_path / "cut", resume=True) == whole


@pytest.mark.usefixtures("stub")
def test_the_command_writes_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = settings.main(quick=True, fix=["memory=padded"], output=tmp_path)
    assert code is Exit.HELD
    assert "27 settings scored" in capsys.readouterr().out
    found = json.loads((tmp_path / "settings.json").read_text())
    assert found["best"]["setting"]["memory"] == "padded"
    assert "| `bits_per_token` | 8 to 65536 bit | 16.0 |" in (tmp_path / "settings.md").read_text()


@pytest.mark.parametrize("word", ["gamma=3", "z_grid", "z_grid=4", "bits_per_token=1e9", "memory="])
def test_a_value_outside_the_space_is_refused(word: str) -> None:
    with pytest.raises(InputError, match="--fix"):
        settings.main(fix=[word])


def test_one_setting_is_scored_on_every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    def smaller(figure: str) -> Any:
        study = settings_score.study_of(figure)
        first = {name: values[:1] for name, values in study.grid.items()}
        return study.model_copy(update={"grid": first | ({"users": [4]} if figure == "4a" else {})})

    monkeypatch.setattr(settings_score, "_study", smaller)
    found = settings_score.averages(DEFAULT, [1])
    assert list(found) == [str(row) for row in REPORTED]
    assert found["1: memory, SD-only over AD-only"] == pytest.approx(17.9, abs=0.1)
    assert found["6: throughput, BALANCE over optimum"] <= 0
    assert settings_score.distance({str(row): row.percent + 2 for row in REPORTED}) == 2
