"""Seeded families: pinned bytes, the promised ranges, and what their overrides change."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from helpers import brute_force, make_instance, make_user, printed_balance

from instances import (
    FAMILIES,
    InputError,
    Instance,
    Transformer,
    build_tables,
    dumps,
    generate,
    load,
)
from instances.catalog import hardware, model
from instances.families import find
from instances.traces import SYNTHETIC, read_trace
from instances.wireless import Radio

SHA256 = {
    "paper-4a": "91a68b7fa0f13c59b57f71bf0f76e2caadcd2e27b29c87f899a7be3957b94ab7",
    "paper-5a": "25157d79a0e1678998338c272596e5265d35d075fff46aabb8aa1c99d685ba25",
    "trace": "291d142942e35415d22a185d8eb5b68e1654f83cd1584f13a46a4dc350b6446b",
    "memory-tight": "25c883bd44e62a49026a2147d2088527ff04bebce7959ae78c854c56cfe11269",
    "deadline-tight": "a69dc977109b7ba468496afde106d21b63b90cee5f3a54c4f0f986afa028f75f",
    "tiny": "76c3583676d6b519efed4093395433f4fd9e512adbf177ea9c1e22db005d4025",
    "no-sd": "b0c3d9a95d1d25c47184bd719b61cf1289ff7694e3d422b017fbde42427572e7",
    "no-ad": "60ea7922550d3dfd86126b1f1ca12c56269a3d3e4ec2f5b89d7dbf7042dc4845",
    "wide": "18411628df174faee1d91ee7d9c31849e9b8eaedf809f16082bdf548ba0d232f",
    "ties": "13cf23059575302967b1f7520e1a08d704e97c27a08818c1c1f181f1f056b3ee",
    "printed-trap": "c5c47b5a46ca0169696607ea9547cf5cc6a3b35935e8527cb47a27c63c3343ae",
    "tight-half": "d2a99bef7ea31760470fe8747a4f0de466f1bee011cdaf3693b204fa28d2b81a",
}


def digest(family: str) -> str:
    users = max(2, find(family).fewest)
    return hashlib.sha256(dumps(generate(family, users, 7)).encode()).hexdigest()


@pytest.mark.parametrize("family", FAMILIES)
def test_same_seed_same_bytes(family: str) -> None:
    assert digest(family) == SHA256[family]


@pytest.mark.parametrize("family", FAMILIES)
def test_seeds_differ_and_sizes_are_as_promised(family: str) -> None:
    low, high = find(family).sizes
    drawn = [generate(family, seed=seed) for seed in range(25)]
    assert {low <= len(instance.users) <= high for instance in drawn} == {True}
    assert len({len(instance.users) for instance in drawn}) > 1
    assert len({dumps(instance) for instance in drawn}) == 25


def test_an_instance_tells_how_to_make_it_again() -> None:
    instance = generate("no-sd", seed=3)
    origin = instance.provenance
    assert instance.name == f"no-sd-{len(instance.users)}-3"
    assert generate(origin["family"], origin["users"], origin["seed"]) == instance


@pytest.mark.parametrize(
    ("family", "deadlines", "most_input", "most_output"),
    [("paper-4a", (0.5, 4), 300, 100), ("paper-5a", (2, 12), 1000, 500)],
)
def test_the_papers_ranges(
    family: str, deadlines: tuple[float, float], most_input: int, most_output: int
) -> None:
    instance = generate(family, 400, 1)
    users = instance.users

    def spans(values: list[float], low: float, high: float) -> bool:
        margin = 0.03 * (high - low)
        return low <= min(values) < low + margin and high - margin < max(values) <= high

    assert spans([user.deadline_s for user in users], *deadlines)
    assert spans([user.input_tokens for user in users], 1, most_input)
    assert spans([user.output_tokens for user in users], 1, most_output)
    assert spans([user.acceptance_rate for user in users], 0.6, 0.8)
    assert {(user.uplink_hz, user.downlink_hz) for user in users} == {(1e6, 2e6)}
    assert instance.llm == model("Llama-2-7B")
    assert instance.slm == model("TinyLlama-1.1B")
    assert instance.hardware == hardware("RTX 4090")
    assert (instance.draft_length, instance.bits_per_token) == (1, 16)
    assert instance.z_grid == instance.lambda_grid == tuple(n / 10 for n in range(11))


def test_trace_lengths_come_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("input_tokens,output_tokens\n11,22\n33,44\n55,0\n")
    instance = generate("trace", 30, 1, trace=path)
    assert {(u.input_tokens, u.output_tokens) for u in instance.users} == {(11, 22), (33, 44)}
    assert instance.provenance["trace"] == "mine.csv"
    assert instance.provenance["dropped"] == {"zero output": 1}
    shipped = {(r.input_tokens, r.output_tokens) for r in read_trace(SYNTHETIC).requests}
    users = generate("trace", 30, 1).users
    assert {(u.input_tokens, u.output_tokens) for u in users} <= shipped
    longest = max(users, key=lambda user: user.output_tokens)
    assert longest.deadline_s > 0.5 + 0.012 * longest.output_tokens


def test_overrides_reach_the_instance(tmp_path: Path) -> None:
    shape = Transformer(
        layers=1, hidden_size=8, num_heads=1, head_dim=8, intermediate_size=9, name="mine"
    )
    config = tmp_path / "config.json"
    config.write_text('{"n_embd": 768, "n_layer": 12, "n_head": 12}')
    instance = generate(
        "paper-4a",
        2,
        1,
        llm=config,
        slm=shape,
        gpu="rtx 4090",
        draft_length=4,
        bits_per_token=32.0,
        z_grid=[0, 0.5, 1],
        lambda_grid=[0, 1],
        radio=Radio(uplink_hz=5e6),
    )
    assert instance.llm.intermediate_size == 3072
    assert instance.slm == shape
    assert (instance.draft_length, instance.bits_per_token) == (4, 32)
    assert (instance.z_grid, instance.lambda_grid) == ((0, 0.5, 1), (0, 1))
    assert instance.users[0].uplink_hz == 5e6
    server = instance.hardware.model_copy(update={"memory_bytes": 5})
    assert generate("paper-4a", 2, 1, hardware=server).hardware == server
    assert generate("paper-4a", 2, 1, true_kv_heads=True).slm.kv_heads == 4
    assert generate("paper-4a", 2, 1, llm="Mistral-7B", true_kv_heads=True).llm.kv_heads == 8


def test_overrides_leave_the_users_alone() -> None:
    plain, other = generate("paper-4a", 5, 1), generate("paper-4a", 5, 1, draft_length=3)
    assert plain.users == other.users


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"family": "nope"}, "unknown family 'nope'; choose from"),
        ({"users": -1}, "takes 0 to 100000 users, not -1"),
        ({"users": 10**9}, "takes 0 to 100000 users"),
        ({"family": "printed-trap", "users": 6}, "takes 7 to 100000 users, not 6"),
        ({"seed": -1}, "seed -1 is negative"),
        ({"draft_length": 0}, "draft_length: must be at least 1 (found 0)"),
        ({"z_grid": [0.5, 1.0]}, "z_grid: must contain 0 and 1"),
        ({"bits_per_token": float("nan")}, "bits_per_token: must be finite"),
        ({"llm": "nope"}, "unknown model 'nope'"),
        ({"gpu": "nope"}, "unknown GPU 'nope'"),
        ({"family": "ties", "llm": "OPT-125M"}, "family ties: fixes its own llm"),
        ({"family": "wide", "gpu": "RTX 4090"}, "drop hardware"),
        ({"family": "wide", "true_kv_heads": True}, "drop llm"),
        ({"family": "tight-half", "z_grid": (0.0, 1.0)}, "z_grid needs a value between 0 and 1"),
        ({"family": "trace", "trace": "/nonexistent.csv"}, "/nonexistent.csv: No such file"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as caught:
        generate(**{"family": "paper-4a", **arguments})
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_users() -> None:
    for family in FAMILIES:
        if find(family).fewest == 0:
            assert generate(family, 0, 1).users == ()


def test_generated_files_load(tmp_path: Path) -> None:
    path = tmp_path / "i.json"
    instance: Instance = generate("wide", None, 4)
    path.write_text(dumps(instance), encoding="utf-8")
    assert load(path) == instance


@pytest.mark.parametrize("memory_bytes", [16012, 16024])
def test_erratum_e1(memory_bytes: int) -> None:
    """E1 by its numbers: ten can be served, the printed algorithm finds four."""
    quick = {"input_tokens": 1, "acceptance_rate": 0.0, "uplink_bps_per_hz": 1e9}
    users = [make_user(f"z{i}", **quick, output_tokens=1, deadline_s=1.0) for i in range(3)]
    users += [make_user(f"b{i}", **quick, output_tokens=1001, deadline_s=1.0) for i in range(3)]
    slow = {**quick, "uplink_bps_per_hz": 0.5, "output_tokens": 1, "deadline_s": 4.0}
    users += [make_user(f"y{i}", **slow) for i in range(4)]
    instance = make_instance(
        *users,
        memory_bytes=memory_bytes,
        lambda_grid=(0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0),
        alpha_llm=1e-12,
        beta_llm=1e-6,
        alpha_slm=1e-12,
        beta_slm=1.5,
    )
    tables = build_tables(instance)
    assert brute_force(tables) == 10
    assert printed_balance(tables, padded=False) == 10
    assert printed_balance(tables) == 4


def test_a_range_is_narrowed_and_the_draws_stay_in_step() -> None:
    """Points of a sweep share their random numbers: only the range stretches them."""
    wide = generate("paper-4a", users=5, seed=2)
    late = generate("paper-4a", users=5, seed=2, deadline_s=(None, 7.5), acceptance_rate=0.5)
    for before, after in zip(wide.users, late.users, strict=True):
        share = (before.deadline_s - 0.5) / 3.5
        assert after.deadline_s == pytest.approx(0.5 + 7 * share, abs=1e-4)
        assert after.acceptance_rate == 0.5
        assert after.input_tokens == before.input_tokens
        assert after.uplink_bps_per_hz == before.uplink_bps_per_hz
    few = generate("paper-5a", users=9, seed=2, output_tokens=(3, 4))
    assert {user.output_tokens for user in few.users} == {3, 4}
    assert {user.acceptance_rate for user in generate("trace", 3, acceptance_rate=1).users} == {1}


@pytest.mark.parametrize(
    ("family", "override", "message"),
    [
        ("ties", {"deadline_s": 3}, "family ties: deadline_s has no range to change"),
        ("paper-4a", {"deadline_s": (3, 2)}, "deadline_s: the range 3 to 2 runs backwards"),
        ("paper-4a", {"input_tokens": (1, 2.5)}, "whole numbers"),
        ("paper-4a", {"input_tokens": "few"}, "a number or two ends"),
        ("paper-4a", {"acceptance_rate": (0, 2)}, "acceptance_rate: must be at most 1"),
    ],
)
def test_bad_ranges_are_named(family: str, override: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        generate(family, users=20, seed=1, **override)
