"""`generate`: one seeded instance of a named family, with parts of its setting replaced."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from pydantic import ValidationError

from . import paper, stress, traps
from .catalog import find_model, hardware
from .families import LLM, SLM, Family, Range, Setting, find, names
from .files import InputError, describe
from .model import Hardware, Instance, Transformer
from .randomness import Stream
from .wireless import Radio

__all__ = ["FAMILIES", "Overrides", "generate", "paper", "stress", "traps"]

#: Names of all families.
FAMILIES = names()
#: The ranges among the overrides.
RANGES = ("deadline_s", "input_tokens", "output_tokens", "acceptance_rate")
#: Those whose values are whole numbers.
WHOLE = ("input_tokens", "output_tokens")
#: How a range may be given.
Between = float | Sequence[float | None]
#: Nobody means more; a slip of the keyboard does.
MOST_USERS = 100_000


class Overrides(TypedDict, total=False):
    """Parts of the setting that `generate` takes by name.

    Attributes
    ----------
    llm, slm : str, Path or Transformer
        A name of the catalogue, a ``config.json`` or a shape.
    gpu : str
        A name of the catalogue or a ``.json`` file with a hardware section; `hardware` in its stead
        is any server.
    true_kv_heads : bool
        Models by name or file keep their grouped key/value heads (default: the paper's formula).
    draft_length, bits_per_token, z_grid, lambda_grid, radio
        As in `Setting`.
    trace : str or Path
        A file of request lengths, for the family ``trace``.
    deadline_s, input_tokens, output_tokens, acceptance_rate : float or (float, float)
        What users are drawn from, in families that have such a range (`paper-4a`, `paper-5a`; the
        last also ``trace``): lowest and highest value, None for the family's own; or the only one.
    """

    llm: str | Path | Transformer
    slm: str | Path | Transformer
    gpu: str
    hardware: Hardware
    true_kv_heads: bool
    draft_length: int
    bits_per_token: float
    z_grid: Sequence[float]
    lambda_grid: Sequence[float]
    radio: Radio
    trace: str | Path
    deadline_s: Between
    input_tokens: Between
    output_tokens: Between
    acceptance_rate: Between


def generate(
    family: str, users: int | None = None, seed: int = 0, **overrides: Unpack[Overrides]
) -> Instance:
    """Return a seeded instance; the same arguments give the same bytes on every machine.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.
    users : int, optional
        Number of users; None draws one that is typical of the family.
    seed : int
        Not negative.
    **overrides
        See `Overrides`.

    Raises
    ------
    InputError
        If a name is unknown, a value out of range or an override contradicts the family.
    """
    kind = find(family)
    seed, users = int(seed), None if users is None else int(users)
    if seed < 0:
        raise InputError(f"seed {seed} is negative")
    stream = Stream(family, seed)
    typical = stream.integer(*kind.sizes)
    number = typical if users is None else users
    if not kind.fewest <= number <= MOST_USERS:
        raise InputError(
            f"family {family}: takes {kind.fewest} to {MOST_USERS} users, not {number}"
        )
    try:
        instance = kind.make(_setting(family, kind, overrides), number, stream)
        # Copies are not validated; the door is.
        instance = Instance.model_validate(instance.model_dump(by_alias=True))
    except ValidationError as error:
        raise InputError(f"family {family}: {describe(error)}") from None
    origin = {"family": family, "users": number, "seed": seed, **(instance.provenance or {})}
    return instance.model_copy(update={"name": f"{family}-{number}-{seed}", "provenance": origin})


def _setting(name: str, kind: Family, overrides: Overrides) -> Setting:
    """Return the default setting with the overrides put in their places."""
    keep_kv = overrides.get("true_kv_heads", False)
    changes: dict[str, Any] = {
        key: value
        for key, value in overrides.items()
        if key not in ("gpu", "true_kv_heads", *RANGES)
    }
    if "gpu" in overrides:
        changes.setdefault("hardware", hardware(overrides["gpu"]))
    if keep_kv:
        changes = {"llm": LLM, "slm": SLM} | changes
    refused = [key for key in changes if key in kind.fixed]
    if refused:
        raise InputError(f"family {name}: fixes its own {', '.join(kind.fixed)}; drop {refused[0]}")
    for key in ("llm", "slm"):
        if key in changes:
            changes[key] = _transformer(changes[key], keep_kv)
    for key, convert in (("z_grid", tuple), ("lambda_grid", tuple), ("trace", Path)):
        if key in changes:
            changes[key] = convert(changes[key])
    setting = replace(Setting(), **changes, ranges=_ranges(name, kind, overrides))
    setting.instance([])  # refuses bad grids and numbers before anything is drawn
    return setting


def _ranges(name: str, kind: Family, overrides: Overrides) -> dict[str, Range]:
    """Return the family's ranges with the given ends put in their places."""
    ranges = dict(kind.ranges)
    for key, given in overrides.items():
        if key not in RANGES:
            continue
        if key not in ranges:
            choices = ", ".join(kind.ranges) or "none"
            raise InputError(f"family {name}: {key} has no range to change (it has: {choices})")
        ranges[key] = _range(key, given, ranges[key])
    return ranges


def _range(key: str, given: Any, own: Range) -> Range:
    """Return a range, its missing ends from the family's own.

    Raises
    ------
    InputError
        If it is no number and no pair of ends, or runs backwards.
    """
    ends = tuple(given) if isinstance(given, (tuple, list)) else (given, given)
    if len(ends) != 2 or not all(_is_end(end) for end in ends):
        raise InputError(f"{key}: must be a number or two ends (found {given!r})")
    low, high = (default if end is None else end for end, default in zip(ends, own, strict=True))
    if key in WHOLE and any(end != int(end) for end in (low, high)):
        raise InputError(f"{key}: both ends must be whole numbers (found {given!r})")
    if not low <= high:
        raise InputError(f"{key}: the range {low} to {high} runs backwards")
    return low, high


def _is_end(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and math.isfinite(value))


def _transformer(given: object, true_kv_heads: bool) -> Transformer:
    if isinstance(given, Transformer):
        return given
    return find_model(str(given), true_kv_heads)
