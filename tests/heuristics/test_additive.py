"""The additive algorithm keeps its distance to the optimum, and says how far off it may be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import formulations
from heuristics.additive import additive
from heuristics.api import solve
from heuristics.balance_plus import improved
from heuristics.filling import filled
from heuristics.point import relax
from heuristics.questions import JOINT_GAP, SPLIT_GAP, Questions
from heuristics.task import Task
from heuristics.threshold_levels import build_levels, trees
from heuristics.threshold_search import HALT, TOP, Tree, new_tree
from instances import Hardware, build_tables, generate
from instances.assignment import AD, SD, Assignment, fits, to_assignment
from instances.families import find, names
from tests.heuristics.samples import ad_without_work, third
from verify import check


def asked(task: Task) -> Questions:
    return Questions(task, improved(task, 1))


@pytest.mark.parametrize("family", names())
def test_within_three_of_the_optimum_on_every_family(family: str) -> None:
    for seed in range(4):
        instance = generate(family, users=max(5 + seed, find(family).fewest), seed=seed)
        optimum = formulations.solve(instance)
        result = solve(instance, "additive")
        assert result.schedule is not None
        assert result.objective is not None
        assert result.bound is not None
        assert check(instance, result.schedule, "P1").feasible
        assert result.objective <= optimum.objective <= result.bound
        assert result.bound - result.objective <= JOINT_GAP
        balance = solve(instance)
        assert balance.objective is not None
        assert result.objective >= balance.objective


@pytest.mark.parametrize("family", ["ties", "memory-tight", "tight-half"])
def test_within_four_with_a_fixed_split(family: str) -> None:
    instance = generate(family, users=7, seed=3)
    for lam in (0.0, 0.5):
        optimum = formulations.solve(instance, "P2", lam=lam)
        result = solve(instance, "additive", lam=lam)
        assert result.problem == "P2"
        assert result.schedule is not None
        assert check(instance, result.schedule, "P2").feasible
        assert result.objective <= optimum.objective <= result.bound
        assert result.bound - result.objective <= SPLIT_GAP


def test_the_guarantee_alone_leaves_a_gap_and_patience_closes_it() -> None:
    run = asked(Task(generate("paper-4a", users=40, seed=2)))
    assert run.close(JOINT_GAP)
    assert 0 < run.bound - run.best.served <= JOINT_GAP
    assert run.close(0, nodes=100_000)
    assert run.bound == run.best.served


def test_without_nodes_nothing_is_proven() -> None:
    run = asked(Task(generate("paper-4a", users=40, seed=2)))
    assert not run.close(0, nodes=0)
    assert run.bound == max(run.most)


def test_a_broken_bound_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that ends without its proof must not pass as one."""
    monkeypatch.setattr(Questions, "close", lambda run, slack, nodes=None: True)
    with pytest.raises(RuntimeError, match="additive bound is broken"):
        solve(generate("paper-4a", users=40, seed=2), "additive")


def test_the_gap_is_that_of_the_tables_built_down() -> None:
    """A schedule that only they accept raises the goal, not the objective."""
    instance = generate("paper-4a", users=20, seed=2)
    run = asked(Task(instance))
    best = run.best
    run.best, run.reached = Assignment(np.zeros(20, np.int8), best.z_index), 0
    run.task = Task(instance.model_copy(update={"hardware": slowed(instance.hardware)}))
    assert run._accept(best.modes, best.z_index)
    assert run.best.served < run.reached
    assert run.reached >= best.served
    assert run.close(run.gap)
    run.verify_gap()


def test_what_holds_in_rationals_counts_though_tables_rounded_up_refuse_it() -> None:
    task = Task(ad_without_work([third(name) for name in "abc"]))
    assert improved(task).served == 0
    found = additive(task)
    assert (found.schedule.served, found.bound) == (3, 3)


def slowed(hardware: Hardware) -> Hardware:
    return hardware.model_copy(update={"beta_llm": 4 * hardware.beta_llm})


def at_a_point(run: Questions, best: Assignment) -> tuple[int, Tree]:
    """Return a tree that has halted at the thresholds of a schedule, and its position."""
    i = next(i for i, shares in enumerate(run.shares) if best.z_index in shares.z)
    tree = new_tree(len(best.modes))
    for mode in (AD, SD):
        side = slice((mode - 1) * 5, mode * 5)
        tree.box[0, :, side] = run.levels.rank[side, best.modes == mode].max(axis=1, initial=0)
    tree.box[0, :, 10] = np.flatnonzero(run.shares[i].z == best.z_index)[0]
    tree.tally[HALT] = 1
    return i, tree


