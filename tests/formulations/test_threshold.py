"""The threshold search against brute force, at its limits, and on the odd cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import brute_force, free_work, make_instance, make_user

import formulations
from formulations.backend import Request
from formulations.threshold import ThresholdBackend
from instances import CostTables, build_tables
from instances.assignment import Assignment, fits
from instances.generators import generate

BACKEND = ThresholdBackend()
FAMILIES = (
    "paper-4a", "paper-5a", "memory-tight", "deadline-tight", "no-sd", "no-ad", "wide", "ties",
)  # fmt: skip


def everything(tables: CostTables, with_lambda: bool = False, **rest: Any) -> Request:
    lam = tuple(range(tables.ad_room.shape[1])) if with_lambda else None
    return Request(tuple(range(len(tables.room))), lam, **rest)


def restricted(tables: CostTables, z: list[int], lam: list[int]) -> CostTables:
    """The tables of a smaller grid, for the brute force."""
    return tables._replace(
        z_numerator=tables.z_numerator[z],
        room=tables.room[z],
        ad_room=tables.ad_room[np.ix_(z, lam)],
        sd_room=tables.sd_room[np.ix_(z, lam)],
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("rounded_up", [False, True])
@pytest.mark.parametrize("with_lambda", [False, True])
def test_optimum_is_the_brute_force_one(family: str, rounded_up: bool, with_lambda: bool) -> None:
    for seed in range(4):
        tables = build_tables(generate(family, 4 + seed, seed), rounded_up)
        answer = BACKEND.solve(tables, everything(tables, with_lambda))
        assert answer.bound == brute_force(tables, with_lambda)
        assert answer.assignment is not None
        assert answer.assignment.served == answer.bound
        assert fits(tables, answer.assignment)
        assert answer.stopped_by is None


@pytest.mark.parametrize("with_lambda", [False, True])
@pytest.mark.parametrize("modes", ["both", "ad-only", "sd-only"])
def test_a_budget_of_nothing_is_enough_for_work_that_costs_nothing(
    with_lambda: bool, modes: str
) -> None:
    allowed = {"allow_ad": modes != "sd-only", "allow_sd": modes != "ad-only"}
    tight = 0
    for seed in range(40):
        tables = build_tables(free_work(seed))
        answer = BACKEND.solve(tables, everything(tables, with_lambda, **allowed))
        only = tables._replace(
            ad_allowed=tables.ad_allowed & allowed["allow_ad"],
            sd_allowed=tables.sd_allowed & allowed["allow_sd"],
        )
        assert answer.bound == brute_force(only, with_lambda), seed
        assert answer.assignment is not None
        assert fits(tables, answer.assignment)
        tight += answer.bound > 0
    assert tight > 10


@pytest.mark.parametrize("draft_length", [1, 2, 5, 8])
def test_longer_drafts(draft_length: int) -> None:
    for seed in range(6):
        tables = build_tables(generate("paper-4a", 7, seed, draft_length=draft_length), False)
        for with_lambda in (False, True):
            answer = BACKEND.solve(tables, everything(tables, with_lambda))
            assert answer.bound == brute_force(tables, with_lambda)


@pytest.mark.parametrize("with_lambda", [False, True])
def test_parts_of_the_grid_and_single_modes(with_lambda: bool) -> None:
    rng = np.random.default_rng(7)
    for seed in range(12):
        tables = build_tables(generate("memory-tight", 6, seed), False)
        z = sorted(rng.choice(11, int(rng.integers(1, 5)), replace=False).tolist())
        lam = sorted(rng.choice(11, int(rng.integers(1, 4)), replace=False).tolist())
        part = restricted(tables, z, lam)
        for mode in ("both", "ad", "sd"):
            fewer = part
            if mode != "both":
                fewer = part._replace(
                    **{f"{'sd' if mode == 'ad' else 'ad'}_allowed": np.zeros(6, bool)}
                )
            request = Request(
                tuple(z),
                tuple(lam) if with_lambda else None,
                allow_ad=mode != "sd",
                allow_sd=mode != "ad",
            )
            answer = BACKEND.solve(tables, request)
            assert answer.bound == brute_force(fewer, with_lambda)
            assert answer.assignment is not None
            assert answer.assignment.z_index in z
            assert fits(tables, answer.assignment)
            if mode != "both":
                assert not (answer.assignment.modes == (2 if mode == "ad" else 1)).any()


def test_fixed_point_is_p3() -> None:
    tables = build_tables(generate("paper-4a", 7, 3), False)
    for z, lam in [(0, 0), (4, 6), (10, 10), (10, 0), (7, 2)]:
        answer = BACKEND.solve(tables, Request((z,), (lam,)))
        assert answer.bound == brute_force(restricted(tables, [z], [lam]), True)


def test_nobody_to_serve() -> None:
    tables = build_tables(make_instance())
    answer = BACKEND.solve(tables, everything(tables))
    assert answer.assignment is not None
    assert answer.bound == answer.assignment.served == 0


def test_empty_grid_is_refused() -> None:
    tables = build_tables(make_instance(make_user("a")))
    with pytest.raises(ValueError, match="z_indices"):
        BACKEND.solve(tables, Request(()))


def test_start_that_is_optimal_is_returned_as_it_is() -> None:
    tables = build_tables(generate("paper-4a", 12, 5), False)
    best = BACKEND.solve(tables, everything(tables)).assignment
    answer = BACKEND.solve(tables, everything(tables, start=best))
    assert answer.assignment is best


def test_poor_start_is_improved() -> None:
    tables = build_tables(generate("paper-4a", 12, 5), False)
    nobody = Assignment(np.zeros(12, np.int8), 0)
    best = BACKEND.solve(tables, everything(tables)).bound
    assert BACKEND.solve(tables, everything(tables, start=nobody)).bound == best


@pytest.mark.parametrize("with_lambda", [False, True])
def test_node_limits_leave_an_interval_around_the_optimum(with_lambda: bool) -> None:
    tables = build_tables(generate("paper-4a", 24, 2), False)
    optimum = BACKEND.solve(tables, everything(tables, with_lambda)).bound
    ends = set()
    for limit in (0, 1, 3, 10, 30, 100, 10_000):
        answer = BACKEND.solve(tables, everything(tables, with_lambda, node_limit=limit))
        assert answer.assignment is not None
        assert answer.assignment.served <= optimum <= answer.bound <= 24
        assert fits(tables, answer.assignment)
        assert answer.statistics["nodes"] <= limit
        ends.add(answer.stopped_by)
    assert ends == {"node_limit", None}


def test_time_limit_stops_soon_and_keeps_the_interval() -> None:
    tables = build_tables(generate("paper-4a", 150, 1), False)
    answer = BACKEND.solve(tables, everything(tables, time_limit=0.3))
    assert answer.stopped_by == "time_limit"
    assert answer.statistics["solve_s"] < 3
    assert answer.assignment is not None
    assert 0 < answer.assignment.served < answer.bound <= 150


def test_interrupt_keeps_the_incumbent(monkeypatch: pytest.MonkeyPatch) -> None:
    from formulations import threshold

    calls = []

    def interrupted(*arguments: Any) -> int:
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return search(*arguments)

    search = threshold.search
    tables = build_tables(generate("paper-4a", 30, 1), False)
    optimum = BACKEND.solve(tables, everything(tables)).bound
    monkeypatch.setattr(threshold, "search", interrupted)
    answer = BACKEND.solve(tables, everything(tables))
    assert answer.stopped_by == "interrupt"
    assert answer.assignment is not None
    assert 0 < answer.assignment.served <= optimum <= answer.bound


def test_slices_do_not_change_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = build_tables(generate("paper-5a", 20, 4), False)
    whole = BACKEND.solve(tables, everything(tables))
    monkeypatch.setattr("formulations.threshold.SLICE_S", 0.0)
    sliced = BACKEND.solve(tables, everything(tables))
    assert whole.statistics["nodes"] == sliced.statistics["nodes"]
    assert whole.assignment is not None
    assert sliced.assignment is not None
    assert (whole.assignment.modes == sliced.assignment.modes).all()


def test_harder_questions_narrow_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = build_tables(generate("paper-4a", 50, 1), False)
    optimum = BACKEND.solve(tables, everything(tables)).bound
    plain = BACKEND.solve(tables, everything(tables, node_limit=900))
    monkeypatch.setattr("formulations.threshold.PATIENCE", 100)
    narrowed = BACKEND.solve(tables, everything(tables, node_limit=900))
    assert narrowed.assignment is not None
    assert narrowed.assignment.served <= optimum <= narrowed.bound < plain.bound
    assert BACKEND.solve(tables, everything(tables)).bound == optimum


def test_tree_that_fills_up_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    from formulations import threshold

    tables = build_tables(generate("paper-5a", 20, 4), False)
    whole = BACKEND.solve(tables, everything(tables))
    new_tree = threshold.new_tree
    monkeypatch.setattr(threshold, "new_tree", lambda users: new_tree(users, 8))
    small = BACKEND.solve(tables, everything(tables))
    assert small.statistics["nodes"] == whole.statistics["nodes"]


@pytest.mark.parametrize("alpha", [0.0, 1e-14])
@pytest.mark.parametrize("beta", [0.0, 0.02])
def test_free_computing_or_free_passes(alpha: float, beta: float) -> None:
    for seed in range(3):
        instance = generate("paper-4a", 6, seed)
        hardware = instance.hardware.model_copy(
            update={"alpha_llm": alpha, "alpha_slm": alpha, "beta_llm": beta, "beta_slm": beta / 8}
        )
        free = instance.model_copy(update={"hardware": hardware})
        for rounded_up in (False, True):
            tables = build_tables(free, rounded_up)
            for with_lambda in (False, True):
                answer = BACKEND.solve(tables, everything(tables, with_lambda))
                assert answer.bound == brute_force(tables, with_lambda)


@pytest.mark.parametrize("steps", [1, 100])
def test_coarse_and_fine_z_grids(steps: int) -> None:
    grid = tuple(round(i / steps, 2) for i in range(steps + 1))
    for seed in range(3):
        tables = build_tables(generate("paper-4a", 6, seed, z_grid=grid), False)
        answer = BACKEND.solve(tables, everything(tables))
        assert answer.bound == brute_force(tables)


@pytest.mark.slow
def test_agrees_with_the_milp() -> None:
    from formulations.highs import backend

    for seed, users in enumerate((12, 14, 16, 18)):
        for family in ("paper-4a", "paper-5a", "memory-tight"):
            tables = build_tables(generate(family, users, seed), False)
            for with_lambda in (False, True):
                request = everything(tables, with_lambda)
                ours = BACKEND.solve(tables, request)
                theirs = backend().solve(tables, request)
                assert theirs.assignment is not None
                assert ours.bound == theirs.bound == theirs.assignment.served


def test_the_last_schedule_of_a_box_is_tried() -> None:
    """Where pegging left every user one mode, rewards from before it decided, and 8 was missed."""
    instance = generate("trace", 8, 5494)
    for start in (None, False):
        result = formulations.solve(instance, start=start)  # type: ignore[arg-type]
        assert (result.status, result.objective) == ("optimal", 8)
