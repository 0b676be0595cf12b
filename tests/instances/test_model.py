"""The data model: validated at the door, frozen afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import UNIT, make_instance, make_user
from pydantic import ValidationError

from instances import Hardware, Transformer, User


def test_widths() -> None:
    shape = Transformer(
        layers=1, hidden_size=100, num_heads=8, head_dim=16, intermediate_size=1, kv_heads=2
    )
    assert shape.attention_size == 128  # need not equal the hidden size
    assert shape.kv_size == 32
    assert shape.model_copy(update={"kv_heads": None}).kv_size == 128


def test_key_value_heads_must_divide_the_heads() -> None:
    with pytest.raises(ValidationError, match=r"kv_heads \(3\) must divide num_heads \(8\)"):
        Transformer(
            layers=1, hidden_size=1, num_heads=8, head_dim=1, intermediate_size=1, kv_heads=3
        )


@pytest.mark.parametrize("field", ["layers", "hidden_size", "num_heads", "head_dim"])
@pytest.mark.parametrize("value", [0, -1, 1.0, "1", True, None, 10**10])
def test_sizes_are_whole_numbers_from_one_up(field: str, value: object) -> None:
    with pytest.raises(ValidationError, match=field):
        Transformer(**{**UNIT.model_dump(), field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("deadline_s", 0.0),
        ("deadline_s", float("nan")),
        ("deadline_s", float("inf")),
        ("acceptance_rate", 1.2),
        ("acceptance_rate", -0.1),
        ("input_tokens", -1),
        ("output_tokens", 0),
        ("uplink_hz", 0.0),
        ("downlink_bps_per_hz", -1.0),
        ("id", ""),
        ("id", 3),
    ],
)
def test_a_user_out_of_range_is_refused(field: str, value: object) -> None:
    with pytest.raises(ValidationError, match=field):
        User(**{**make_user().model_dump(), field: value})


def test_zero_speed_costs_are_allowed_and_negative_ones_are_not() -> None:
    fields = make_instance(alpha_llm=0.0, beta_slm=0.0).hardware.model_dump()
    with pytest.raises(ValidationError, match="alpha_slm"):
        Hardware(**{**fields, "alpha_slm": -1e-20})


def test_numpy_integers_become_plain_ones() -> None:
    user = make_user(input_tokens=np.int64(5))
    assert type(user.input_tokens) is int


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ((0.5, 1.0), "must contain 0 and 1"),
        ((0.0, 0.5), "must contain 0 and 1"),
        ((), "must contain 0 and 1"),
        ((0.0, 0.5, 0.5, 1.0), "ascend and be distinct"),
        ((1.0, 0.0), "ascend and be distinct"),
        ((0.0, 1.5, 1.0), r"\[0, 1\]"),
        ((0.0, 0.12345678901, 1.0), "9 decimals"),
    ],
)
def test_malformed_grids_are_refused(grid: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        make_instance(z_grid=grid)


def test_ids_are_unique_and_indexed() -> None:
    with pytest.raises(ValidationError, match="user id 'a' occurs more than once"):
        make_instance(make_user("a"), make_user("b"), make_user("a"))
    assert make_instance(make_user("a"), make_user("b")).index == {"a": 0, "b": 1}


def test_instances_are_frozen() -> None:
    instance = make_instance(make_user())
    with pytest.raises(ValidationError):
        instance.draft_length = 3
    with pytest.raises(ValidationError):
        instance.users[0].deadline_s = 3.0


def test_a_prompt_longer_than_any_context_is_refused() -> None:
    with pytest.raises(ValidationError, match="less than or equal to 10000000"):
        make_user("endless", input_tokens=10**7 + 1)


def test_a_copy_with_other_users_has_its_own_index() -> None:
    """A cached index survived the copy once, and wrong users were judged."""
    instance = make_instance(make_user("a"), make_user("b"))
    assert instance.index == {"a": 0, "b": 1}
    copy = instance.model_copy(update={"users": instance.users[1:]})
    assert copy.index == {"b": 0}


@pytest.mark.parametrize("name", ["two\nlines", "red\x1b[31m"])
def test_an_id_that_would_garble_a_table_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="must be printable, on one line"):
        make_user(name)