def test_a_point_that_is_not_refuted_improves_the_incumbent() -> None:
    instance = generate("paper-4a", users=40, seed=2)
    optimum = formulations.solve(instance)
    assert optimum.schedule is not None
    best = to_assignment(instance, optimum.schedule)
    run = asked(Task(instance))
    run.best, run.reached = Assignment(np.zeros(40, np.int8), 0), 0
    i, tree = at_a_point(run, best)
    assert not run._round(i, tree, 40)
    assert (run.best.served, run.solved) == (0, 1)
    assert run._round(i, tree, best.served)
    assert run.best.served >= best.served - JOINT_GAP
    assert fits(build_tables(instance), run.best)


def test_a_point_whose_rounding_is_no_better_is_branched_on() -> None:
    """Only a question that asks for less than the gap can end so; the box goes back."""
    instance = generate("paper-4a", users=40, seed=2)
    run = asked(Task(instance))
    assert run.close(0, nodes=100_000)
    i, tree = at_a_point(run, run.best)
    assert not run._round(i, tree, run.best.served)
    assert tree.tally[TOP] == 1
    assert not tree.tally[HALT]


@pytest.mark.parametrize("lam", [None, 0.5])
def test_a_basic_optimum_splits_no_more_users_than_it_has_rows(lam: float | None) -> None:
    """The theorem, at the thresholds that all users together set, and at random ones."""
    rows, random = JOINT_GAP if lam is None else SPLIT_GAP, np.random.default_rng(5)
    most = 0
    for family, seed in itertools.product(("paper-4a", "memory-tight"), range(3)):
        instance = generate(family, users=60, seed=seed)
        task = Task(instance, lam=lam)
        down, up = build_tables(instance, rounded_up=False), build_tables(instance)
        levels = build_levels(down)
        index = None if lam is None else tuple(task.lam_indices)
        shares = trees(down, tuple(task.z_indices), index)[-1]
        for _ in range(5):
            point = np.zeros(13, np.int64)
            point[:10] = random.uniform(0.3, 1, 10) * levels.ordered.max(axis=1)
            point[10] = random.integers(1, len(shares.z))
            relaxed = relax(levels, shares, point)
            most = max(most, relaxed.split)
            assert relaxed.split <= rows
            modes, z = relaxed.rounded_down(), int(shares.z[point[10]])
            assert np.count_nonzero(modes) >= relaxed.value - rows - 1e-6
            where = None if index is None else index[0]
            assert fits(up, Assignment(modes, z, where))
            order = np.arange(len(modes))
            full = filled(up, modes, order, z, -1 if where is None else where)
            assert fits(up, Assignment(full, z, where))
            assert np.count_nonzero(full) >= np.count_nonzero(modes)
            assert (full[modes > 0] == modes[modes > 0]).all()
    assert most >= 1


def test_what_does_not_fit_is_left_out() -> None:
    instance = generate("deadline-tight", users=8, seed=1)
    tables = build_tables(instance)
    everyone = np.ones(8, np.int8)
    assert not fits(tables, Assignment(everyone, len(instance.z_grid) - 1))
    full = filled(tables, everyone, np.arange(8), len(instance.z_grid) - 1, -1)
    assert fits(tables, Assignment(full, len(instance.z_grid) - 1))
    assert 0 < np.count_nonzero(full) < 8


def test_an_interrupt_keeps_the_schedule_and_what_is_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    instance = generate("paper-5a", users=16, seed=1)
    whole = solve(instance, "additive")
    monkeypatch.setattr("heuristics.questions.search", interrupted)
    result = solve(instance, "additive")
    assert (whole.stopped_by, result.stopped_by) == (None, "interrupt")
    assert result.schedule is not None
    assert check(instance, result.schedule, "P1").feasible
    assert whole.objective is not None
    assert result.bound is not None
    assert 0 < result.schedule.served <= whole.objective < result.bound


def test_padded_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="padded"):
        solve(generate("tiny", users=3, seed=0), "additive", memory="padded")
