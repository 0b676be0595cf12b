"""Named models and GPUs, and a reader for a model's own ``config.json``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from .files import InputError, describe, read_json
from .model import Hardware, Transformer


def _shape(
    name: str,
    layers: int,
    hidden_size: int,
    num_heads: int,
    kv_heads: int,
    head_dim: int,
    intermediate_size: int,
) -> Transformer:
    return Transformer(
        name=name,
        layers=layers,
        hidden_size=hidden_size,
        num_heads=num_heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        intermediate_size=intermediate_size,
    )


# name, layers, hidden size, heads, key/value heads, head size, feed-forward width, as published in
# each model's config.json
_MODELS = {
    shape.name: shape
    for shape in (
        _shape("Llama-2-7B", 32, 4096, 32, 32, 128, 11008),
        _shape("Llama-2-13B", 40, 5120, 40, 40, 128, 13824),
        _shape("TinyLlama-1.1B", 22, 2048, 32, 4, 64, 5632),
        _shape("Llama-3.1-8B", 32, 4096, 32, 8, 128, 14336),
        _shape("Llama-3.2-1B", 16, 2048, 32, 8, 64, 8192),
        _shape("Qwen2.5-0.5B", 24, 896, 14, 2, 64, 4864),
        _shape("Qwen2.5-1.5B", 28, 1536, 12, 2, 128, 8960),
        _shape("Qwen2.5-7B", 28, 3584, 28, 4, 128, 18944),
        _shape("Mistral-7B", 32, 4096, 32, 8, 128, 14336),
        _shape("OPT-125M", 12, 768, 12, 12, 64, 3072),
        _shape("OPT-6.7B", 32, 4096, 32, 32, 128, 16384),
        _shape("Pythia-6.9B", 32, 4096, 32, 32, 128, 16384),
    )
}

#: Names that `model` knows.
MODELS: tuple[str, ...] = tuple(name for name in _MODELS if name)


@dataclass(frozen=True)
class Timing:
    """Measured seconds per FLOP (α) and per forward pass (β) of both models on one GPU."""

    alpha_llm: float
    beta_llm: float
    alpha_slm: float
    beta_slm: float
    provenance: str


@dataclass(frozen=True)
class Gpu:
    """A GPU's nominal memory in bytes and, where somebody measured it, its timing law."""

    memory_bytes: int
    provenance: str
    timing: Timing | None = None


_NOMINAL = "nominal memory of the vendor's data sheet, in decimal gigabytes as the paper counts"
_GPUS = {
    "RTX 4090": Gpu(
        24_000_000_000,
        _NOMINAL,
        Timing(
            alpha_llm=4.5e-15,
            beta_llm=0.0163,
            alpha_slm=1.0e-14,
            beta_slm=0.0024,
            provenance=(
                "FP16, collected 2026: a 7B Llama at batch 1 takes 16.4 ms per decoded token and "
                "prefills 512 tokens in 46.3 ms, two-point fit (plausible α 3.4e-15 to 6.5e-15, "
                "β 13.1 to 18 ms); TinyLlama scaled from other cards (α 0.65e-14 to 1.5e-14, "
                "β 2.05 to 3 ms)"
            ),
        ),
    ),
    "RTX 3090": Gpu(24_000_000_000, _NOMINAL),
    "L4": Gpu(24_000_000_000, _NOMINAL),
    "L40S": Gpu(48_000_000_000, _NOMINAL),
    "A100 40GB": Gpu(40_000_000_000, _NOMINAL),
    "A100 80GB": Gpu(80_000_000_000, _NOMINAL),
    "H100 80GB": Gpu(80_000_000_000, _NOMINAL),
}

#: Names that `gpu` knows.
GPUS: tuple[str, ...] = tuple(_GPUS)


def _find(kind: str, name: str, names: Iterable[str]) -> str:
    plain = {_plain(known): known for known in names}
    if _plain(name) not in plain:
        raise InputError(f"unknown {kind} {name!r}; choose from {', '.join(plain.values())}")
    return plain[_plain(name)]


def _plain(name: str) -> str:
    return name.casefold().replace(" ", "-")


def model(name: str, true_kv_heads: bool = False) -> Transformer:
    """Return a model of the catalogue; upper and lower case are the same.

    A Llama-style model's gated feed-forward network has three matrices where the paper's formulas
    count two. Its published width is kept and the paper's formulas hold, so such a model's weights
    come out smaller than they are (Llama-2-7B's layers by 22 %).

    Parameters
    ----------
    name : str
        One of `MODELS`.
    true_kv_heads : bool
        False: the paper's multi-head formulas, whatever the model. True: keep the key/value heads
        of a grouped-query model.

    Raises
    ------
    InputError
        If no model has that name; the message lists those that exist.
    """
    shape = _MODELS[_find("model", name, MODELS)]
    return shape if true_kv_heads else shape.model_copy(update={"kv_heads": None})


