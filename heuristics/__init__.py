"""The paper's algorithms on integer cost tables, its baselines, and HEU for the MMKP.

Beyond the paper: ``"balance+"`` (Algorithm 3 both ways, and local searches) and ``"additive"``
(within three users of the optimum, by proof). The modules ``threshold_*`` are the search over
thresholds, which also answers for the exact solver; its front is `formulations.threshold`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances import Instance, Result

from .mmkp import heu

if TYPE_CHECKING:
    from .api import Memory

__all__ = ["algorithms", "heu", "solve"]


def solve(
    instance: Instance,
    algorithm: str = "balance",
    z: float | None = None,
    lam: float | None = None,
    memory: Memory = "exact",
    effort: int = 1,
) -> Result:
    """Return the schedule of one of the paper's algorithms; see `heuristics.api.solve`.

    Parameters
    ----------
    instance : Instance
    algorithm : str
        A name in `algorithms()`, or ``"module:function"``.
    z, lam : float, optional
        Fix a share to a value of the instance's grid.
    memory : {"exact", "padded"}
        Charge memory by eqs. (15) and (16), or as the paper's algorithms print it.
    effort : int
        How long ``"balance+"`` searches, at least 1.

    Raises
    ------
    ValueError
        If the algorithm is unknown or malformed, or a share is not in its grid.
    """
    from . import api  # loads numba, which importing the package must not

    return api.solve(instance, algorithm, z, lam, memory, effort)


def algorithms() -> tuple[str, ...]:
    """Return the names of the algorithms that `solve` knows."""
    from .api import ALGORITHMS

    return tuple(ALGORITHMS)
