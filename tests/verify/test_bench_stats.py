"""The benchmark's statistics, by hand."""

from __future__ import annotations

import math

import pytest

from verify.bench_stats import (
    Time,
    fit_exponent,
    longest,
    median,
    par2,
    performance_profile,
    seconds_text,
    shifted_geometric_mean,
    speedup,
)


def times(*seconds: float) -> list[Time]:
    return [Time(s) for s in seconds]


def test_shifted_geometric_mean_by_hand() -> None:
    # (1 + 1)(7 + 1) = 16, its square root is 4, less the shift 3
    assert shifted_geometric_mean(times(1, 7), shift=1).seconds == pytest.approx(3)
    assert shifted_geometric_mean(times(1, 4, 16), shift=0).seconds == pytest.approx(4)


def test_a_censored_run_makes_the_mean_a_lower_end() -> None:
    mean = shifted_geometric_mean([Time(1), Time(7, censored=True)], shift=1)
    assert mean == Time(pytest.approx(3), censored=True)


def test_par2_counts_censored_runs_twice_the_limit() -> None:
    assert par2([Time(1), Time(2), Time(10, censored=True)], limit=10) == pytest.approx(23 / 3)


def test_median_is_censored_only_if_more_than_half_are() -> None:
    cut = Time(10, censored=True)
    assert median([cut, Time(3), Time(1)]) == Time(3)
    assert median([cut, Time(3), cut, Time(1)]) == Time(3)
    assert median([cut, cut, Time(1)]) == cut
    assert longest([cut, Time(11), Time(1)]) == cut


def test_speedup_is_a_lower_end_if_the_slow_one_was_cut_off() -> None:
    assert speedup(Time(10), Time(2)) == Time(5)
    assert speedup(Time(10, censored=True), Time(2)) == Time(5, censored=True)
    assert speedup(Time(10), Time(2, censored=True)) is None


def test_performance_profile_by_hand() -> None:
    curves = performance_profile(
        {
            "a": {"i": Time(1), "j": Time(4), "k": Time(9, True), "l": Time(9, True)},
            "b": {"i": Time(2), "j": Time(1), "k": Time(3), "l": Time(9, True)},
        }
    )
    assert curves.instances == 4  # l stays, though nobody solved it
    assert curves.steps == {
        "a": [(1.0, 0.25), (4.0, 0.5)],
        "b": [(1.0, 0.25), (1.0, 0.5), (2.0, 0.75)],
    }


def test_exponent_of_an_exact_power_law() -> None:
    fit = fit_exponent([10, 20, 40], times(0.5, 4, 32))
    assert fit is not None
    assert fit.exponent == pytest.approx(3)
    assert fit.error == pytest.approx(0, abs=1e-9)
    assert fit(80) == pytest.approx(256)


def test_exponent_and_its_error_by_hand() -> None:
    # logs base 2 of K: 0, 1, 2; of t: 0, 1, 3: slope 3/2, residuals 1/6, -1/3, 1/6
    fit = fit_exponent([1, 2, 4], times(1, 2, 8))
    assert fit is not None
    assert fit.exponent == pytest.approx(1.5)
    assert fit.error == pytest.approx(math.sqrt((1 / 36 + 1 / 9 + 1 / 36) / 1 / 2))


def test_fit_leaves_out_what_was_cut_off() -> None:
    fit = fit_exponent([10, 20, 40], [Time(1), Time(2), Time(2, censored=True)])
    assert fit is not None
    assert (fit.exponent, fit.points, fit.error) == (pytest.approx(1), 2, None)
    assert fit_exponent([10, 20], [Time(1), Time(9, censored=True)]) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0000421, "42.1 µs"), (0.0123, "12.3 ms"), (1.5, "1.5 s"), (1234.4, "1,234 s")],
)
def test_durations_for_people(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text
