"""Cuts: what they claim of every schedule, what they keep of the optima, and what they change."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import formulations
from formulations.points import Point
from formulations.rows import CUTS, build_rows, cuts_of
from formulations.rows.box import setting_at, whole_box
from formulations.rows.cuts import Cuts, find_cuts, find_everywhere
from instances import CostTables, build_tables
from instances.assignment import AD, SD, Assignment, fits
from instances.costs import Integers
from instances.generators import generate

FAMILIES = ("paper-4a", "paper-5a", "memory-tight", "deadline-tight", "ties", "wide")
POINTS = [Point(3), Point(7, 4), Point(10)]


def choices(modes: Integers) -> set[int]:
    """The choices that a schedule makes: user k in AD is k, in SD k + K."""
    return {*np.flatnonzero(modes == AD), *(np.flatnonzero(modes == SD) + len(modes))}


def feasible(tables: CostTables, point: Point) -> list[Integers]:
    every = (np.array(m, np.int8) for m in product((0, AD, SD), repeat=tables.users))
    return [m for m in every if fits(tables, Assignment(m, point.z_index, point.lam_index))]


def excludes(cuts: Cuts, made: set[int]) -> bool:
    return any(len(made & set(clique)) > 1 for clique in cuts.cliques)


def unserved_first(cuts: Cuts, made: set[int], users: int) -> bool:
    return any(
        made & set(some) and not made & {first, first + users} for some, first in cuts.served
    )


@pytest.mark.parametrize("rounded_up", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_cuts_hold_for_every_schedule_or_for_an_optimum(family: str, rounded_up: bool) -> None:
    """Pairs hold for all schedules; with dominance beside them, every size that is left stays."""
    excluded, unserved = 0, 0
    for seed, point in product(range(3), POINTS):
        tables = build_tables(generate(family, 5, seed=seed), rounded_up)
        setting = setting_at(tables, point, tables.users)
        pairs = find_cuts(setting, whole_box(setting), ["pairs"])
        both = find_cuts(setting, whole_box(setting), ["pairs", "dominance"])
        left: dict[int, bool] = {}
        for modes in feasible(tables, point):
            made, served = choices(modes), int(np.count_nonzero(modes))
            assert not excludes(pairs, made)
            kept = not excludes(both, made) and not unserved_first(both, made, tables.users)
            left[served] = left.get(served, False) or kept
            unserved += not kept
        assert all(left.values())
        excluded += len(pairs.cliques)
    assert unserved > 0
    assert excluded > 0 or family in ("ties", "wide")


@pytest.mark.parametrize("family", FAMILIES)
def test_counts_hold_for_every_schedule(family: str) -> None:
    binding = 0
    for seed, point in product(range(3), POINTS):
        tables = build_tables(generate(family, 5, seed=seed), False)
        setting = setting_at(tables, point, tables.users)
        caps = find_cuts(setting, whole_box(setting), ["count"]).caps
        for modes, (side, code) in product(feasible(tables, point), enumerate((AD, SD))):
            mode = setting.modes[side]
            members = np.isin(mode.users, np.flatnonzero(modes == code))
            for t, threshold in enumerate(mode.thresholds if members.any() else ()):
                most = caps[side][t][threshold.rank[members].max()]
                assert members.sum() <= most
                binding += int(members.sum() == most)
    assert binding > 0


def test_cuts_that_hold_everywhere_hold_at_each_z() -> None:
    for family, seed in product(FAMILIES, range(2)):
        tables = build_tables(generate(family, 4, seed=seed), False)
        points = [Point(z) for z in range(11)]
        cuts = find_everywhere(tables, points, CUTS)
        for point in points:
            sizes: dict[int, bool] = {}
            for modes in feasible(tables, point):
                made, served = choices(modes), int(np.count_nonzero(modes))
                kept = not excludes(cuts, made) and not unserved_first(cuts, made, tables.users)
                sizes[served] = sizes.get(served, False) or kept
            assert all(sizes.values())


LINES = [
    *(("highs@compact", cut) for cut in CUTS),
    *((line, "all") for line in ("highs@levels", "highs@steps", "highs@boxed", "scip@compact")),
    *(("cp-sat@compact", cut) for cut in (*CUTS, "all")),
]


@pytest.mark.parametrize(("line", "cuts"), LINES)
def test_cuts_change_no_optimum(line: str, cuts: str) -> None:
    solver, _, name = line.partition("@")
    for problem, family in (("P1", "paper-5a"), ("P2", "memory-tight")):
        instance = generate(family, 5, seed=4)
        expected = formulations.solve(instance, problem, "exhaustive").objective
        found = formulations.solve(
            instance, problem, solver, start=False, formulation=name, cuts=cuts
        )
        assert (found.objective, found.bound) == (expected, expected)


def test_every_cut_adds_rows() -> None:
    tables = build_tables(generate("paper-5a", 12, seed=1), False)
    for name in ("compact", "levels", "steps"):
        plain = len(build_rows(tables, Point(4), name).rows)
        for cut in CUTS:
            assert len(build_rows(tables, Point(4), name, [cut]).rows) > plain


def test_names_of_cuts() -> None:
    assert cuts_of({}) == cuts_of({"cuts": "none"}) == cuts_of({"cuts": []}) == ()
    assert cuts_of({"cuts": "all"}) == CUTS
    assert cuts_of({"cuts": "count,pairs"}) == cuts_of({"cuts": ["pairs", "count"]})
    assert cuts_of({}, "dominance") == ("dominance",)
    assert cuts_of({"formulation": "compact"}, "dominance") == ()
    with pytest.raises(ValueError, match="unknown cut 'cliques'"):
        cuts_of({"cuts": ["cliques"]})
    with pytest.raises(ValueError, match="unknown cut"):
        formulations.solve(generate("ties", 3, seed=1), solver="cp-sat", cuts="cuts")


def test_dominance_minds_what_users_are_worth() -> None:
    plain = generate("deadline-tight", 6, seed=2)
    worth = [user.model_copy(update={"value": 1 + j % 4}) for j, user in enumerate(plain.users)]
    instance = plain.model_copy(update={"users": tuple(worth)})
    for solver in ("highs", "cp-sat"):
        best = {
            cuts: formulations.solve(
                instance, solver=solver, start=False, formulation="compact", cuts=cuts
            ).objective
            for cuts in ("none", "dominance")
        }
        assert best["none"] == best["dominance"]
