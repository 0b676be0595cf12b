"""The simulation of large runs: exact where it can be worked out, and the costs it rests on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from instances import InputError
from verify import scale
from verify.parcels import Bounds, bounds
from verify.scale_costs import Costs, load_costs, runner_seconds
from verify.scale_simulation import forecast, simulate

FREE = Costs(instance_s=[0.01], row_s=0, parcel_s=0, scheduler_s=0, row_bytes=250)


def test_without_overhead_all_workers_are_busy() -> None:
    run = simulate(FREE, 2000, 10, Bounds(0.0, 1))
    assert run.parcels == 2000
    assert run.efficiency == pytest.approx(1)
    assert run.seconds == pytest.approx(2000 * 0.01 / 10)
    assert run.results_bytes == 500_000


def test_a_scheduler_that_is_too_slow_sets_the_pace() -> None:
    slow = FREE.model_copy(update={"scheduler_s": 0.002})
    run = simulate(slow, 3000, 100, Bounds(0.0, 1))
    assert run.seconds == pytest.approx(3000 * 0.002, rel=0.1)
    batched = simulate(slow, 100_000, 100, bounds(100))
    assert batched.scheduler_seconds / batched.seconds < 0.15
    assert batched.efficiency > 0.7


def test_parcels_grow_with_the_cluster_and_never_by_more_than_twice() -> None:
    assert bounds(2) == Bounds(0.2, 64)
    assert bounds(100) == Bounds(2.0, 640)
    assert bounds(2).size(1, 0.001) == 2
    assert bounds(2).size(64, 0.01) == 20
    assert bounds(2).size(64, 1e-9) == 64
    assert bounds(2).size(1, 5.0) == 1


def test_longer_runs_are_in_proportion() -> None:
    short, long = (forecast(FREE, count, 10, Bounds(0.0, 1)) for count in (10_000, 1_000_000))
    assert long.seconds == pytest.approx(100 * short.seconds)
    assert long.instances == long.parcels == 1_000_000


def test_the_runner_is_measured() -> None:
    line = json.dumps({"key": "tiny:1", "skipped": "no reason"})
    row_s, parcel_s = runner_seconds([line], rows=1000)
    assert 0 < row_s < 0.01
    assert 0 < parcel_s < 0.1


def test_the_command_repeats_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "costs.json"
    path.write_text(FREE.model_dump_json())
    assert scale.main(instances=4000, workers=10, costs=path, output=tmp_path) == 0
    shown = capsys.readouterr().out
    assert "results.jsonl: 0.00 GB" in shown
    first = (tmp_path / "scale.json").read_text()
    scale.main(instances=4000, workers=10, costs=path, output=tmp_path, as_json=True)
    assert (tmp_path / "scale.json").read_text() == first
    path.write_text('{"instance_s": [-1]}')
    with pytest.raises(InputError, match=r"instance_s.0: must be at least 0"):
        load_costs(path)
