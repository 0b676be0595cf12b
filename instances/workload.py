"""FLOP and memory formulas of one forward pass, equation by equation.

Symbols: M layers, D^m `hidden_size`, D = D^h H `attention_size`, D^f `intermediate_size`,
θ `bytes_per_value`. A grouped-query model (`kv_heads` given) has narrower key and value
projections and a smaller cache: D becomes `kv_size` there.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

from .model import Transformer

Length = TypeVar("Length", int, Fraction)


def linear_flops(model: Transformer) -> int:
    """Projections and feed-forward work of one token in one layer: 8 D^m D + 4 D^m D^f."""
    projections = 4 * model.hidden_size * (model.attention_size + model.kv_size)
    return projections + 4 * model.hidden_size * model.intermediate_size


def prefill_flops(model: Transformer, tokens: int) -> int:
    """FLOP of one user's prefill, Γ^p(L) = M(8 L D^m D + 4 L² D + 4 L D^m D^f).

    Parameters
    ----------
    model : Transformer
    tokens : int
        Prompt length L after padding.
    """
    attention = 4 * tokens * tokens * model.attention_size
    return model.layers * (tokens * linear_flops(model) + attention)


def decode_flops(model: Transformer, prefix: Length, step: int, unit: int = 1) -> Length:
    """FLOP of one decode step, Γ^a(P, l) = M(8 D^m D + 4 (P + l) D + 4 D^m D^f).

    Parameters
    ----------
    model : Transformer
    prefix : int or Fraction
        Tokens P retained before the first step, in 1/unit tokens.
    step : int
        Step l = 1, 2, ...
    unit : int
        Denominator of a fractional prefix; the answer is in 1/unit FLOP.
    """
    attention = 4 * (prefix + unit * step) * model.attention_size
    return model.layers * (unit * linear_flops(model) + attention)


def verify_flops(model: Transformer, prefix: Length, tokens: int, unit: int = 1) -> Length:
    """FLOP of verifying n tokens, Γ^v(P, n) = M(8 n D^m D + 4 Σ_{l=1..n}(P + l) D + 4 n D^m D^f).

    Parameters
    ----------
    model : Transformer
    prefix : int or Fraction
        Tokens P before the verified ones, in 1/unit tokens.
    tokens : int
        Tokens n verified in one pass.
    unit : int
        Denominator of a fractional prefix; the answer is in 1/unit FLOP.
    """
    attention = 0 * prefix
    for step in range(1, tokens + 1):
        attention += 4 * (prefix + unit * step) * model.attention_size
    return model.layers * (tokens * unit * linear_flops(model) + attention)


def weight_bytes(model: Transformer, bytes_per_value: int) -> int:
    """Bytes of a model's weights, q = Mθ(4 D^m D + 2 D^m D^f)."""
    projections = 2 * model.hidden_size * (model.attention_size + model.kv_size)
    feed_forward = 2 * model.hidden_size * model.intermediate_size
    return model.layers * bytes_per_value * (projections + feed_forward)


def kv_bytes_per_token(model: Transformer, bytes_per_value: int) -> int:
    """Bytes of one token's keys and values, κ = 2 M θ D."""
    return 2 * model.layers * bytes_per_value * model.kv_size
