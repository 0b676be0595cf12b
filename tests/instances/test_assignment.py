"""`Assignment` and `fits`: what tables built up accept is feasible, built down they are relaxed."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import make_instance, make_user

from instances import FAMILIES, Instance, Schedule, build_tables, generate
from instances.assignment import AD, NONE, SD, Assignment, fits, to_assignment
from instances.exact import ad_latency, ad_memory, download_time, sd_latency, sd_memory
from instances.feasible import is_feasible
from instances.randomness import Stream


def assign(modes: list[int], z_index: int, lam_index: int | None = None) -> Assignment:
    return Assignment(np.array(modes, np.int8), z_index, lam_index)


def accepted(instance: Instance, assignment: Assignment) -> tuple[bool, bool, bool]:
    """Return what the tables built up, the exact test and the tables built down say."""
    problem = "P1" if assignment.lam_index is None else "P2"
    return (
        fits(build_tables(instance), assignment),
        is_feasible(instance, assignment.to_schedule(instance), problem),
        fits(build_tables(instance, rounded_up=False), assignment),
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_up_implies_exact_implies_down(family: str) -> None:
    yes = no = 0
    for seed in range(4):
        instance = generate(family, 7, seed)
        up, down = build_tables(instance), build_tables(instance, rounded_up=False)
        stream = Stream("random assignments", seed)
        for trial in range(30):
            modes = [NONE] * 7
            for _ in range(stream.integer(1, 4)):
                modes[stream.integer(0, 6)] = stream.choice((AD, SD))
            lam = stream.choice((None, stream.integer(0, 10)))
            assignment = assign(modes, stream.integer(0, 10), lam)
            problem = "P1" if lam is None else "P2"
            truth = is_feasible(instance, assignment.to_schedule(instance), problem)
            assert truth or not fits(up, assignment), (seed, trial)
            assert fits(down, assignment) or not truth, (seed, trial)
            yes, no = yes + truth, no + (not truth)
    assert no > 0
    assert yes > 0


#: α = 1e-3 and so on make every time below a whole number of ticks.
LONG = {"input_tokens": 2, "output_tokens": 3}
SHORT = {"input_tokens": 1, "output_tokens": 1, "acceptance_rate": 0.0}


def full(**changes: float) -> Instance:
    """An instance that AD for `a`, `b` and SD for `c`, `d` at z = 1/2 fills exactly."""
    users = [make_user(n, **kind) for n, kind in zip("abcd", [LONG, SHORT] * 2, strict=True)]
    instance = make_instance(*users)
    ends = [ad_latency(instance, users[:2], 0.5)] * 2 + [sd_latency(instance, users[2:], 0.5)] * 2
    memory = 24 + ad_memory(instance, users[:2]) + int(sd_memory(instance, users[2:]))
    exactly = [
        user.model_copy(
            update={
                "deadline_s": float(end + download_time(instance, user)) - changes.get(user.id, 0)
            }
        )
        for user, end in zip(users, ends, strict=True)
    ]
    return make_instance(*exactly, memory_bytes=memory - int(changes.get("bytes", 0)))


def test_exactly_full_resources_fit() -> None:
    assert accepted(full(), assign([AD, AD, SD, SD], 1)) == (True, True, True)


@pytest.mark.parametrize("short_of", [{"a": 1e-12}, {"c": 1e-12}, {"d": 1e-12}, {"bytes": 1}])
def test_a_tick_or_byte_less_does_not(short_of: dict[str, float]) -> None:
    assert accepted(full(**short_of), assign([AD, AD, SD, SD], 1)) == (False, False, False)


def test_exactly_full_shares_of_memory() -> None:
    # AD needs 32 bytes and SD 60: at λ = 0.4 of 80 bytes AD is exactly full, SD is not
    instance = make_instance(
        *(make_user(n, **LONG) for n in "ab"), memory_bytes=24 + 50, lambda_grid=(0.0, 0.4, 1.0)
    )
    # one LONG user in AD needs 4 * 5 = 20 bytes = 0.4 * 50; in SD 14 + 18 = 32 > 0.6 * 50
    assert accepted(instance, assign([AD, NONE], 1, 1)) == (True, True, True)
    assert accepted(instance, assign([NONE, SD], 1, 1)) == (False, False, False)
    assert accepted(instance, assign([AD, SD], 1)) == (False, False, False)  # 52 > 50
    assert accepted(instance, assign([NONE, SD], 1, 0)) == (True, True, True)


def test_a_mode_without_a_share_stays_empty() -> None:
    # α = β = 0: everything is free, and still nobody is served by no GPU at all
    free = {"alpha_llm": 0.0, "beta_llm": 0.0, "alpha_slm": 0.0, "beta_slm": 0.0}
    instance = make_instance(make_user(), **free)
    assert accepted(instance, assign([AD], 0)) == (False, False, False)
    assert accepted(instance, assign([SD], 2)) == (False, False, False)
    assert accepted(instance, assign([SD], 0)) == (True, True, True)
    assert accepted(instance, assign([AD], 2)) == (True, True, True)


def test_without_room_for_the_weights_nobody_is_served() -> None:
    between = make_instance(make_user(output_tokens=1, input_tokens=1), memory_bytes=20)
    assert accepted(between, assign([AD], 2)) == (True, True, True)  # z = 1 needs no small model
    assert accepted(between, assign([AD], 1)) == (False, False, False)
    assert accepted(between, assign([NONE], 1)) == (True, True, True)


def test_schedules_and_assignments_are_the_same_thing() -> None:
    instance = make_instance(*(make_user(n) for n in "abc"))
    schedule = Schedule(z=0.5, lam=1.0, ad=("c",), sd=("a",))
    assignment = to_assignment(instance, schedule)
    assert assignment.modes.tolist() == [SD, NONE, AD]
    assert assignment.served == schedule.served == 2
    assert assignment.to_schedule(instance) == schedule
    shared = to_assignment(instance, Schedule(z=0))
    assert shared.lam_index is None
    assert shared.to_schedule(instance) == Schedule(z=0)


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (Schedule(z=0.5, ad=("x",)), "user 'x' is not in the instance"),
        (Schedule(z=0.25), "z = 0.25 is not in z_grid"),
        (Schedule(z=0.5, lam=0.1), r"lambda = 0.1 is not in lambda_grid"),
    ],
)
def test_unknown_users_and_shares_are_refused(schedule: Schedule, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_assignment(make_instance(make_user()), schedule)
