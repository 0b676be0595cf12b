"""The catalogue against public facts, and config.json files of every supported form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from instances import InputError
from instances.catalog import GPUS, MODELS, gpu, hardware, model, read_config

#: Our name: the name in the file of public facts.
FACTS = {
    "Llama-2-7B": "Llama-2-7b-hf",
    "Llama-2-13B": "Llama-2-13b-hf",
    "TinyLlama-1.1B": "tiny-llama-1.1b",
    "Llama-3.1-8B": "Llama-3.1-8B",
    "Llama-3.2-1B": "Llama-3.2-1B",
    "Qwen2.5-0.5B": "Qwen2.5-0.5B",
    "Qwen2.5-1.5B": "Qwen2.5-1.5B",
    "Qwen2.5-7B": "Qwen2.5-7B",
    "Mistral-7B": "Mistral-7B-v0.1",
    "OPT-125M": "OPT-125M",
    "OPT-6.7B": "OPT-6.7B",
    "Pythia-6.9B": "pythia-6.9b",
}


def test_models_agree_with_public_facts(shared_data: Path) -> None:
    facts = {
        fact["name"]: fact for fact in json.loads((shared_data / "model_facts.json").read_text())
    }
    assert set(FACTS) == set(MODELS)
    for ours, theirs in FACTS.items():
        shape, fact = model(ours, true_kv_heads=True), facts[theirs]
        names = ("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn")
        assert [fact[name] for name in names] == [
            shape.layers,
            shape.hidden_size,
            shape.num_heads,
            shape.kv_heads,
            shape.head_dim,
            shape.intermediate_size,
        ], ours


def test_the_papers_formula_counts_every_head_unless_asked() -> None:
    assert model("TinyLlama-1.1B").kv_heads is None
    assert model("TinyLlama-1.1B").kv_size == 2048
    assert model("tinyllama-1.1b", true_kv_heads=True).kv_size == 256


def test_the_papers_server() -> None:
    server = hardware("RTX 4090")
    assert server.memory_bytes == 24 * 10**9
    assert server.bytes_per_value == 2
    assert (server.alpha_llm, server.beta_llm) == (4.5e-15, 0.0163)
    assert (server.alpha_slm, server.beta_slm) == (1.0e-14, 0.0024)
    timing = gpu("rtx-4090").timing
    assert timing is not None
    assert "FP16" in timing.provenance


def test_a_gpu_without_measurements_needs_anothers() -> None:
    with pytest.raises(
        InputError, match="no α and β were measured on A100 80GB, only on: RTX 4090"
    ):
        hardware("A100 80GB")
    server = hardware("a100 80gb", timing_of="RTX 4090")
    assert server.name == "A100 80GB"
    assert server.memory_bytes == 80 * 10**9
    assert server.beta_llm == 0.0163
    assert all(gpu(name).provenance for name in GPUS)


@pytest.mark.parametrize(("find", "names"), [(model, MODELS), (gpu, GPUS)])
def test_unknown_names_list_the_known_ones(find: Any, names: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"unknown .* 'nope'") as caught:
        find("nope")
    assert all(name in str(caught.value) for name in names)


LLAMA = {
    "model_type": "llama",
    "hidden_size": 2048,
    "num_hidden_layers": 22,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "intermediate_size": 5632,
}
FORMS: list[tuple[dict[str, Any], tuple[int, ...]]] = [
    # config, (layers, hidden, heads, kv heads or 0, head dim, feed-forward width)
    (LLAMA, (22, 2048, 32, 4, 64, 5632)),
    ({**LLAMA, "head_dim": 128}, (22, 2048, 32, 4, 128, 5632)),
    ({**LLAMA, "head_dim": None}, (22, 2048, 32, 4, 64, 5632)),
    (
        {  # GPT-NeoX
            "hidden_size": 4096,
            "num_hidden_layers": 32,
            "num_attention_heads": 32,
            "intermediate_size": 16384,
        },
        (32, 4096, 32, 0, 128, 16384),
    ),
    (
        {  # OPT
            "hidden_size": 768,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "ffn_dim": 3072,
        },
        (12, 768, 12, 0, 64, 3072),
    ),
    (
        {"n_embd": 768, "n_layer": 12, "n_head": 12, "n_inner": None, "n_ctx": 1024},  # GPT-2
        (12, 768, 12, 0, 64, 3072),
    ),
    ({"n_embd": 768, "n_layer": 12, "n_head": 12}, (12, 768, 12, 0, 64, 3072)),
    ({"n_embd": 768, "n_layer": 12, "n_head": 12, "n_inner": 100}, (12, 768, 12, 0, 64, 100)),
]


@pytest.mark.parametrize(("config", "shape"), FORMS)
def test_configs_of_every_form(
    config: dict[str, Any], shape: tuple[int, ...], tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    read = read_config(path, true_kv_heads=True)
    assert shape == (
        read.layers,
        read.hidden_size,
        read.num_heads,
        read.kv_heads or 0,
        read.head_dim,
        read.intermediate_size,
    )
    assert read_config(path).kv_heads is None


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"intermediate_size": None}, "intermediate_size or ffn_dim or n_inner: is missing"),
        ({"num_hidden_layers": None}, "num_hidden_layers or n_layer: is missing"),
        ({"hidden_size": None}, "hidden_size or n_embd: is missing"),
        ({"num_attention_heads": 30}, "head_dim: is missing and hidden size / heads = 2048 / 30"),
        ({"num_attention_heads": 0}, "2048 / 0 is not a whole number"),
        ({"num_key_value_heads": 5}, "must divide num_heads"),
        ({"num_hidden_layers": "22"}, 'layers: must be a whole number (found "22")'),
        ({"head_dim": -1}, "head_dim: must be at least 1"),
    ],
)
def test_a_config_without_what_is_needed(
    changes: dict[str, Any], line: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**LLAMA, **changes}))
    with pytest.raises(InputError) as caught:
        read_config(path, true_kv_heads=True)
    assert str(caught.value).startswith(f"{path}: ")
    assert line in str(caught.value)


def test_a_config_that_is_no_json(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("layers: 3")
    with pytest.raises(InputError, match="not JSON"):
        read_config(tmp_path / "config.json")
