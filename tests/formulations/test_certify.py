"""Certificates: what a back end claims is never passed on unchecked."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import formulations
from formulations.backend import Answer, Request, create
from formulations.certify import certify
from formulations.covers import violated_covers
from formulations.flow import flow_bound
from formulations.points import Point
from formulations.starts import balance_start
from instances import CostTables, Instance, Result, Schedule, Status, build_tables
from instances.assignment import AD, SD, Assignment, fits
from instances.drafts import best_of
from instances.feasible import is_feasible
from instances.generators import generate
from tests.helpers import make_instance, make_user
from tests.heuristics.samples import not_together


@dataclass
class Scripted:
    """A back end that gives prepared answers, and remembers on which tables it was asked."""

    answers: list[Answer]
    name: str = "scripted"
    asked: list[bool] = field(default_factory=list)

    def version(self) -> str:
        return "1"

    def check(self, request: Request) -> None:
        pass

    def solve(self, tables: CostTables, request: Request) -> Answer:
        self.asked.append(tables.rounded_up)
        return self.answers[len(self.asked) - 1]


def everyone(instance: Instance, mode: int, users: int) -> Assignment:
    modes = np.zeros(len(instance.users), np.int8)
    modes[:users] = mode
    return Assignment(modes, z_index=1)


@pytest.fixture
def crowded() -> Instance:
    """Memory for two AD users of three: 5 tokens of 4 B each beside 24 B of weights."""
    return make_instance(*(make_user(f"u{i}") for i in range(3)), memory_bytes=24 + 40)


def test_false_claim_is_replaced_by_the_restriction(crowded: Instance) -> None:
    lie, truth = everyone(crowded, AD, 3), everyone(crowded, AD, 2)
    backend = Scripted([Answer(lie, 3), Answer(truth, 2)])
    certificate = certify(crowded, backend, Request((0, 1, 2)))
    assert backend.asked == [False, True]
    assert (certificate.lower, certificate.upper) == (2, 3)
    assert not certificate.proven


def test_two_false_claims_leave_the_start(crowded: Instance) -> None:
    lie, start = everyone(crowded, AD, 3), everyone(crowded, AD, 1)
    backend = Scripted([Answer(lie, 3), Answer(lie, 3)])
    certificate = certify(crowded, backend, Request((0, 1, 2), start=start))
    assert (certificate.lower, certificate.upper) == (1, 3)


@pytest.mark.parametrize("solver", ["threshold", "highs", "exhaustive"])
def test_where_less_than_a_tick_decides_the_result_says_so(solver: str) -> None:
    result = formulations.solve(not_together(), solver=solver)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, "rounding")
    assert (result.objective, result.bound) == (1, 2)


def test_another_draft_length_may_settle_what_rounding_leaves_open() -> None:
    either = not_together().model_copy(update={"draft_lengths": (1, 2)})
    assert formulations.solve(either).stopped_by == "rounding"
    settled = make_up([rounded(1, 2, "rounding"), rounded(2, 2, None)])
    assert (settled.status, settled.stopped_by) == (Status.OPTIMAL, None)
    late = make_up([rounded(1, 2, "rounding"), rounded(1, 2, "time_limit")])
    assert (late.status, late.stopped_by) == (Status.FEASIBLE, "time_limit")


def make_up(results: list[Result]) -> Result:
    given = iter(results)
    return best_of(
        not_together().model_copy(update={"draft_lengths": (1, 2)}), lambda _: next(given)
    )


def rounded(objective: int, bound: int, stopped_by: str | None) -> Result:
    return formulations.solve(not_together()).model_copy(
        update={
            "status": Status.OPTIMAL if objective == bound else Status.FEASIBLE,
            "objective": objective,
            "bound": bound,
            "stopped_by": stopped_by,
        }
    )


def test_held_claim_needs_no_second_solve(crowded: Instance) -> None:
    backend = Scripted([Answer(everyone(crowded, AD, 2), 2, None, {"nodes": 5})])
    certificate = certify(crowded, backend, Request((0, 1, 2)))
    assert backend.asked == [False]
    assert certificate.proven
    assert certificate.statistics["nodes"] == 5


def test_time_out_keeps_the_bound_without_a_schedule(crowded: Instance) -> None:
    certificate = certify(crowded, Scripted([Answer(None, 2, "time_limit")]), Request((1,)))
    assert (certificate.schedule, certificate.upper) == (None, 2)
    assert certificate.stopped_by == "time_limit"


@dataclass
class Stopped(Scripted):
    """A back end without time: it returns the start."""

    def solve(self, tables: CostTables, request: Request) -> Answer:
        return Answer(request.start, 3, "time_limit")


def test_a_start_that_only_rounding_allows_gives_way_to_one_that_holds(crowded: Instance) -> None:
    lie = everyone(crowded, AD, 3)
    certificate = certify(crowded, Stopped([]), Request((0, 1, 2), start=lie))
    assert (certificate.lower, certificate.upper) == (2, 3)
    assert certificate.stopped_by == "time_limit"


@pytest.mark.parametrize("family", ["paper-4a", "paper-5a", "memory-tight", "ties"])
@pytest.mark.parametrize("lam_indices", [None, (0, 3, 10)])
@pytest.mark.parametrize("allowed", [(True, True), (True, False), (False, True)])
def test_a_start_fits_its_tables_and_the_request(
    family: str, lam_indices: tuple[int, ...] | None, allowed: tuple[bool, bool]
) -> None:
    instance = generate(family, 9, seed=5)
    request = Request((1, 4, 6, 10), lam_indices, *allowed)
    for rounded_up in (False, True):
        tables = build_tables(instance, rounded_up)
        start = balance_start(tables, request)
        assert fits(tables, start)
        assert start.z_index in request.z_indices
        assert start.lam_index is None if lam_indices is None else start.lam_index in lam_indices
        assert (AD in start.modes) <= allowed[0]
        assert (SD in start.modes) <= allowed[1]
        assert start.served > 0 or not all(allowed)


def test_feasible_agrees_with_tables_built_up() -> None:
    """What tables built up accept holds exactly; what tables built down refuse does not."""
    instance = generate("paper-5a", 6, seed=2)
    up, down = build_tables(instance), build_tables(instance, rounded_up=False)
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(150):
        modes = (rng.random(6) < 0.4) * rng.integers(1, 3, 6)
        for lam, problem in ((None, "P1"), (4, "P2")):
            found = Assignment(modes.astype(np.int8), int(rng.integers(11)), lam)
            held = is_feasible(instance, found.to_schedule(instance), problem)
            assert fits(up, found) <= held <= fits(down, found)
            seen.add(held)
    assert seen == {True, False}


def test_feasible_minds_empty_shares() -> None:
    free = {"alpha_llm": 0.0, "alpha_slm": 0.0, "beta_llm": 0.0, "beta_slm": 0.0}
    instance = make_instance(make_user(), **free)
    assert is_feasible(instance, Schedule(z=0.5, ad=("u0",)))
    assert not is_feasible(instance, Schedule(z=0.0, ad=("u0",)))
    assert not is_feasible(instance, Schedule(z=1.0, sd=("u0",)))
    assert is_feasible(instance, Schedule(z=0.0))
    with pytest.raises(ValueError, match="P2 needs a schedule with a lambda"):
        is_feasible(instance, Schedule(z=0.5), "P2")


@pytest.mark.parametrize("family", ["paper-4a", "memory-tight", "ties", "deadline-tight"])
@pytest.mark.parametrize("lam_index", [None, 5])
def test_covers_cut_off_what_breaks_and_nothing_else(family: str, lam_index: int | None) -> None:
    """A cut removes the schedule it was made from and no schedule that fits."""
    rng = np.random.default_rng(1)
    tables = build_tables(generate(family, 7, seed=1), rounded_up=False)
    point = Point(6, lam_index)
    ad, sd = set(point.ad_users(tables)), set(point.sd_users(tables))

    def draw() -> np.ndarray:
        modes = rng.integers(0, 3, tables.users).astype(np.int8)
        for k in range(tables.users):
            if k not in (ad if modes[k] == AD else sd):
                modes[k] = 0
        return modes

    drawn = [draw() for _ in range(200)]
    fitting = [m for m in drawn if fits(tables, Assignment(m, 6, lam_index))]
    count = 0
    for modes in drawn:
        covers = violated_covers(tables, point, modes)
        assert bool(covers) != fits(tables, Assignment(modes, 6, lam_index))
        for cover in covers:
            count += 1
            assert inside(cover, modes) > cover.limit
            assert all(inside(cover, other) <= cover.limit for other in fitting)
    assert count


def inside(cover: object, modes: np.ndarray) -> int:
    ad = np.count_nonzero(modes[cover.ad] == AD)  # type: ignore[attr-defined]
    return int(ad + np.count_nonzero(modes[cover.sd] == SD))  # type: ignore[attr-defined]


@pytest.mark.parametrize("family", ["paper-4a", "memory-tight", "ties", "no-sd", "wide"])
def test_flow_bound_is_a_bound(family: str) -> None:
    instance = generate(family, 6, seed=3)
    tables = build_tables(instance, rounded_up=False)
    bounds = []
    for z_index, z in enumerate(instance.z_grid):
        bounds.append(flow_bound(tables, Point(z_index)))
        optimum = formulations.solve(instance, solver="exhaustive", z=z, start=False).objective
        assert optimum is not None
        assert bounds[-1] >= optimum
    assert family != "no-sd" or bounds[0] == 0


def test_flow_bound_counts() -> None:
    """Three fit AD alone, but memory holds two; SD takes nobody, its deadline being too short."""
    users = [make_user(f"u{i}", deadline_s=1.3) for i in range(3)]
    instance = make_instance(*users, memory_bytes=64, beta_slm=10.0)
    assert flow_bound(build_tables(instance, rounded_up=False), Point(1)) == 2


@pytest.mark.parametrize("solver", ["highs", "scip", "cp-sat"])
def test_joint_memory_one_byte_short(solver: str) -> None:
    """Float solvers take the missing byte for rounding; the cut makes their answer right."""
    instance = generate("paper-4a", 7, seed=0)
    best = formulations.solve(instance, solver="exhaustive", start=False).schedule
    assert best is not None
    tables = build_tables(instance, rounded_up=False)
    modes = np.array(
        [AD if u.id in best.ad else SD if u.id in best.sd else 0 for u in instance.users], np.int8
    )
    from instances.assignment import ad_batch, sd_batch

    need = sum(
        batch(tables, np.flatnonzero(modes == mode))[1]
        for batch, mode in ((ad_batch, AD), (sd_batch, SD))
    )
    spare = int(tables.room[instance.z_grid.index(best.z)]) - need
    hardware = instance.hardware.model_copy(
        update={"memory_bytes": instance.hardware.memory_bytes - spare - 1}
    )
    tight = instance.model_copy(update={"hardware": hardware})
    expected = formulations.solve(tight, solver="exhaustive", start=False)
    found = formulations.solve(tight, solver=solver, start=False)
    assert found.objective == found.bound == expected.objective


def test_registry_refuses_a_second_of_the_same_name() -> None:
    from formulations.backend import register

    with pytest.raises(ValueError, match="'highs' is already registered"):
        register("highs", lambda: create("highs"))
