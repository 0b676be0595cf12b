"""The problem's data: frozen, validated once at the door (symbols of the paper's Table I)."""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from .numbers import exact

#: Largest layer size accepted: far above any model.
LARGEST_COUNT = 10**9
#: Most tokens accepted: above any context, and few enough to recount a schedule step by step.
MOST_TOKENS = 10**7
#: Most that all users of an instance together may be worth where values differ: solvers in floats
#: tell whole numbers of this size apart.
LARGEST_WORTH = 10**5
#: Grid values carry at most this many decimals, so that shares are small fractions.
GRID_DECIMALS = 9


def _integer(value: Any) -> Any:
    """Let numpy integers pass as int; leave everything else to pydantic's strict check."""
    if isinstance(value, (bool, float, str)):
        return value
    try:
        return operator.index(value)
    except TypeError:
        return value


def _printable(name: str) -> str:
    """Refuse names that would garble a table or a terminal."""
    if not name.isprintable():
        raise ValueError("must be printable, on one line")
    return name


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


Count = Annotated[int, Field(ge=1, le=LARGEST_COUNT), BeforeValidator(_integer)]
Tokens = Annotated[int, Field(ge=1, le=MOST_TOKENS), BeforeValidator(_integer)]
Value = Annotated[int, Field(ge=1, le=LARGEST_WORTH), BeforeValidator(_integer)]
Drafts = Annotated[int, Field(ge=1, le=64), BeforeValidator(_integer)]
Bytes = Annotated[int, Field(ge=0, le=2**50), BeforeValidator(_integer)]
NonNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
#: What JSON Schema can say of a grid; the rest is up to `Instance`.
_GRID_SCHEMA = {"uniqueItems": True, "allOf": [{"contains": {"const": end}} for end in (0, 1)]}
Grid = Annotated[
    tuple[float, ...], BeforeValidator(_tuple), Field(json_schema_extra={**_GRID_SCHEMA})
]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, some fields replaced; what is derived from them is derived anew.

        As pydantic's, it does not validate: `model_validate` the dump of what strangers replaced.
        """
        copy = super().model_copy(update=update, deep=deep)
        for derived in copy.__dict__.keys() - type(self).model_fields.keys():
            copy.__dict__.pop(derived)
        return copy


class Transformer(_Frozen):
    """A decoder's shape, as far as its work and memory depend on it.

    Parameters
    ----------
    layers : int
        Decoder layers, M.
    hidden_size : int
        Model width, D^m.
    num_heads, head_dim : int
        Attention heads H and the size of each, D^h; they need not multiply to `hidden_size`.
    intermediate_size : int
        Width of the feed-forward network, D^f.
    kv_heads : int, optional
        Key/value heads of a grouped-query model. Left out, the paper's multi-head formula
        holds (as many as `num_heads`).
    name : str, optional
        For people; no formula reads it.
    """

    name: str | None = None
    layers: Count
    hidden_size: Count
    num_heads: Count
    head_dim: Count
    intermediate_size: Count
    kv_heads: Count | None = None

    @model_validator(mode="after")
    def _heads_group(self) -> Transformer:
        if self.kv_heads is not None and self.num_heads % self.kv_heads:
            raise ValueError(f"kv_heads ({self.kv_heads}) must divide num_heads ({self.num_heads})")
        return self

    @cached_property
    def attention_size(self) -> int:
        """D = D^h H, the width of all query heads together."""
        return self.num_heads * self.head_dim

    @cached_property
    def kv_size(self) -> int:
        """Width of all key (or value) heads together; D unless `kv_heads` says otherwise."""
        return (self.kv_heads or self.num_heads) * self.head_dim


class Hardware(_Frozen):
    """The edge server: memory, number format and the affine timing law of both models.

    Parameters
    ----------
    memory_bytes : int
        GPU memory Q in bytes.
    bytes_per_value : int
        Bytes of a weight or cache entry, θ.
    alpha_llm, alpha_slm : float
        Seconds per FLOP of the large and the small model, α.
    beta_llm, beta_slm : float
        Seconds per forward pass, β.
    name : str, optional
        For people; no formula reads it.
    """

    name: str | None = None
    memory_bytes: Bytes
    bytes_per_value: Count
    alpha_llm: NonNegative
    beta_llm: NonNegative
    alpha_slm: NonNegative
    beta_slm: NonNegative


class User(_Frozen):
    """One request and its radio link.

    Parameters
    ----------
    id : str
        Unique within an instance.
    input_tokens, output_tokens : int
        Prompt and answer lengths, L^I and L^O, in tokens; at most 10^7.
    deadline_s : float
        Latency requirement T in seconds, from the start of the upload to the end of the download.
    acceptance_rate : float
        Probability A in [0, 1] that a draft token is accepted.
    uplink_hz, downlink_hz : float
        Bandwidths in Hz.
    uplink_bps_per_hz, downlink_bps_per_hz : float
        Spectral efficiencies in bit/s/Hz.
    value : int, optional
        What serving the user is worth; the paper's 1 if left out.
    """

    id: Annotated[str, Field(min_length=1), AfterValidator(_printable)]
    input_tokens: Tokens
    output_tokens: Tokens
    deadline_s: Positive
    acceptance_rate: Annotated[float, Field(ge=0, le=1)]
    uplink_hz: Positive
    uplink_bps_per_hz: Positive
    downlink_hz: Positive
    downlink_bps_per_hz: Positive
    value: Value = 1

    @model_serializer(mode="wrap")
    def _without_the_papers_value(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave a value of 1 out, so that the paper's instances look as they always did."""
        data: dict[str, Any] = handler(self)
        if self.value == 1:
            data.pop("value", None)
        return data