def find_model(given: str | Path, true_kv_heads: bool = False) -> Transformer:
    """Return the model that a name of the catalogue or a ``config.json`` describes.

    Raises
    ------
    InputError
        As `model` and `read_config` do.
    """
    if _is_file(given):
        return read_config(given, true_kv_heads)
    return model(str(given), true_kv_heads)


def _is_file(given: str | Path) -> bool:
    return str(given).endswith(".json") or Path(given).is_file()


#: Families whose feed-forward network has two matrices; the others gate it with a third.
_UNGATED = ("gpt", "opt", "pythia", "bloom", "falcon")


def ffn_matrices(given: str | Path) -> int:
    """Return how many matrices a model's feed-forward network really has: 2, or 3 if it is gated.

    The paper's formulas count 2 whatever the model. A ``config.json`` is judged by its
    ``model_type``, a name of the catalogue by its first letters.
    """
    kind = read_json(Path(given)).get("model_type", "") if _is_file(given) else given
    return 2 if str(kind).casefold().startswith(_UNGATED) else 3


def gpu(name: str) -> Gpu:
    """Return a GPU of the catalogue; case, blanks and hyphens do not matter.

    Raises
    ------
    InputError
        If no GPU has that name; the message lists those that exist.
    """
    return _GPUS[_find("GPU", name, GPUS)]


def hardware(name: str, bytes_per_value: int = 2, timing_of: str | None = None) -> Hardware:
    """Return a server with one GPU of the catalogue, or the one in a file.

    Parameters
    ----------
    name : str
        One of `GPUS`, or a ``.json`` file with an instance's ``hardware`` section, as
        ``python -m instances.calibrate`` writes it; the other parameters are then not used.
    bytes_per_value : int
        2 for FP16, which the timings were measured in.
    timing_of : str, optional
        Another GPU whose measured α and β to use: a what-if with this one's memory.

    Raises
    ------
    InputError
        If a name is unknown, no α and β were measured on the GPU, or the file is no such section.
    """
    if name.endswith(".json"):
        return _read_hardware(Path(name))
    timing = gpu(timing_of or name).timing
    if timing is None:
        measured = ", ".join(known for known, card in _GPUS.items() if card.timing)
        raise InputError(f"no α and β were measured on {timing_of or name}, only on: {measured}")
    return Hardware(
        name=_find("GPU", name, GPUS),
        memory_bytes=gpu(name).memory_bytes,
        bytes_per_value=bytes_per_value,
        alpha_llm=timing.alpha_llm,
        beta_llm=timing.beta_llm,
        alpha_slm=timing.alpha_slm,
        beta_slm=timing.beta_slm,
    )


def _read_hardware(path: Path) -> Hardware:
    section = read_json(path)
    try:
        return Hardware.model_validate(section)
    except ValidationError as error:
        raise InputError(f"{path}: {describe(error, section)}") from None


# Our field: the names it has in Llama, Mistral, Qwen, GPT-NeoX and OPT; then in GPT-2.
_FIELDS = {
    "layers": ("num_hidden_layers", "n_layer"),
    "hidden_size": ("hidden_size", "n_embd"),
    "num_heads": ("num_attention_heads", "n_head"),
    "intermediate_size": ("intermediate_size", "ffn_dim", "n_inner"),
}


def read_config(path: str | Path, true_kv_heads: bool = False) -> Transformer:
    """Return the model that a Hugging Face ``config.json`` describes.

    Read are Llama, Mistral, Qwen, GPT-NeoX (Pythia), OPT and GPT-2 forms. An explicit ``head_dim``
    wins over hidden size / heads; GPT-2's absent ``n_inner`` means four times the hidden size. For
    gated feed-forward networks see `model`.

    Parameters
    ----------
    path : str or Path
    true_kv_heads : bool
        As for `model`.

    Raises
    ------
    InputError
        In one line: the file, the field, what is wrong.
    """
    path = Path(path)
    config = read_json(path)
    fields = {name: _field(path, config, name) for name in _FIELDS}
    fields["head_dim"] = config.get("head_dim") or _head_dim(path, fields)
    if true_kv_heads:
        fields["kv_heads"] = config.get("num_key_value_heads")
    name = config.get("_name_or_path") or config.get("model_type")
    try:
        return Transformer.model_validate({"name": name, **fields})
    except ValidationError as error:
        raise InputError(f"{path}: {describe(error)}") from None


def _field(path: Path, config: dict[str, Any], name: str) -> Any:
    for key in _FIELDS[name]:
        if config.get(key) is not None:
            return config[key]
    width = config.get("n_embd")
    if name == "intermediate_size" and isinstance(width, int):
        return 4 * width
    raise InputError(f"{path}: {' or '.join(_FIELDS[name])}: is missing")


def _head_dim(path: Path, fields: dict[str, Any]) -> int:
    width, heads = fields["hidden_size"], fields["num_heads"]
    if not isinstance(width, int) or not isinstance(heads, int) or heads < 1 or width % heads:
        raise InputError(
            f"{path}: head_dim: is missing and hidden size / heads = {width!r} / {heads!r} is not "
            "a whole number"
        )
    return width // heads
