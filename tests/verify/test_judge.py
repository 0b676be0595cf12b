"""The judge on cases computed by hand, and beside the integer tables."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import verify
from instances import (
    FAMILIES,
    Hardware,
    Instance,
    Schedule,
    Transformer,
    User,
    build_tables,
    generate,
)
from instances.assignment import Assignment, fits
from instances.feasible import is_feasible

MODEL = Transformer(layers=1, hidden_size=1, num_heads=1, head_dim=1, intermediate_size=1)
#: By hand, at z = 1/2. Both users: 2 s up, 2 s down, L^I = L^O = 2. Weights are 12 B a model,
#: κ = 4 B. Γ^p(2) = 40, Γ^a(2, 1) = Γ^v(2, 1) = 24 FLOP.
#: AD: 2 + 2 · 0.5 + (0.001 / 0.5)(40 + 24) s, 4 (2 + 2) B.
AD_SECONDS, AD_BYTES = Fraction("3.128"), 16
#: SD (N = 1): 2 + 2 · 0.5 + 0.25 + (0.001 / 0.5)(40 + 40 + 24) s, 4 (2 + 1) + 4 (2 + 2) B.
SD_SECONDS, SD_BYTES = Fraction("3.458"), 28
WEIGHTS = 24


def user(name: str, deadline_s: float, acceptance_rate: float = 1.0) -> User:
    return User(
        id=name,
        input_tokens=2,
        output_tokens=2,
        deadline_s=deadline_s,
        acceptance_rate=acceptance_rate,
        uplink_hz=1.0,
        uplink_bps_per_hz=1.0,
        downlink_hz=1.0,
        downlink_bps_per_hz=1.0,
    )


def instance(memory: int = WEIGHTS + AD_BYTES + SD_BYTES, a: float = 5.128, b: float = 5.458):
    """Users a (AD) and b (SD); by default both latencies and the memory are exactly full."""
    return Instance(
        llm=MODEL,
        slm=MODEL,
        hardware=Hardware(
            memory_bytes=memory,
            bytes_per_value=2,
            alpha_llm=0.001,
            beta_llm=0.5,
            alpha_slm=0.001,
            beta_slm=0.25,
        ),
        draft_length=1,
        bits_per_token=1.0,
        z_grid=(0.0, 0.5, 1.0),
        lambda_grid=(0.0, 0.25, 0.5, 1.0),
        users=(user("a", a), user("b", b)),
    )


BOTH = Schedule(z=0.5, ad=("a",), sd=("b",))


def split(lam: float, z: float = 0.5) -> Schedule:
    return Schedule(z=z, lam=lam, ad=("a",), sd=("b",))


def test_exactly_full_resources_are_feasible() -> None:
    report = verify.check(instance(), BOTH)
    slack = {row.kind: row.slack for row in report.inequalities}
    assert report.feasible
    assert report.violations == {}
    assert slack["ad_latency"] == slack["sd_latency"] == slack["memory"] == 0


def test_both_sides_of_every_row_are_the_hand_computed_ones() -> None:
    rows = {row.kind: row for row in verify.check(instance(), BOTH).inequalities}
    assert (rows["ad_latency"].left, rows["ad_latency"].right) == (AD_SECONDS, AD_SECONDS)
    assert (rows["sd_latency"].left, rows["sd_latency"].right) == (SD_SECONDS, SD_SECONDS)
    assert (rows["memory"].left, rows["memory"].right) == (AD_BYTES + SD_BYTES,) * 2
    assert rows["ad_latency"].user == "a"
    assert rows["sd_latency"].user == "b"


@pytest.mark.parametrize(
    ("changes", "kind", "slack"),
    [
        ({"memory": WEIGHTS + AD_BYTES + SD_BYTES - 1}, "memory", Fraction(-1)),
        ({"a": 5.127999999999}, "ad_latency", Fraction(-1, 10**12)),
        ({"b": 5.457999999999}, "sd_latency", Fraction(-1, 10**12)),
    ],
)
def test_one_byte_or_one_picosecond_over_is_measured(changes, kind: str, slack: Fraction) -> None:
    report = verify.check(instance(**changes), BOTH)
    assert not report.feasible
    assert report.violations == {kind: 1}
    assert report.worst[kind].slack == slack


def test_split_memory_is_judged_by_part() -> None:
    room = 2 * SD_BYTES
    roomy = instance(memory=WEIGHTS + room)
    full = verify.check(roomy, split(0.5), "P2")
    assert full.feasible
    assert full.worst["sd_memory"].slack == 0
    assert full.worst["ad_memory"].slack == room / 2 - AD_BYTES
    short = verify.check(roomy, split(0.25), "P2")
    assert short.violations == {"ad_memory": 1}
    assert short.worst["ad_memory"].slack == Fraction(room, 4) - AD_BYTES
    assert verify.check(instance(), split(0.5), "P3").violations == {"sd_memory": 1}


def test_under_p1_a_split_schedule_has_the_joint_row() -> None:
    report = verify.check(instance(), split(0.5), "P1")
    assert report.feasible
    assert "ad_memory" not in report.worst


@pytest.mark.parametrize(("z", "kind"), [(0.0, "ad_share"), (1.0, "sd_share")])
def test_a_mode_without_a_share_serves_nobody(z: float, kind: str) -> None:
    report = verify.check(instance(memory=1000, a=1000.0, b=1000.0), split(0.5, z))
    assert report.violations == {kind: 1}
    assert kind.replace("share", "latency") not in report.worst


def test_shares_off_the_grids_are_a_violation_of_their_own() -> None:
    roomy = instance(memory=1000, a=1000.0, b=1000.0)
    assert verify.check(roomy, split(0.5, z=0.6)).violations == {"z_grid": 1}
    report = verify.check(roomy, split(0.3), "P2")
    assert report.violations == {"lambda_grid": 1}
    assert report.worst["lambda_grid"].slack == Fraction(-1, 20)
    assert verify.check(roomy, split(0.3), "P1").feasible


def test_a_draft_length_that_is_no_choice_is_a_violation_by_its_distance() -> None:
    choice = instance(memory=1000, b=1000.0).model_copy(update={"draft_lengths": (1, 3)})
    served = {length: Schedule(z=0.5, sd=("b",), draft_length=length) for length in (3, 6)}
    assert verify.check(choice, served[3]).worst["draft_lengths"].slack == 0
    report = verify.check(choice, served[6])
    assert report.violations == {"draft_lengths": 1}
    assert report.worst["draft_lengths"].slack == -3


def test_every_late_user_counts() -> None:
    late = instance(a=3.0, b=3.0)
    report = verify.check(late, Schedule(z=0.5, ad=("a", "b")))
    assert report.violations["ad_latency"] == 2
    assert report.worst["ad_latency"].user == "a"  # the first of equals


@pytest.mark.parametrize("problem", ["P1", "P2", "P3"])
def test_the_empty_schedule_is_feasible_where_the_weights_do_not_fit(problem) -> None:
    nothing = instance(memory=WEIGHTS - 1)
    assert verify.check(nothing, Schedule(z=0.5, lam=0.5), problem).feasible
    one = Schedule(z=0.5, lam=0.5, ad=("a",))
    assert not verify.check(nothing, one, problem).feasible


def test_at_full_share_the_small_model_needs_no_room() -> None:
    enough = instance(memory=12 + AD_BYTES, a=1000.0)
    assert verify.check(enough, Schedule(z=1.0, ad=("a",))).feasible
    assert verify.check(enough, Schedule(z=0.5, ad=("a",))).violations == {"memory": 1}


def test_malformed_schedules_are_refused() -> None:
    with pytest.raises(ValueError, match="no such user in the instance: 'x', 'y'"):
        verify.check(instance(), Schedule(z=0.5, ad=("x", "a"), sd=("y",)))
    with pytest.raises(ValueError, match="P2 needs a lambda"):
        verify.check(instance(), BOTH, "P2")
    with pytest.raises(ValueError, match="unknown problem 'P4'"):
        verify.check(instance(), BOTH, "P4")  # type: ignore[arg-type]
    twice = Schedule.model_construct(z=0.5, lam=None, ad=("a",), sd=("a",))
    with pytest.raises(ValueError, match="more than once: 'a'"):
        verify.check(instance(), twice)


@pytest.mark.parametrize("problem", ["P1", "P2", "P3"])
@pytest.mark.parametrize(
    "data",
    [
        instance(),
        instance(memory=WEIGHTS + AD_BYTES + SD_BYTES - 1),
        instance(a=5.127999999999),
        instance(b=5.457999999999),
        instance(memory=WEIGHTS + 2 * SD_BYTES),
        instance(memory=WEIGHTS + 4 * AD_BYTES, b=1000.0),
        instance(memory=WEIGHTS - 1, a=1000.0, b=1000.0),
        instance(memory=1000, a=1000.0, b=1000.0),
    ],
)
def test_certificates_decide_as_the_judge_does(data: Instance, problem) -> None:
    """Exactly full, a byte or a picosecond over, a mode without a share, no room for weights."""
    batches = [((), ()), (("a",), ()), ((), ("b",)), (("a",), ("b",)), (("a", "b"), ())]
    for z, lam, (ad, sd) in itertools.product(data.z_grid, data.lambda_grid, batches):
        schedule = Schedule(z=z, lam=lam, ad=ad, sd=sd)
        expected = verify.check(data, schedule, problem).feasible
        assert is_feasible(data, schedule, problem) == expected


def plain(kind: str, user: str | None, left: float, right: float, slack: str, unit: str) -> dict:
    return {
        "kind": kind,
        "user": user,
        "left": left,
        "right": right,
        "slack": right - left,
        "exact_slack": slack,
        "unit": unit,
        "holds": right >= left,
    }


def test_a_report_as_plain_data() -> None:
    report = verify.check(instance(memory=WEIGHTS + AD_BYTES + SD_BYTES - 1, b=5.5), BOTH).to_dict()
    assert report.pop("inequalities") == [
        plain("z_grid", None, 0, 0, "0", ""),
        plain("ad_share", None, 0, 0.5, "1/2", ""),
        plain("sd_share", None, 0, 0.5, "1/2", ""),
        plain("memory", None, 44, 43, "-1", "B"),
        plain("ad_latency", "a", 3.128, 3.128, "0", "s"),
        {**plain("sd_latency", "b", 3.458, 3.5, "21/500", "s"), "slack": 0.042},
    ]
    assert report == {
        "problem": "P1",
        "feasible": False,
        "served": 2,
        "violations": {"memory": 1},
    }


def test_split_memory_is_measured_in_bytes() -> None:
    rows = verify.check(instance(), split(0.5), "P2").worst
    assert (rows["ad_memory"].unit, rows["sd_memory"].unit) == ("B", "B")


def test_a_report_names_the_value_where_it_is_not_the_number_of_users() -> None:
    worthy = instance()
    users = tuple(each.model_copy(update={"value": 3}) for each in worthy.users)
    worthy = worthy.model_copy(update={"users": users})
    assert verify.check(worthy, BOTH).to_dict()["value"] == 6


def test_a_time_beyond_all_doubles_is_none_in_plain_data() -> None:
    slow = instance().hardware.model_copy(update={"alpha_llm": 1e308})
    report = verify.check(instance().model_copy(update={"hardware": slow}), BOTH).to_dict()
    late = {row["kind"]: row for row in report["inequalities"]}["ad_latency"]
    assert (late["left"], late["slack"], late["holds"]) == (None, None, False)
    assert late["right"] == 3.128


def random_assignment(data: Instance, random: np.random.Generator, with_lambda: bool):
    share = random.uniform(0, 1)
    modes = random.choice(3, len(data.users), p=[1 - share, share / 2, share / 2])
    lam = int(random.integers(len(data.lambda_grid))) if with_lambda else None
    return Assignment(modes.astype(np.int8), int(random.integers(len(data.z_grid))), lam)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_tables_bracket_the_judge(family: str) -> None:
    """Built up they accept only what is feasible, built down everything that is."""
    random = np.random.default_rng(0)
    for seed in range(3):
        data = generate(family, seed=seed)
        up, down = build_tables(data), build_tables(data, rounded_up=False)
        for with_lambda in (False, True) * 15:
            assignment = random_assignment(data, random, with_lambda)
            problem = "P2" if with_lambda else "P1"
            feasible = verify.check(data, assignment.to_schedule(data), problem).feasible
            assert fits(up, assignment) <= feasible <= fits(down, assignment)


def test_random_schedules_are_of_both_kinds() -> None:
    """What the bracketing test draws would be worth little if all were feasible, or none."""
    random = np.random.default_rng(0)
    data = generate("paper-4a", users=10, seed=0)
    found = {
        verify.check(data, random_assignment(data, random, False).to_schedule(data)).feasible
        for _ in range(40)
    }
    assert found == {True, False}
