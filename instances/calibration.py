"""From measured passes to an instance's α and β, with errors by range and a hardware section."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from .affine_law import CONTEXT_EDGES, Law, Loss, RangeError, errors_by_range, fit
from .files import read_json, writing
from .model import Hardware
from .passes import Measurements, counted_flops, executed_flops

#: Which of an instance's two models was measured.
Role = Literal["llm", "slm"]
#: Digits of α and β in a hardware section: far below what a measurement fixes.
_DIGITS = 4


@dataclass(frozen=True)
class Calibration:
    """What measured passes say about a model on a device.

    Parameters
    ----------
    measured : Measurements
    loss : Loss
        What the fits minimise.
    flops : tuple of float
        Per pass, as an instance's formulas count them.
    law : Law
        Fitted to `flops`; its α and β belong into an instance.
    executed : Law
        Fitted to the FLOP that were really done, for comparison with a device's peak.
    """

    measured: Measurements
    loss: Loss
    flops: tuple[float, ...]
    law: Law
    executed: Law

    @property
    def seconds(self) -> tuple[float, ...]:
        """Measured seconds per pass."""
        return tuple(one.seconds for one in self.measured.passes)

    @property
    def errors(self) -> dict[str, list[RangeError]]:
        """The law's errors over ranges of ``tokens`` in a pass and in the cache (``context``)."""
        passes = self.measured.passes
        tokens = [one.tokens for one in passes if one.tokens is not None]
        if len(tokens) < len(passes):
            return {}
        context = [one.context for one in passes]
        return {
            "tokens": errors_by_range(self.law, self.flops, self.seconds, tokens),
            "context": errors_by_range(self.law, self.flops, self.seconds, context, CONTEXT_EDGES),
        }

    def hardware(self, role: Role) -> dict[str, Any]:
        """Return what is now known of an instance's ``hardware`` section."""
        alpha, beta = (float(f"{x:.{_DIGITS}g}") for x in (self.law.alpha, self.law.beta))
        return {**self.measured.server, f"alpha_{role}": alpha, f"beta_{role}": beta}

    def to_dict(self, role: Role) -> dict[str, Any]:
        """Return plain data for JSON."""
        model = self.measured.model
        return {
            "source": self.measured.source,
            "model": model and model.model_dump(exclude_none=True),
            "about": self.measured.about,
            "notes": list(self.measured.notes),
            "passes": len(self.flops),
            "loss": self.loss,
            "laws": {"paper": self.law.to_dict(), "executed": self.executed.to_dict()},
            "residuals": self._residuals(),
            "errors": {key: [asdict(row) for row in rows] for key, rows in self.errors.items()},
            "hardware": self.hardware(role),
        }

    def _residuals(self) -> list[dict[str, Any]]:
        """Return each pass with what the law says of it and the relative error."""
        predicted, errors = self.law.seconds(self.flops), self.law.errors(self.flops, self.seconds)
        return [
            {**asdict(one), "flops": work, "predicted_seconds": float(time), "error": float(error)}
            for one, work, time, error in zip(
                self.measured.passes, self.flops, predicted, errors, strict=True
            )
        ]


def calibrate(
    measured: Measurements, loss: Loss = "robust", true_kv_heads: bool = False, seed: int = 0
) -> Calibration:
    """Return the affine law of measured passes, for an instance and as executed.

    Parameters
    ----------
    measured : Measurements
    loss : Loss
        See `instances.affine_law.fit`.
    true_kv_heads : bool
        Whether the instance's model keeps its grouped key/value heads.
    seed : int
        Of the bootstrap behind the intervals.

    Raises
    ------
    InputError
        If the passes fix no line, or no model is known to count their FLOP by.
    """
    seconds = [one.seconds for one in measured.passes]
    flops = counted_flops(measured, true_kv_heads)
    law, executed = (
        fit(work, seconds, loss, seed=seed) for work in (flops, executed_flops(measured))
    )
    return Calibration(measured, loss, tuple(flops), law, executed)


def write_hardware(path: Path, known: dict[str, Any]) -> list[str]:
    """Put what is known into a file with a hardware section; return what it still lacks.

    What else the file holds stays, so that the two models are added one after the other.

    Raises
    ------
    InputError
        If the file is there and no JSON object, or cannot be written.
    """
    section = {**(read_json(path) if path.exists() else {}), **known}
    with writing(path):  # not by `commandline.write`, which keeps what was read
        path.write_text(json.dumps(section, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    fields = Hardware.model_fields
    return [name for name, field in fields.items() if field.is_required() and name not in section]
