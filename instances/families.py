"""What every generator shares: the setting around the users, and the table of families."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .catalog import hardware, model
from .files import InputError
from .model import Hardware, Instance, Transformer, User
from .randomness import Stream
from .traces import SYNTHETIC
from .wireless import Radio

#: The paper's models, as the catalogue names them.
LLM, SLM = "Llama-2-7B", "TinyLlama-1.1B"
#: Lowest and highest value that is drawn.
Range = tuple[float, float]
#: The paper's acceptance rates A.
ACCEPTANCE: Range = (0.6, 0.8)
#: 0, 0.1, ..., 1: the paper does not state its grids.
TENTHS = tuple(tenth / 10 for tenth in range(11))


@dataclass(frozen=True)
class Setting:
    """Everything in an instance but its users.

    Parameters
    ----------
    llm, slm : Transformer
        Default: the paper's Llama-2-7B and TinyLlama-1.1B.
    hardware : Hardware
        Default: the paper's RTX 4090 with the measured α and β.
    draft_length : int
        L^D; the paper's 1.
    bits_per_token : float
        γ; the paper does not state it. 16 bits hold a token id of any vocabulary up to 65,536.
    z_grid, lambda_grid : tuple of float
        Z and Λ; the paper does not state them.
    radio : Radio
        The cell that links are drawn from.
    trace : Path
        Lengths for the family ``trace``.
    ranges : mapping of str to (float, float)
        What the users' fields are drawn from, in families that have such ranges (`Family`).
    """

    llm: Transformer = field(default_factory=lambda: model(LLM))
    slm: Transformer = field(default_factory=lambda: model(SLM))
    hardware: Hardware = field(default_factory=lambda: hardware("RTX 4090"))
    draft_length: int = 1
    bits_per_token: float = 16.0
    z_grid: tuple[float, ...] = TENTHS
    lambda_grid: tuple[float, ...] = TENTHS
    radio: Radio = field(default_factory=Radio)
    trace: Path = SYNTHETIC
    ranges: Mapping[str, Range] = field(default_factory=dict)

    def instance(self, users: list[User], **changes: Any) -> Instance:
        """Return an instance of this setting; `changes` replace hardware, draft length, ...."""
        here = replace(self, **changes)
        return Instance(
            llm=here.llm,
            slm=here.slm,
            hardware=here.hardware,
            draft_length=here.draft_length,
            bits_per_token=here.bits_per_token,
            z_grid=here.z_grid,
            lambda_grid=here.lambda_grid,
            users=tuple(users),
        )

    def with_memory(self, instance: Instance, memory_bytes: int) -> Instance:
        """Return the instance on a server of the same speed with that much memory."""
        small = instance.hardware.model_copy(
            update={"name": None, "memory_bytes": int(memory_bytes)}
        )
        return instance.model_copy(update={"hardware": small})


#: Draws the users of one instance: (setting, number of users, stream) -> instance.
Maker = Callable[[Setting, int, Stream], Instance]


@dataclass(frozen=True)
class Family:
    """A kind of instance.

    Attributes
    ----------
    make : callable
        Draws an instance.
    sizes : (int, int)
        Least and most users drawn when the caller names no number.
    fewest : int
        With fewer users the family's property cannot hold.
    fixed : tuple of str
        Parts of the setting that the family's construction fixes; overriding them is refused.
    ranges : mapping of str to (float, float)
        Fields of a user that are drawn uniformly from a range which the caller may change, with
        the family's own ranges.
    """

    make: Maker
    sizes: tuple[int, int]
    fewest: int = 0
    fixed: tuple[str, ...] = ()
    ranges: Mapping[str, Range] = field(default_factory=dict)


_families: dict[str, Family] = {}


def family(
    name: str,
    sizes: tuple[int, int],
    fewest: int = 0,
    fixed: tuple[str, ...] = (),
    ranges: Mapping[str, Range] | None = None,
) -> Callable[[Maker], Maker]:
    """Enter a maker into the table under a name (a decorator; see `Family`)."""

    def enter(make: Maker) -> Maker:
        if name in _families:
            raise ValueError(f"family {name!r} exists already")
        _families[name] = Family(make, sizes, fewest, fixed, ranges or {})
        return make

    return enter


def names() -> tuple[str, ...]:
    """Return the names of all families."""
    return tuple(_families)


def find(name: str) -> Family:
    """Return a family by name.

    Raises
    ------
    InputError
        If there is none; the message lists those that exist.
    """
    if name not in _families:
        raise InputError(f"unknown family {name!r}; choose from {', '.join(names())}")
    return _families[name]


def draw_user(
    setting: Setting,
    stream: Stream,
    position: int,
    *,
    input_tokens: int,
    output_tokens: int,
    deadline_s: float,
    acceptance_rate: float,
) -> User:
    """Return a user with a link of the setting's cell."""
    link = setting.radio.draw(stream)
    return User(
        id=f"u{position}",
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        deadline_s=deadline_s,
        acceptance_rate=acceptance_rate,
        uplink_hz=link.uplink_hz,
        uplink_bps_per_hz=link.uplink_bps_per_hz,
        downlink_hz=link.downlink_hz,
        downlink_bps_per_hz=link.downlink_bps_per_hz,
    )


def with_deadlines(instance: Instance, deadlines: list[float]) -> Instance:
    """Return the instance with other deadlines, in seconds."""
    users = tuple(
        user.model_copy(update={"deadline_s": deadline})
        for user, deadline in zip(instance.users, deadlines, strict=True)
    )
    return instance.model_copy(update={"users": users})
