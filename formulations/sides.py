"""The two modes in one form: layers of max-terms with each user's cost at every level."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from instances import CostTables
from instances.costs import Integers

#: A user and a user who sets the level -> ticks or bytes of the first (Python integers).
Cost = Callable[[int, int], int]


class Layer(NamedTuple):
    """A max-term that multiplies costs.

    Attributes
    ----------
    values : (K,)
        The values whose maximum is the level.
    time, memory : callable
        A user's part of the mode's ticks and bytes that depends on this level.
    """

    values: Integers
    time: Cost
    memory: Cost


class Side(NamedTuple):
    """A mode: a batch's work is the sum over layers and members; L2 (N1) is charged once.

    Attributes
    ----------
    layers : tuple of Layer
    lengths : (K,)
        The values whose maximum is L2 or N1.
    step, fixed : int
        Ticks per unit of that maximum, and ticks charged once to a batch.
    """

    layers: tuple[Layer, ...]
    lengths: Integers
    step: int
    fixed: int

    def time(self, user: int, levels: dict[int, int]) -> int:
        """Return a user's ticks, given for each layer a user who sets its level."""
        return sum(layer.time(user, levels[i]) for i, layer in enumerate(self.layers))


def ad_side(tables: CostTables) -> Side:
    """Return the AD mode: one layer, L1."""
    base, slope, prefill = (
        column.tolist() for column in (tables.ad_base, tables.ad_slope, tables.ad_prefill)
    )
    memory, tokens = tables.ad_memory.tolist(), tables.input_tokens.tolist()
    longest = Layer(
        tables.input_tokens,
        lambda k, level: base[k] + slope[k] * tokens[level] + prefill[level],
        lambda k, level: memory[k] + tables.kv_ad * tokens[level],
    )
    return Side((longest,), tables.output_tokens, tables.ad_step, 0)


def sd_side(tables: CostTables) -> Side:
    """Return the SD mode: two layers, L3 and L4."""
    base, slope, prefill = (
        column.tolist() for column in (tables.sd_base, tables.sd_slope, tables.sd_prefill)
    )
    memory, tokens = tables.sd_memory.tolist(), tables.input_tokens.tolist()
    pairs, growth = tables.sd_pairs.tolist(), tables.sd_growth.tolist()
    steps, wider = tables.sd_steps.tolist(), tables.sd_memory_growth.tolist()
    longest = Layer(
        tables.input_tokens,
        lambda k, level: base[k] + slope[k] * tokens[level] + prefill[level],
        lambda k, level: memory[k] + tables.kv_sd * tokens[level],
    )
    keenest = Layer(
        tables.accept_rank,
        lambda k, level: pairs[k] * growth[level],
        lambda k, level: steps[k] * wider[level],
    )
    return Side((longest, keenest), tables.iterations, tables.sd_step, tables.sd_fixed)
