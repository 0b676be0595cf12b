"""Cost tables at their edges: the last tick and byte, cut deadlines, users out of reach."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import UNIT, make_instance, make_user

from instances import User, build_tables
from instances.assignment import AD, SD, Assignment, fits


def test_a_third_of_a_tick_counts_against_the_user_built_up_and_for_them_built_down() -> None:
    # one token in 1 / 3e12 s either way: upload 1/3 ps, budget 0.3 s less 1/3 ps
    links = {"uplink_hz": 3e12, "uplink_bps_per_hz": 1.0}
    links |= {"downlink_hz": 3e12, "downlink_bps_per_hz": 1.0}
    user = make_user(input_tokens=1, output_tokens=1, deadline_s=0.3, **links)
    up, down = (build_tables(make_instance(user), rounded_up=way) for way in (True, False))
    assert (up.rounded_up, down.rounded_up) == (True, False)
    assert (up.upload.tolist(), up.deadline.tolist()) == ([1], [3 * 10**11 - 1])
    assert (down.upload.tolist(), down.deadline.tolist()) == ([0], [3 * 10**11])


def test_ticks_and_bytes_are_told_apart_where_doubles_are_not() -> None:
    # an upload of 2 / 3e-4 s; 0.99 of 10^15 + 1 bytes
    instance = make_instance(
        make_user(uplink_hz=3e-4, uplink_bps_per_hz=1.0, deadline_s=1e4),
        memory_bytes=24 + 10**15 + 1,
        lambda_grid=(0.0, 0.99, 1.0),
    )
    up, down = (build_tables(instance, rounded_up=way) for way in (True, False))
    assert (up.upload[0], down.upload[0]) == (6_666_666_666_666_667, 6_666_666_666_666_666)
    assert up.ad_room[0].tolist() == down.ad_room[0].tolist() == [0, 99 * 10**13, 10**15 + 1]


@pytest.mark.parametrize("rounded_up", [True, False])
@pytest.mark.parametrize(
    ("mode", "deadline_s", "memory_bytes"),
    # three tokens leave the server in 3 ns; times and bytes of the long user in test_exact,
    # alone with the whole GPU: 0.5 + 3/8 + 0.092 s, 5 tokens of 4 B beside 12 B of weights, and
    # 0.5 + 3/8 + 2/16 + 0.252 s, 3.5 and 4.5 tokens of 4 B beside both models' 24 B
    [("ad_allowed", 0.967000003, 12 + 20), ("sd_allowed", 1.252000003, 24 + 32)],
)
def test_a_mode_is_allowed_up_to_its_last_tick_and_byte(
    mode: str, deadline_s: float, memory_bytes: int, rounded_up: bool
) -> None:
    def allowed(late: float, more: int) -> bool:
        user = make_user(deadline_s=round(deadline_s + late, 12))
        instance = make_instance(user, memory_bytes=memory_bytes + more)
        return bool(getattr(build_tables(instance, rounded_up), mode)[0])

    assert allowed(0, 0)
    assert not allowed(-1e-12, 0)
    assert not allowed(0, -1)


@pytest.mark.parametrize("rounded_up", [True, False])
@pytest.mark.parametrize(
    ("mode", "z_grid", "slm_heads"),
    [(AD, (0.0, 0.1, 0.5, 1.0), 1000), (SD, (0.0, 0.5, 0.9, 1.0), 1)],
)
def test_a_deadline_after_all_work_never_binds_at_the_smallest_share(
    mode: int, z_grid: tuple[float, ...], slm_heads: int, rounded_up: bool
) -> None:
    # nothing but the large model's work takes time; in the AD case SD caches do not fit
    users = [make_user(f"u{k}", input_tokens=7, output_tokens=40, deadline_s=1e9) for k in range(3)]
    slm = UNIT.model_copy(update={"num_heads": slm_heads})
    free = {"beta_llm": 0.0, "beta_slm": 0.0, "alpha_slm": 0.0}
    instance = make_instance(*users, slm=slm, z_grid=z_grid, memory_bytes=10**4, **free)
    tables = build_tables(instance, rounded_up)
    assert tables.deadline.max() < 10**15  # 1e9 s are cut back to what int64 holds in ticks
    share = z_grid.index(0.1 if mode == AD else 0.9)
    assert fits(tables, Assignment(np.full(3, mode, np.int8), share))


def test_a_user_out_of_reach_leaves_no_costs_and_does_not_coarsen_the_tick() -> None:
    giant = make_user("giant", input_tokens=10**7, output_tokens=10**7, deadline_s=5.0)
    late = make_user("late", output_tokens=10**7, downlink_bps_per_hz=1.0)
    tables = build_tables(make_instance(make_user(), giant, late, memory_bytes=2**50))
    assert tables.tick_exponent == -12
    assert tables.ad_allowed.tolist() == tables.sd_allowed.tolist() == [True, False, False]
    assert tables.deadline[2] < 0
    for name in ("base", "slope", "prefill", "memory"):
        for mode in ("ad", "sd"):
            cost = getattr(tables, f"{mode}_{name}")
            assert cost[0] > 0
            assert cost[1:].tolist() == [0, 0]


def test_values_are_counted_in_their_greatest_common_divisor() -> None:
    users = [make_user(f"u{value}", value=value) for value in (4, 6, 10)]
    tables = build_tables(make_instance(*users))
    assert tables.value.tolist() == [2, 3, 5]
    assert tables.weighted
    assert tables.worth(np.array([AD, 0, SD], np.int8)) == 2 + 5
    assert not build_tables(make_instance(*users[:1])).weighted


def test_tables_are_built_up_unless_told_otherwise() -> None:
    assert build_tables(make_instance()).rounded_up


@pytest.mark.parametrize("users", [(), (make_user(),)])
def test_columns_are_whole_numbers_and_flags(users: tuple[User, ...]) -> None:
    fields = build_tables(make_instance(*users))._asdict().items()
    types = {name: value.dtype for name, value in fields if isinstance(value, np.ndarray)}
    flags = {types.pop("ad_allowed"), types.pop("sd_allowed")}
    assert flags == {np.dtype(np.bool_)}
    assert set(types.values()) == {np.dtype(np.int64)}
