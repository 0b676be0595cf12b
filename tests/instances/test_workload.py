"""Work and memory formulas against values computed by hand (M=2, D^m=3, D=4, D^f=5, θ=2)."""

from __future__ import annotations

from fractions import Fraction

from instances import Transformer
from instances.workload import (
    decode_flops,
    kv_bytes_per_token,
    prefill_flops,
    verify_flops,
    weight_bytes,
)

MODEL = Transformer(layers=2, hidden_size=3, num_heads=2, head_dim=2, intermediate_size=5)
GROUPED = MODEL.model_copy(update={"kv_heads": 1})


def test_prefill() -> None:
    # M(8 L D^m D + 4 L² D + 4 L D^m D^f) at L = 3: 2(288 + 144 + 180)
    assert prefill_flops(MODEL, 3) == 1224


def test_decode_step() -> None:
    # M(8 D^m D + 4 (P + l) D + 4 D^m D^f) at P = 3, l = 2: 2(96 + 80 + 60)
    assert decode_flops(MODEL, 3, 2) == 472
    assert decode_flops(MODEL, Fraction(5, 2), 2) == 2 * (96 + 72 + 60)


def test_verification() -> None:
    # M(8 n D^m D + 4 Σ_l (P + l) D + 4 n D^m D^f) at P = 3, n = 2: 2(192 + 144 + 120)
    assert verify_flops(MODEL, 3, 2) == 912
    assert verify_flops(MODEL, 3, 1) == decode_flops(MODEL, 3, 1)


def test_weights_and_cache() -> None:
    # Mθ(4 D^m D + 2 D^m D^f) = 4(48 + 30) and 2 M θ D
    assert weight_bytes(MODEL, 2) == 312
    assert kv_bytes_per_token(MODEL, 2) == 32


def test_grouped_heads_narrow_keys_and_values_only() -> None:
    # keys and values are 2 wide instead of 4; queries, output and attention stay
    assert weight_bytes(GROUPED, 2) == 4 * (2 * 3 * 4 + 2 * 3 * 2 + 2 * 3 * 5)
    assert kv_bytes_per_token(GROUPED, 2) == 16
    assert decode_flops(GROUPED, 3, 2) == 2 * (4 * 3 * (4 + 2) + 80 + 60)


def test_cache_of_a_seventy_b_model() -> None:
    shape = Transformer(
        layers=80, hidden_size=8192, num_heads=64, head_dim=128, intermediate_size=28672
    )
    assert kv_bytes_per_token(shape, 2) == 2_621_440
    assert kv_bytes_per_token(shape.model_copy(update={"kv_heads": 8}), 2) == 327_680


def test_weights_of_the_papers_models() -> None:
    from instances.catalog import model

    assert weight_bytes(model("Llama-2-7B"), 2) == 64 * (4 * 4096**2 + 2 * 4096 * 11008)
    assert weight_bytes(model("TinyLlama-1.1B"), 2) == 44 * (4 * 2048**2 + 2 * 2048 * 5632)
