"""What the paper left out, and how far it may plausibly be: the space that a search runs through.

A setting maps names as in `study_fields` to values (and `MEMORY` to an accounting). Every figure is
recomputed with the same setting: nothing is tuned for one figure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from instances.randomness import Stream, rounded

Setting = dict[str, Any]

#: Not a field of an instance: how the algorithms charge memory, errata E1 and E2.
MEMORY = "memory"


@dataclass(frozen=True)
class Between:
    """A number in a range.

    Parameters
    ----------
    low, high : float
    unit, why : str
    logarithmic : bool
        Whether orders of magnitude, not values, are equally likely.
    """

    low: float
    high: float
    unit: str
    why: str
    logarithmic: bool = False

    def draw(self, stream: Stream) -> float:
        """Return a value, all equally likely."""
        return self._value(stream.fraction())

    def near(self, value: float, width: float, stream: Stream) -> float:
        """Return a value at most the share `width` of the range away, kept inside the range."""
        step = width * (2 * stream.fraction() - 1)
        return self._value(min(1.0, max(0.0, self._place(value) + step)))

    def _value(self, place: float) -> float:
        if self.logarithmic:
            return rounded(self.low * (self.high / self.low) ** place, 3)
        return rounded(self.low + place * (self.high - self.low), 3)

    def _place(self, value: float) -> float:
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g} {self.unit}".strip()


@dataclass(frozen=True)
class OneOf:
    """One of a few values."""

    values: tuple[Any, ...]
    why: str

    def draw(self, stream: Stream) -> Any:
        """Return a value, all equally likely."""
        return stream.choice(self.values)

    def near(self, value: Any, width: float, stream: Stream) -> Any:
        """Return the value, or another one with probability `width`."""
        other = self.draw(stream)
        return other if stream.fraction() < width else value

    def __str__(self) -> str:
        return ", ".join(map(str, self.values))


_MEASURED = "7B Llama on an RTX 4090 in FP16, batch 1"
_SCALED = "TinyLlama, scaled from other cards"
#: Every quantity that the paper needs and does not state.
SPACE: Mapping[str, Between | OneOf] = {
    "hardware.alpha_llm": Between(3.4e-15, 6.5e-15, "s/FLOP", _MEASURED),
    "hardware.beta_llm": Between(0.0131, 0.018, "s/pass", _MEASURED),
    "hardware.alpha_slm": Between(0.65e-14, 1.5e-14, "s/FLOP", _SCALED),
    "hardware.beta_slm": Between(0.00205, 0.003, "s/pass", _SCALED),
    "bits_per_token": Between(
        8, 65_536, "bit", "from one byte to the 4096 FP16 values of an embedding", logarithmic=True
    ),
    "radio.loss_at_1km_db": Between(
        103, 141, "dB", "free space at 3.5 GHz to a pico cell without line of sight (TR 36.814)"
    ),
    "radio.loss_per_decade_db": Between(20, 40, "dB", "free space to two-ray ground"),
    "radio.noise_dbm_per_hz": Between(-174, -164, "dBm/Hz", "thermal, noise figure 0 to 10 dB"),
    "radio.rayleigh": OneOf((False, True), "fading of the received power"),
    "z_grid": OneOf((3, 5, 11, 21, 51), "shares from 0 to 1, evenly; the paper names no step"),
    "lambda_grid": OneOf((3, 5, 11, 21, 51), "likewise"),
    MEMORY: OneOf(("exact", "padded"), "eqs. (15), (16), or as the algorithms print (E1, E2)"),
}
#: What `instances.families.Setting` has where the paper is silent, as a point of the space.
DEFAULT: Setting = {
    "hardware.alpha_llm": 4.5e-15,
    "hardware.beta_llm": 0.0163,
    "hardware.alpha_slm": 1e-14,
    "hardware.beta_slm": 0.0024,
    "bits_per_token": 16.0,
    "radio.loss_at_1km_db": 128.1,
    "radio.loss_per_decade_db": 37.6,
    "radio.noise_dbm_per_hz": -174.0,
    "radio.rayleigh": False,
    "z_grid": 11,
    "lambda_grid": 11,
    MEMORY: "exact",
}


def draw(stream: Stream, fixed: Setting) -> Setting:
    """Return a setting anywhere in the space, but for the values that are fixed."""
    return {name: dimension.draw(stream) for name, dimension in SPACE.items()} | fixed


def near(setting: Setting, width: float, stream: Stream, fixed: Setting) -> Setting:
    """Return a setting near another: each value within a share `width` of its range."""
    moved = {name: SPACE[name].near(value, width, stream) for name, value in setting.items()}
    return moved | fixed
