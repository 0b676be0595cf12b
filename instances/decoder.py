"""A decoder of any shape with random weights, to be timed: projections, cached attention, FFN.

Needs PyTorch (extra ``measure``); nothing is downloaded. Embedding and output head, which the
paper's formulas do not count, are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from .model import Transformer
from .passes import Size


@dataclass(frozen=True)
class Build:
    """What is built and timed.

    Parameters
    ----------
    shape : Transformer
        The whole model, with the key/value heads that it runs with.
    layers : int
        How many of its layers are built.
    ffn_matrices : int
        2: up, GELU, down. 3: a gate with SiLU beside the first.
    device, dtype : str
        As PyTorch names them, such as ``"cuda:0"`` and ``"float16"``.
    """

    shape: Transformer
    layers: int
    ffn_matrices: int
    device: str
    dtype: str

    @property
    def bytes_per_value(self) -> int:
        """Bytes of a weight or a cache entry, θ."""
        return int(getattr(torch, self.dtype).itemsize)

    @property
    def weight_bytes(self) -> int:
        """Bytes of the weights that are built."""
        return self.bytes_per_value * self.layers * sum(map(_area, _matrices(self)))

    def pass_bytes(self, size: Size) -> int:
        """Return about how many bytes a pass needs beside the weights: caches and activations."""
        tokens, whole = size.sequences * size.new, size.new + size.context
        cache = 2 * self.layers * size.sequences * whole * self.shape.kv_size
        width = 6 * self.shape.hidden_size + 2 * self.shape.attention_size
        width += 2 * self.shape.kv_size + 3 * self.shape.intermediate_size
        return self.bytes_per_value * (cache + tokens * width) + 2 * size.new * whole


def _matrices(build: Build) -> list[tuple[int, int]]:
    """Return the shapes (out, in) of one layer's weights: QKV, output, up (and gate), down."""
    shape = build.shape
    width, attention, inner = shape.hidden_size, shape.attention_size, shape.intermediate_size
    return [
        (attention + 2 * shape.kv_size, width),
        (width, attention),
        ((build.ffn_matrices - 1) * inner, width),
        (width, inner),
    ]


def _area(matrix: tuple[int, int]) -> int:
    return matrix[0] * matrix[1]


class Decoder:
    """The layers of a `Build`, ready to run passes of any size.

    Every layer has weights and a cache of its own, so that a pass reads from memory what a real one
    would. Residuals and RMS norms keep the numbers finite.
    """

    def __init__(self, build: Build, seed: int = 0) -> None:
        self.build = build
        self._place: dict[str, Any] = {"device": build.device, "dtype": getattr(torch, build.dtype)}
        torch.manual_seed(seed)
        self._layers = [
            [self._random(*matrix) for matrix in _matrices(build)] for _ in range(build.layers)
        ]

    def _random(self, *size: int) -> torch.Tensor:
        return torch.empty(*size, **self._place).normal_(std=size[-1] ** -0.5)

    def prepare(self, size: Size) -> Callable[[], torch.Tensor]:
        """Return a function that runs one pass of a size; its cache is filled beforehand."""
        shape, whole = self.build.shape, size.context + size.new
        kv_heads = shape.kv_heads or shape.num_heads
        cache = (2, size.sequences, kv_heads, whole, shape.head_dim)
        caches = [self._random(*cache) for _ in self._layers]
        prompt = self._random(size.sequences, size.new, shape.hidden_size)
        mask = _mask(size, shape.num_heads // kv_heads, self.build.device)

        def run() -> torch.Tensor:
            hidden = prompt
            with torch.inference_mode():
                for layer, kept in zip(self._layers, caches, strict=True):
                    hidden = self._layer(hidden, layer, kept, size, mask)
            return hidden

        return run

    def _layer(
        self,
        hidden: torch.Tensor,
        layer: list[torch.Tensor],
        cache: torch.Tensor,
        size: Size,
        mask: torch.Tensor | None,
    ) -> torch.Tensor:
        qkv, out, up, down = layer
        attended = self._attention(functional.linear(_norm(hidden), qkv), cache, size, mask)
        hidden = hidden + functional.linear(attended, out)
        inner = functional.linear(_norm(hidden), up)
        if self.build.ffn_matrices == 3:
            gate, value = inner.chunk(2, dim=-1)
            inner = functional.silu(gate) * value
        else:
            inner = functional.gelu(inner)
        return hidden + functional.linear(inner, down)

    def _attention(
        self, qkv: torch.Tensor, cache: torch.Tensor, size: Size, mask: torch.Tensor | None
    ) -> torch.Tensor:
        """Put the new keys and values into the cache and attend to all of it."""
        shape = self.build.shape
        widths = [shape.attention_size, shape.kv_size, shape.kv_size]
        parts = qkv.split(widths, dim=-1)
        query, key, value = (
            part.unflatten(-1, (-1, shape.head_dim)).transpose(1, 2) for part in parts
        )
        cache[0, :, :, size.context :], cache[1, :, :, size.context :] = key, value
        return _attend(query, cache, size, mask).transpose(1, 2).flatten(2)


def _attend(
    query: torch.Tensor, cache: torch.Tensor, size: Size, mask: torch.Tensor | None
) -> torch.Tensor:
    """Return what every new token of every head finds in the cache.

    After a context, heads that share keys are folded into more tokens of one head, so that no
    kernel copies the cache.
    """
    attention = functional.scaled_dot_product_attention
    if size.context == 0 and size.new > 1:
        grouped = query.shape[1] != cache.shape[2]
        return attention(query, cache[0], cache[1], is_causal=True, enable_gqa=grouped)
    folded = query.unflatten(1, (cache.shape[2], -1)).flatten(2, 3)
    attended = attention(folded, cache[0], cache[1], attn_mask=mask)
    return attended.unflatten(2, (-1, size.new)).flatten(1, 2)


def _norm(hidden: torch.Tensor) -> torch.Tensor:
    return functional.rms_norm(hidden, hidden.shape[-1:])


def _mask(size: Size, heads_a_key: int, device: str) -> torch.Tensor | None:
    """Return which of the cache the new tokens of the heads that share keys see; None means all."""
    if size.new == 1 or size.context == 0:
        return None
    seen = torch.ones(size.new, size.context + size.new, dtype=torch.bool, device=device)
    return seen.tril(size.context).repeat(heads_a_key, 1)
