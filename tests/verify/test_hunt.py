"""verify.hunt: what it must find, that it finds it again, and that it trusts nobody."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import formulations
import heuristics
from instances import InputError, Instance, Schedule, build_tables, generate, load
from instances.commandline import Exit
from instances.randomness import Stream
from verify import algorithms, check, hunting
from verify import hunt as hunt_command
from verify.grid_optima import optima
from verify.hunting import Quarry, Tracks, Trial, hunt
from verify.mutations import mutated, random_instance
from verify.optima import WrongAnswer


def _last(*arguments: Any, **limits: Any) -> Tracks:
    *_, last = hunt(*arguments, **limits)
    return last


def test_half_is_found_for_the_corrected_algorithm_and_nothing_below() -> None:
    tracks = _last(Quarry("balance"), seed=0, evaluations=3000)
    assert tracks.worst is not None
    assert tracks.worst.ratio == 0.5


def test_the_printed_algorithm_falls_below_half_from_a_random_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = hunt_command.main(
        "printed", evaluations=8000, until=0.49, seed=2, output=tmp_path, as_json=True
    )
    found = json.loads(capsys.readouterr().out)
    assert code is Exit.VIOLATION
    instance = load(found["worst"]["file"])
    printed = heuristics.solve(instance, memory="padded")
    assert printed.schedule is not None
    assert check(instance, printed.schedule, "P2").feasible
    best = formulations.solve(instance, start=False)
    assert 2 * printed.schedule.served < (best.objective or 0) == best.bound
    assert heuristics.solve(instance).objective * 2 >= best.objective  # type: ignore[operator]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_printed_algorithm_falls_below_half_within_two_minutes(seed: int) -> None:
    tracks = _last(Quarry("printed"), seed=seed, seconds=120.0, until=0.49)
    assert tracks.worst is not None
    assert tracks.worst.ratio < 0.5


def test_the_same_seed_finds_the_same_instances() -> None:
    first, second = (_last(Quarry("balance", users=3), seed=5, evaluations=300) for _ in range(2))
    assert first.worst is not None
    assert second.worst is not None
    assert first.worst.instance == second.worst.instance
    assert (first.restarts, first.evaluations) == (second.restarts, 300)
    other = _last(Quarry("balance", users=3), seed=6, evaluations=300)
    assert other.worst is not None
    assert other.worst.instance != first.worst.instance


def test_a_hunt_ends_in_time() -> None:
    ticks = iter(range(100))
    tracks = _last(Quarry("balance", users=2), seconds=7.0, clock=lambda: float(next(ticks)))
    assert tracks.evaluations == 7


@pytest.mark.parametrize("family", ["memory-tight", "ties", "no-ad", "printed-trap", "tight-half"])
@pytest.mark.parametrize("problem", ["P1", "P2"])
def test_optima_on_the_grid_are_certified_ones(family: str, problem: Any) -> None:
    instance = generate(family, 7, 3)
    found = optima(build_tables(instance))
    best = found.p1(7) if problem == "P1" else found.p2(7)
    assert best.served == formulations.solve(instance, problem, start=False).objective
    assert check(instance, best.to_schedule(instance), problem).feasible


def test_optima_at_every_point_bound_the_algorithm_there() -> None:
    instance = generate("memory-tight", 6, 8)
    split = optima(build_tables(instance)).split
    for (z, lam), best in np.ndenumerate(split):
        point = {"z": instance.z_grid[z], "lam": instance.lambda_grid[lam]}
        assert best / 2 <= heuristics.solve(instance, **point).objective <= best


def test_random_instances_and_their_changes_are_valid() -> None:
    stream = Stream("test", 0)
    instance = random_instance(stream, 4)
    for _ in range(200):
        optimal = optima(build_tables(instance)).p1(4).to_schedule(instance)
        instance = mutated(instance, optimal, stream)
        Instance.model_validate(instance.model_dump(by_alias=True))


def _nobody(instance: Instance) -> Schedule:
    return Schedule(z=0.5, lam=0.5)


def _everybody_in_ad(instance: Instance) -> Schedule:
    return Schedule(z=1.0, lam=1.0, ad=tuple(user.id for user in instance.users))


@pytest.mark.parametrize(
    ("own", "fault"), [(_nobody, "0.000 < 1/2"), (_everybody_in_ad, "an infeasible schedule")]
)
def test_bad_algorithms_fail(
    own: Callable[[Instance], Schedule],
    fault: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(algorithms, "run", lambda name, instance: own(instance))
    code = hunt_command.main("ad-only", evaluations=30, output=tmp_path)
    assert code is Exit.VIOLATION
    assert f"FAIL: {fault}" in capsys.readouterr().out


def test_an_infeasible_schedule_has_no_ratio() -> None:
    instance = random_instance(Stream("test", 0), 2)
    trial = Trial(instance, 0, 2, Schedule(z=0.5), feasible=False)
    assert trial.ratio == 1
    assert replace(trial, feasible=True).ratio == 0


def test_a_wrong_optimum_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    tracks = _last(Quarry("balance", users=3), evaluations=50)
    assert tracks.worst is not None
    monkeypatch.setattr(hunting, "optimum", lambda instance, problem: 99)
    with pytest.raises(WrongAnswer, match="the certified optimum is 99"):
        Quarry("balance").certified(tracks.worst)


def test_an_interrupted_hunt_says_where_the_find_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*arguments: Any) -> Iterator[Tracks]:
        yield from itertools.islice(hunt(*arguments), 1)
        raise KeyboardInterrupt

    monkeypatch.setattr(hunt_command, "hunt", interrupted)
    assert hunt_command.main(users=2, output=tmp_path, as_json=True) is Exit.INTERRUPTED
    out, err = capsys.readouterr()
    found = tmp_path / "worst-balance.json"
    assert err == f"interrupted; the worst so far lies in {found}\n"
    assert not out
    assert len(load(found).users) == 2


def test_an_unknown_algorithm_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown algorithm 'magic'"):
        hunt_command.main("magic", output=tmp_path)
