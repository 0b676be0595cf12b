"""Deadlines and memory met exactly, and missed by a hair: every term of every row counts."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import formulations
from instances import Instance, Status
from instances.exact import (
    ad_latency,
    ad_memory,
    download_time,
    room,
    sd_latency,
    sd_memory,
)
from tests.formulations.test_solvers import SOLVERS
from tests.helpers import make_instance, make_user


def batch(deadline_s: float = 1000.0) -> Instance:
    """Three users whose lengths, iterations and acceptance all differ."""
    lengths = ((2, 9, 0.5), (3, 12, 0.25), (4, 7, 0.0))
    users = [
        make_user(
            f"u{i}",
            input_tokens=prompt,
            output_tokens=answer,
            acceptance_rate=rate,
            deadline_s=deadline_s,
        )
        for i, (prompt, answer, rate) in enumerate(lengths)
    ]
    return make_instance(*users, memory_bytes=10**6)


def seconds(value: Fraction) -> float:
    """A float whose shortest decimal is the exact value."""
    assert Fraction(repr(float(value))) == value
    return float(value)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("modes", ["ad-only", "sd-only"])
@pytest.mark.parametrize(("early", "served"), [(Fraction(0), 3), (Fraction(1, 10**9), 2)])
def test_deadline_to_the_nanosecond(solver: str, modes: str, early: Fraction, served: int) -> None:
    free = batch()
    latency = (ad_latency if modes == "ad-only" else sd_latency)(free, free.users, 0.5)
    latest = max(download_time(free, user) for user in free.users)
    instance = batch(seconds(latency + latest - early))
    result = formulations.solve(instance, solver=solver, z=0.5, modes=modes, start=False)
    assert (result.status, result.objective) == (Status.OPTIMAL, served)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("modes", ["ad-only", "sd-only"])
@pytest.mark.parametrize(("short", "served"), [(0, 3), (1, 2)])
def test_memory_to_the_byte(solver: str, modes: str, short: int, served: int) -> None:
    free = batch()
    need = math.ceil((ad_memory if modes == "ad-only" else sd_memory)(free, free.users))
    weights = free.hardware.memory_bytes - room(free, 0.5)
    hardware = free.hardware.model_copy(update={"memory_bytes": weights + need - short})
    instance = free.model_copy(update={"hardware": hardware})
    result = formulations.solve(instance, solver=solver, z=0.5, modes=modes, start=False)
    assert (result.status, result.objective) == (Status.OPTIMAL, served)
    lam = 1.0 if modes == "ad-only" else 0.0
    split = formulations.solve(instance, "P3", solver, 0.5, lam, modes=modes, start=False)
    assert (split.status, split.objective) == (Status.OPTIMAL, served)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("modes", ["ad-only", "sd-only"])
def test_models_see_what_exceeds_tolerances(solver: str, modes: str) -> None:
    """A tenth of a second and eight bytes are no rounding: no cover cut may be needed."""
    free, ad = batch(), modes == "ad-only"
    latest = max(download_time(free, user) for user in free.users)
    latency = (ad_latency if ad else sd_latency)(free, free.users, 0.5)
    late = batch(seconds(latency + latest - Fraction(1, 10)))
    need = math.ceil((ad_memory if ad else sd_memory)(free, free.users))
    weights = free.hardware.memory_bytes - room(free, 0.5)
    hardware = free.hardware.model_copy(update={"memory_bytes": weights + need - 8})
    full = free.model_copy(update={"hardware": hardware})
    for instance in (late, full):
        result = formulations.solve(instance, solver=solver, z=0.5, modes=modes, start=False)
        assert (result.status, result.objective) == (Status.OPTIMAL, 2)
        assert result.statistics.get("cover_cuts", 0) == 0
