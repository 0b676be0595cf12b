"""The affine law: recovered where it holds, robust where it does not, never negative."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances import InputError
from instances.affine_law import Loss, errors_by_range, fit

WORK = [1e10 * 2**k for k in range(12)]
LOSSES: tuple[Loss, ...] = ("robust", "relative", "absolute")


def times(alpha: float, beta: float) -> list[float]:
    return [alpha * work + beta for work in WORK]


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=15, deadline=None)
@given(alpha=st.floats(1e-16, 1e-13), beta=st.floats(1e-4, 1.0))
def test_an_exact_law_is_recovered(loss: Loss, alpha: float, beta: float) -> None:
    law = fit(WORK, times(alpha, beta), loss, resamples=20)
    assert law.alpha == pytest.approx(alpha, rel=1e-6)
    assert law.beta == pytest.approx(beta, rel=1e-6)
    assert law.worst_error < 1e-6
    assert law.alpha_interval[0] <= law.alpha * (1 + 1e-9)
    assert law.beta_interval[1] >= law.beta * (1 - 1e-9)


def test_the_robust_fit_ignores_what_no_law_describes() -> None:
    seconds = times(5e-15, 0.016)
    seconds[3] *= 20
    robust, squares = (fit(WORK, seconds, loss) for loss in ("robust", "absolute"))
    assert robust.beta == pytest.approx(0.016, rel=1e-3)
    assert robust.alpha == pytest.approx(5e-15, rel=1e-3)
    assert squares.beta > 2 * robust.beta
    assert robust.worst_error == pytest.approx(0.95, abs=0.01)


def test_the_robust_fit_has_the_least_sum_of_relative_errors() -> None:
    noise = np.random.default_rng(1).uniform(0.7, 1.4, len(WORK))
    seconds = (np.array(times(5e-15, 0.016)) * noise).tolist()
    law = fit(WORK, seconds)
    best = np.abs(law.errors(WORK, seconds)).sum()
    for i in range(len(WORK)):  # an optimum passes through two of the points
        for j in range(i):
            alpha = (seconds[i] - seconds[j]) / (WORK[i] - WORK[j])
            beta = seconds[i] - alpha * WORK[i]
            if alpha >= 0 and beta >= 0:
                other = np.abs((alpha * np.array(WORK) + beta) / seconds - 1).sum()
                assert best <= other * (1 + 1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_neither_is_ever_negative(loss: Loss) -> None:
    convex = fit(WORK, [(work / 1e10) ** 1.5 for work in WORK], loss)
    assert convex.beta == 0
    assert convex.alpha > 0
    falling = fit(WORK, [1 / work for work in WORK], loss)
    assert falling.alpha == 0
    assert falling.beta > 0


@pytest.mark.parametrize("work", [[1.0, 2.0], [3.0, 3.0, 3.0]])
def test_too_little_to_fit_is_one_line(work: list[float]) -> None:
    with pytest.raises(InputError, match="fix no line"):
        fit(work, [1.0] * len(work))


def test_the_same_seed_gives_the_same_intervals() -> None:
    noise = np.random.default_rng(2).uniform(0.8, 1.2, len(WORK))
    seconds = (np.array(times(5e-15, 0.016)) * noise).tolist()
    assert fit(WORK, seconds, seed=3) == fit(WORK, seconds, seed=3)
    assert fit(WORK, seconds, seed=3) != fit(WORK, seconds, seed=4)


def test_errors_by_range() -> None:
    law = fit(WORK, times(5e-15, 0.016))
    seconds = np.array(times(5e-15, 0.016))
    seconds[:2] *= 2  # predicted is half of measured
    rows = errors_by_range(law, WORK, seconds.tolist(), [2**k for k in range(12)], (1, 3, 4, 5000))
    assert [(row.low, row.high, row.passes) for row in rows] == [(1, 2, 2), (4, 2048, 10)]
    assert rows[0].bias == pytest.approx(-0.5)
    assert rows[0].median_error == pytest.approx(0.5)
    assert rows[1].worst_error == pytest.approx(0, abs=1e-6)
