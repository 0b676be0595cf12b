"""Theorems of the model, each on random small instances: what may change an optimum, and how.

More examples than the suite draws: ``python -m pytest --hypothesis-profile=thorough
tests/formulations/test_properties.py``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import formulations
from instances import Instance, Problem, Status, User, build_tables, dumps, loads
from instances.numbers import exact
from tests.helpers import brute_force
from tests.strategies import SECONDS, instances, users
from verify import check

#: P1 shares the memory, P2 splits it: every theorem about both is tried on either.
PROBLEMS = st.sampled_from(["P1", "P2"])


def optimum(instance: Instance, problem: Problem = "P1", **fixed: Any) -> int:
    """The certified optimum; its schedule passes the judge."""
    result = formulations.solve(instance, problem, **fixed)
    assert result.status is Status.OPTIMAL
    assert result.schedule is not None
    assert check(instance, result.schedule, problem).feasible
    assert result.bound == result.objective == result.schedule.served
    return result.objective


def with_users(instance: Instance, *changed: User) -> Instance:
    return instance.model_copy(update={"users": changed})


def with_hardware(instance: Instance, **changes: Any) -> Instance:
    hardware = instance.hardware.model_copy(update=changes)
    return instance.model_copy(update={"hardware": hardware})


def times(value: float, factor: Fraction) -> float:
    """The product, which must be a float's decimal."""
    product = float(exact(value) * factor)
    assert exact(product) == exact(value) * factor
    return product


@given(instances(), PROBLEMS, st.integers(1, 200))
def test_more_memory_never_lowers_it(instance: Instance, problem: Problem, more: int) -> None:
    larger = with_hardware(instance, memory_bytes=instance.hardware.memory_bytes + more)
    assert optimum(instance, problem) <= optimum(larger, problem)


@given(instances(), PROBLEMS, st.lists(SECONDS, min_size=6, max_size=6))
def test_later_deadlines_never_lower_it(
    instance: Instance, problem: Problem, more: list[float]
) -> None:
    patient = [
        user.model_copy(update={"deadline_s": user.deadline_s + seconds})
        for user, seconds in zip(instance.users, more, strict=False)
    ]
    assert optimum(instance, problem) <= optimum(with_users(instance, *patient), problem)


@given(
    instances(),
    PROBLEMS,
    st.lists(
        st.sampled_from(["alpha_llm", "alpha_slm", "beta_llm", "beta_slm"]), min_size=1, unique=True
    ),
)
def test_a_faster_gpu_never_lowers_it(
    instance: Instance, problem: Problem, faster: list[str]
) -> None:
    halves = {name: getattr(instance.hardware, name) / 2 for name in faster}
    assert optimum(instance, problem) <= optimum(with_hardware(instance, **halves), problem)


@given(instances(), PROBLEMS, st.sampled_from(["input_tokens", "output_tokens"]))
def test_shorter_requests_never_lower_it(instance: Instance, problem: Problem, length: str) -> None:
    shorter = [
        user.model_copy(update={length: max(1, getattr(user, length) - 1)})
        for user in instance.users
    ]
    assert optimum(instance, problem) <= optimum(with_users(instance, *shorter), problem)


@given(instances(), PROBLEMS, st.sampled_from(["z_grid", "lambda_grid"]), st.integers(1, 99))
def test_a_finer_grid_never_lowers_it(
    instance: Instance, problem: Problem, grid: str, percent: int
) -> None:
    finer = tuple(sorted({*getattr(instance, grid), percent / 100}))
    more = instance.model_copy(update={grid: finer})
    assert optimum(instance, problem) <= optimum(more, problem)


@given(instances(), PROBLEMS, st.data())
def test_the_order_of_the_users_does_not_matter(
    instance: Instance, problem: Problem, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(instance.users))
    assert optimum(instance, problem) == optimum(with_users(instance, *shuffled), problem)


@given(instances(), PROBLEMS, st.sampled_from([Fraction(1, 4), Fraction(2), Fraction(10)]))
def test_the_unit_of_time_does_not_matter(
    instance: Instance, problem: Problem, factor: Fraction
) -> None:
    names = ("alpha_llm", "alpha_slm", "beta_llm", "beta_slm")
    slower = {name: times(getattr(instance.hardware, name), factor) for name in names}
    later = [
        user.model_copy(
            update={
                "deadline_s": times(user.deadline_s, factor),
                "uplink_hz": times(user.uplink_hz, 1 / factor),
                "downlink_hz": times(user.downlink_hz, 1 / factor),
            }
        )
        for user in instance.users
    ]
    scaled = with_users(with_hardware(instance, **slower), *later)
    assert optimum(instance, problem) == optimum(scaled, problem)


@given(instances(), PROBLEMS, st.integers(2, 1000))
def test_the_unit_of_memory_does_not_matter(
    instance: Instance, problem: Problem, factor: int
) -> None:
    hardware = instance.hardware
    scaled = with_hardware(
        instance,
        memory_bytes=hardware.memory_bytes * factor,
        bytes_per_value=hardware.bytes_per_value * factor,
    )
    assert optimum(instance, problem) == optimum(scaled, problem)


@given(instances(most=5), PROBLEMS, users())
def test_one_user_more_adds_one_or_nothing(
    instance: Instance, problem: Problem, user: User
) -> None:
    """A schedule without one of its users stays feasible."""
    more = optimum(with_users(instance, *instance.users, user), problem)
    assert more - optimum(instance, problem) in (0, 1)


@given(instances(most=4), PROBLEMS)
def test_everyone_twice_serves_at_most_twice_as_many(instance: Instance, problem: Problem) -> None:
    twins = [user.model_copy(update={"id": f"{user.id}-twin"}) for user in instance.users]
    twice = optimum(with_users(instance, *instance.users, *twins), problem)
    once = optimum(instance, problem)
    assert once <= twice <= 2 * once


@given(instances())
def test_a_file_holds_all_of_an_instance(instance: Instance) -> None:
    assert loads(dumps(instance)) == instance


@given(instances())
def test_p2_is_at_most_p1(instance: Instance) -> None:
    assert optimum(instance, "P2") <= optimum(instance)


@given(instances(), st.data())
def test_p3_lies_between_its_parts_and_their_sum(instance: Instance, data: st.DataObject) -> None:
    """P3.1 is AD alone, P3.2 is SD alone over all users, all at one (z, λ)."""
    point = {
        "z": data.draw(st.sampled_from(instance.z_grid)),
        "lam": data.draw(st.sampled_from(instance.lambda_grid)),
    }
    ad, sd = (optimum(instance, "P3", modes=modes, **point) for modes in ("ad-only", "sd-only"))
    both = optimum(instance, "P3", **point)
    assert max(ad, sd) <= both <= ad + sd
    assert both <= optimum(instance, "P2")


@given(instances(most=4), st.booleans())
def test_restriction_and_relaxation_enclose_it(instance: Instance, split: bool) -> None:
    """A brute force over the tables rounded up, the optimum, and one over those rounded down."""
    restricted, relaxed = (
        brute_force(build_tables(instance, rounded_up), split) for rounded_up in (True, False)
    )
    assert restricted <= optimum(instance, "P2" if split else "P1") <= relaxed
