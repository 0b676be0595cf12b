"""What coarse grids lose: by hand, and as columns of verify.bound."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from instances import InputError, Instance, save
from tests.helpers import make_instance, make_user
from verify import summary
from verify.grid_loss import GridLoss, finer, grid_loss
from verify.guarantee import Guarantee
from verify.outcome import collect
from verify.sources import from_files


@pytest.fixture
def narrow() -> Instance:
    """Both users are served only at 0.3098 <= z <= 0.3313, on no coarse grid.

    AD ends at 3 · 0.05 + 0.092 / z <= 0.447 s; SD, in 15 iterations, at 0.8 + 4.68 / (1 - z) <= 7.8
    s. Together in one mode, or each in the other's, the first user waits too long for the second.
    """
    quick = make_user("quick", deadline_s=0.447, uplink_bps_per_hz=1e9)
    long = make_user(
        "long", deadline_s=7.8, output_tokens=30, acceptance_rate=1.0, uplink_bps_per_hz=1e9
    )
    return make_instance(quick, long, beta_llm=0.05, beta_slm=0.0)


def test_a_narrow_share_is_lost_to_a_coarse_grid(narrow: Instance) -> None:
    found = grid_loss(narrow, 101)
    assert (found.coarse, found.fine, found.loss) == ((1, 1), (2, 2), (1, 1))
    assert grid_loss(narrow, 11).loss == (0, 0)
    assert found.proven


def test_a_finer_grid_holds_the_instances_own(narrow: Instance) -> None:
    odd = narrow.model_copy(update={"z_grid": (0.0, 0.123, 1.0)})
    assert finer(odd, 11).z_grid == (0, 0.1, 0.123, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
    for points in (1, 12, 100):
        with pytest.raises(InputError, match=f"a grid of {points} points has no finite decimals"):
            finer(narrow, points)


def test_open_optima_bound_the_loss() -> None:
    open_ = GridLoss((3, 5), (4, 7))
    assert (open_.proven, open_.loss) == (False, (0, 4))


def test_bound_reports_the_loss(narrow: Instance, tmp_path: Path) -> None:
    path = tmp_path / "narrow.json"
    save(narrow, path)
    guarantee = Guarantee(from_files([path]), fine_grid=101)
    (key,) = guarantee.sources
    row = {"key": key, **guarantee(key)}
    assert (row["p1"], row["fine"]) == ((1, 1), (2, 2))
    plain = replace(guarantee, fine_grid=None)
    assert "fine" not in plain(key)
    assert "fine_grid" not in plain.to_dict()
    outcome = collect([row, {**row, "key": "a:1", "fine": (1, 1), "p2": (0, 0)}])
    losses = outcome.total.losses.to_dict()
    assert losses["z"] == {"mean": 0.5, "max": 1, "losing": 1}
    assert losses["lambda"] == {"mean": 0.5, "max": 1, "losing": 1}
    (*_, total) = csv.DictReader(io.StringIO(summary.to_csv(outcome)))
    assert (total["loss_z_mean"], total["loss_lambda_max"]) == ("0.5", "1")
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(summary.table(outcome))
    assert "0.50/0.50" in console.export_text()
    unasked = collect([{"key": key, **plain(key)}])
    assert "loss" not in summary.to_csv(unasked)
    assert "loss_to_grid" not in summary.to_dict(unasked, {})["total"]
