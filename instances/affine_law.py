"""The affine timing law of a forward pass, seconds = α FLOP + β, fitted to measured passes.

A small pass is bound by memory (its time hardly grows), a large one by arithmetic; no line follows
both. The fit therefore weighs *relative* errors, and by default their absolute values, so that the
passes which no law of FLOP alone can describe do not bend it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .files import InputError

#: What is minimised: the sum of |relative error|, of its square, or of squared seconds.
Loss = Literal["robust", "relative", "absolute"]
#: First of each range of tokens in a pass, and of tokens in the cache, that errors are told over.
TOKEN_EDGES, CONTEXT_EDGES = (1, 9, 65, 257, 1025, 4097), (0, 1, 257, 1025, 4097)

Floats = NDArray[np.float64]

#: Relative errors below this count quadratically in the robust fit, which smooths its corner.
_CORNER = 1e-4
_ROUNDS = 300


@dataclass(frozen=True)
class Law:
    """A fitted law with 95 % intervals from a bootstrap over the passes.

    Parameters
    ----------
    alpha, beta : float
        Seconds per FLOP and seconds per pass, both at least 0.
    alpha_interval, beta_interval : tuple of float
        Where 95 % of the resampled fits lie.
    median_error, worst_error : float
        Of |predicted / measured - 1| over the passes fitted.
    passes : int
        How many passes it was fitted to.
    """

    alpha: float
    beta: float
    alpha_interval: tuple[float, float]
    beta_interval: tuple[float, float]
    median_error: float
    worst_error: float
    passes: int

    def seconds(self, flops: Sequence[float] | Floats) -> Floats:
        """Return the predicted seconds of passes with that many FLOP each."""
        return self.alpha * np.asarray(flops, np.float64) + self.beta

    def errors(self, flops: Sequence[float] | Floats, seconds: Sequence[float] | Floats) -> Floats:
        """Return the relative errors, predicted / measured - 1."""
        return self.seconds(flops) / np.asarray(seconds, np.float64) - 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


def fit(
    flops: Sequence[float],
    seconds: Sequence[float],
    loss: Loss = "robust",
    resamples: int = 400,
    seed: int = 0,
) -> Law:
    """Return the affine law that describes measured passes best.

    Parameters
    ----------
    flops, seconds : sequence of float, shape (n,)
        Work and time of each pass, above 0.
    loss : {"robust", "relative", "absolute"}
        Least sum of |relative error|, of its square, or of the squared error in seconds.
    resamples, seed : int
        Of the bootstrap behind the intervals.

    Raises
    ------
    InputError
        With fewer than three passes, or if all do the same work.
    """
    work, time = np.asarray(flops, np.float64), np.asarray(seconds, np.float64)
    if len(work) < 3 or np.ptp(work) == 0:
        raise InputError(
            f"{len(work)} passes of {len(np.unique(work))} different sizes fix no line; "
            "measure or select at least three, of two sizes"
        )
    counts = np.random.default_rng(seed).multinomial(
        len(work), np.full(len(work), 1 / len(work)), size=resamples
    )
    both = _minimise(work / work.max(), time, np.vstack([np.ones(len(work)), counts]), loss)
    alphas, betas = both[:, 0] / work.max(), both[:, 1]
    errors = np.abs((alphas[0] * work + betas[0]) / time - 1)
    return Law(
        float(alphas[0]),
        float(betas[0]),
        _interval(alphas[1:]),
        _interval(betas[1:]),
        float(np.median(errors)),
        float(errors.max()),
        len(work),
    )


def _interval(values: Floats) -> tuple[float, float]:
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)


def _minimise(work: Floats, time: Floats, counts: Floats, loss: Loss) -> Floats:
    """Return (α, β) for each row of `counts`, the number of times each pass is taken.

    The robust loss by iteratively reweighted least squares.
    """
    scale = np.ones_like(time) if loss == "absolute" else time**-2.0
    found = _least_squares(work, time, counts * scale)
    if loss != "robust":
        return found
    for _ in range(_ROUNDS):
        errors = np.abs((found[:, :1] * work + found[:, 1:]) / time - 1)
        last, weights = found, counts * scale / np.maximum(errors, _CORNER)
        found = _least_squares(work, time, weights)
        if np.allclose(found, last, rtol=1e-7, atol=0, equal_nan=True):
            break
    return found


def _least_squares(work: Floats, time: Floats, weights: Floats) -> Floats:
    """Return the weighted least-squares (α, β), none below 0, for each row of weights.

    With one of them at its bound the other is the optimum through the origin, or the mean.
    """
    total, x, y = weights.sum(1), weights @ work, weights @ time
    xx, xy = weights @ work**2, weights @ (work * time)
    spread = total * xx - x * x
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha = np.where(spread > 1e-12 * total * xx, (total * xy - x * y) / spread, np.nan)
        beta = (y - alpha * x) / total
        alpha, beta = np.where(beta < 0, xy / xx, alpha), np.where(beta < 0, 0, beta)
        alpha, beta = np.where(alpha < 0, 0, alpha), np.where(alpha < 0, y / total, beta)
    return np.column_stack([alpha, beta])


@dataclass(frozen=True)
class RangeError:
    """How well a law describes the passes of one range of sizes, both ends included.

    Errors are of |predicted / measured - 1|; `bias` is the median of predicted / measured - 1.
    """

    low: int
    high: int
    passes: int
    median_seconds: float
    median_error: float
    worst_error: float
    bias: float


def errors_by_range(
    law: Law,
    flops: Sequence[float],
    seconds: Sequence[float],
    sizes: Sequence[int],
    edges: Sequence[int] = TOKEN_EDGES,
) -> list[RangeError]:
    """Return the law's relative errors over ranges of the passes' sizes.

    Parameters
    ----------
    law : Law
    flops, seconds : sequence of float, shape (n,)
    sizes : sequence of int, shape (n,)
        Tokens in each pass, or in the cache before it.
    edges : sequence of int
        The first of each range, ascending; the last range is open. Ranges without a pass are left
        out of the answer.
    """
    return list(_ranges(law.errors(flops, seconds), np.asarray(seconds), np.asarray(sizes), edges))


def _ranges(
    errors: Floats, seconds: Floats, sizes: NDArray[np.int64], edges: Sequence[int]
) -> Iterator[RangeError]:
    smallest, largest = int(sizes.min()), int(sizes.max())
    for low, beyond in zip(edges, [*edges[1:], largest + 1], strict=True):
        there = (sizes >= low) & (sizes < beyond)
        if there.any():
            inside, amounts = errors[there], np.abs(errors[there])
            yield RangeError(
                max(low, smallest),
                min(beyond - 1, largest),
                int(there.sum()),
                float(np.median(seconds[there])),
                float(np.median(amounts)),
                float(amounts.max()),
                float(np.median(inside)),
            )
