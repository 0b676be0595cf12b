"""Path loss and spectral efficiency against hand-computed values; distances fill the disk."""

from __future__ import annotations

import math

import pytest

from instances.randomness import Stream
from instances.wireless import Radio

CELL = Radio()


def test_path_loss() -> None:
    assert CELL.path_loss_db(1000) == pytest.approx(128.1)
    assert CELL.path_loss_db(100) == pytest.approx(90.5)  # one decade nearer
    assert Radio(loss_at_1km_db=100, loss_per_decade_db=20).path_loss_db(10) == pytest.approx(60)


def test_spectral_efficiency() -> None:
    # -50 dBm/Hz - 90.5 dB + 174 dBm/Hz = 33.5 dB at 100 m; -29 dBm/Hz: 54.5 dB
    assert CELL.spectral_efficiency(-50, 100) == pytest.approx(math.log2(1 + 10**3.35))
    assert CELL.spectral_efficiency(-29, 100) == pytest.approx(math.log2(1 + 10**5.45))
    # SNR 0 dB gives exactly one bit
    assert CELL.spectral_efficiency(CELL.path_loss_db(200) - 174, 200) == pytest.approx(1)


def test_fading_scales_the_received_power() -> None:
    clear = 2 ** CELL.spectral_efficiency(-50, 100) - 1
    faded = 2 ** CELL.spectral_efficiency(-50, 100, fading=0.25) - 1
    assert faded == pytest.approx(clear / 4)


def test_users_lie_uniformly_in_the_disk() -> None:
    stream = Stream("disk", 0)
    distances = [CELL.distance(stream) for _ in range(4000)]
    assert max(distances) <= 250
    assert min(distances) >= 10
    inner = sum(d < 125 for d in distances) / 4000
    assert inner == pytest.approx(0.25, abs=0.03)  # half the radius, a quarter of the area


def test_rayleigh_fading_has_unit_mean() -> None:
    stream = Stream("fading", 0)
    draws = [Radio(rayleigh=True).fading(stream) for _ in range(4000)]
    assert min(draws) >= 0
    assert sum(draws) / 4000 == pytest.approx(1, abs=0.06)
    assert sum(d < math.log(2) for d in draws) / 4000 == pytest.approx(0.5, abs=0.03)
    assert CELL.fading(stream) == 1


def test_links_have_the_papers_bandwidths_and_six_digits() -> None:
    link = CELL.draw(Stream("link", 1))
    assert (link.uplink_hz, link.downlink_hz) == (1e6, 2e6)
    assert link.downlink_bps_per_hz > link.uplink_bps_per_hz > 0
    assert len(repr(link.uplink_bps_per_hz)) <= 8


def test_fading_changes_links_of_the_same_seed() -> None:
    assert CELL.draw(Stream("link", 1)) == CELL.draw(Stream("link", 1))
    assert Radio(rayleigh=True).draw(Stream("link", 1)) != CELL.draw(Stream("link", 1))