class Instance(_Frozen):
    """One scheduling problem: two models, a server, the grids of shares and the users.

    Parameters
    ----------
    llm, slm : Transformer
        The large (target) and the small (draft) model.
    hardware : Hardware
        The server that runs both.
    draft_length : int
        Draft tokens per speculative iteration, L^D.
    draft_lengths : tuple of int, optional
        Lengths of which a schedule may choose one, ascending, `draft_length` among them; left out,
        there is no choice.
    bits_per_token : float
        Bits sent per token, γ.
    z_grid, lambda_grid : tuple of float
        Allowed compute shares Z and memory shares Λ of the AD mode: ascending, distinct, within
        [0, 1], holding 0 and 1, at most nine decimals each.
    users : tuple of User
        The K users; may be empty.
    name, provenance : optional
        For people; no formula reads them.

    Raises
    ------
    pydantic.ValidationError
        If a field is missing, unknown or out of range, two users share an id, or users of
        different values are worth more than `LARGEST_WORTH` together.
    """

    schema_: Literal["balance-instance/1"] = Field(default="balance-instance/1", alias="schema")
    name: str | None = None
    llm: Transformer
    slm: Transformer
    hardware: Hardware
    draft_length: Drafts
    draft_lengths: Annotated[tuple[Drafts, ...], BeforeValidator(_tuple)] | None = None
    bits_per_token: Positive
    z_grid: Grid
    lambda_grid: Grid
    users: Annotated[tuple[User, ...], BeforeValidator(_tuple)]
    provenance: Any = None

    @field_validator("z_grid", "lambda_grid")
    @classmethod
    def _grid(cls, grid: tuple[float, ...]) -> tuple[float, ...]:
        if any(not 0 <= share <= 1 for share in grid):
            raise ValueError("every value must lie in [0, 1]")
        if any(low >= high for low, high in itertools.pairwise(grid)):
            raise ValueError("values must ascend and be distinct")
        if not grid or grid[0] != 0 or grid[-1] != 1:
            raise ValueError("must contain 0 and 1")
        if any(10**GRID_DECIMALS % exact(share).denominator for share in grid):
            raise ValueError(f"values may have at most {GRID_DECIMALS} decimals")
        return grid

    @model_validator(mode="after")
    def _unique_ids(self) -> Instance:
        twice = [name for name, count in Counter(u.id for u in self.users).items() if count > 1]
        if twice:
            raise ValueError(f"user id {twice[0]!r} occurs more than once")
        return self

    @model_validator(mode="after")
    def _drafts_ascend(self) -> Instance:
        if self.draft_lengths is None:
            return self
        if any(low >= high for low, high in itertools.pairwise(self.draft_lengths)):
            raise ValueError("draft_lengths must ascend and be distinct")
        if self.draft_length not in self.draft_lengths:
            raise ValueError(f"draft_length ({self.draft_length}) must be among draft_lengths")
        return self

    @model_validator(mode="after")
    def _values_small(self) -> Instance:
        values = {user.value for user in self.users}
        worth = sum(user.value for user in self.users)
        if len(values) > 1 and worth > LARGEST_WORTH * math.gcd(*values):
            raise ValueError(f"the users' values sum to {worth}, more than {LARGEST_WORTH}")
        return self

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of each user id in `users`."""
        return {user.id: k for k, user in enumerate(self.users)}
