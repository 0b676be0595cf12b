"""Files of measured passes, the FLOP counted for them, and profiles that others published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from instances import InputError, Transformer
from instances.catalog import find_model
from instances.passes import Measurements, Pass, counted_flops, executed_flops, read_passes, select
from instances.profiles import read_measurements
from instances.workload import decode_flops, prefill_flops, verify_flops

GROUPED = Transformer(
    layers=3, hidden_size=64, num_heads=8, head_dim=8, intermediate_size=96, kv_heads=2
)
PLAIN = GROUPED.model_copy(update={"kv_heads": None})


def measured(*passes: Pass, matrices: int = 3, attention: bool = True) -> Measurements:
    return Measurements("here", passes, GROUPED, matrices, attention)


def test_an_instance_counts_the_papers_formulas() -> None:
    passes = [
        Pass(1.0, tokens=20, sequences=2),
        Pass(1.0, tokens=4, sequences=4, context=30),
        Pass(1.0, tokens=6, sequences=2, context=30),
    ]
    wanted = [
        2 * prefill_flops(PLAIN, 10),
        4 * decode_flops(PLAIN, 30, 1),
        2 * verify_flops(PLAIN, 30, 3),
    ]
    assert counted_flops(measured(*passes)) == wanted
    assert counted_flops(measured(passes[0]), true_kv_heads=True)[0] < wanted[0]


def test_what_is_executed_is_causal_grouped_and_gated() -> None:
    one = Pass(1.0, tokens=10)
    projections = 10 * (2 * 64 * (64 + 16) * 2 + 3 * 2 * 64 * 96)
    scores = 4 * 64 * sum(range(1, 11))
    assert executed_flops(measured(one)) == [3 * (projections + scores)]
    assert executed_flops(measured(one, attention=False)) == [3 * projections]
    gate = 3 * 10 * 2 * 64 * 96
    assert executed_flops(measured(one, matrices=2)) == [3 * (projections + scores) - gate]


def test_stated_flops_need_no_model() -> None:
    stated = Measurements("here", (Pass(1.0, flops=5e9),))
    assert counted_flops(stated) == executed_flops(stated) == [5e9]
    with pytest.raises(InputError, match="name its --model"):
        counted_flops(Measurements("here", (Pass(1.0, tokens=1),)))


def test_a_file_of_passes(tmp_path: Path) -> None:
    path = tmp_path / "passes.csv"
    header = {"model": GROUPED.model_dump_json(), "ffn_matrices": 3, "layers_timed": 1}
    header |= {"memory_bytes": 1000, "bytes_per_value": 2, "device": "Abacus: 7", "date": "today"}
    lines = [f"# {key}: {value}" for key, value in header.items()]
    lines += ["sequences, tokens, context, seconds, spread", "2,8,5,0.5,0", "", "1,1,7,0.25,0"]
    path.write_text("\n".join(lines))
    read = read_passes(path)
    assert read.passes == (Pass(1.5, 8, 2, 5), Pass(0.75, 1, 1, 7))  # one layer of three timed
    assert (read.model, read.ffn_matrices) == (GROUPED, 3)
    assert read.notes == ("1 of 3 layers were timed; times are scaled to all",)
    assert read.server == {"memory_bytes": 1000, "bytes_per_value": 2, "name": "Abacus: 7"}
    assert read.about == {"device": "Abacus: 7", "date": "today"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("tokens,time\n1,2", "line 1: needs the columns seconds and tokens (or flops)"),
        ("seconds,tokens\n", "holds no passes below its header"),
        ("seconds,tokens\n1,2\nx,3", "line 3, column seconds: must be a number above 0, not 'x'"),
        ("seconds,tokens\n-1,3", "line 2, column seconds: must be a number above 0, not '-1'"),
        ("seconds,tokens\nnan,3", "line 2, column seconds: must be a number above 0, not 'nan'"),
        ("# a: b\nseconds,tokens\n1,0", "line 3, column tokens: must be a whole number from 1"),
        ("seconds,tokens\n1", "line 2, column tokens: must be a whole number from 1"),
        ("seconds,flops\n1,1e999", "line 2, column flops: must be a number above 0"),
        ("seconds,tokens,context\n1,2,-3", "column context: must be a whole number from 0"),
        ("seconds,tokens,sequences\n1,3,2", "column tokens: must be a multiple of the row's 2"),
        ("# layers_timed: 0\nseconds,tokens\n1,1", "# layers_timed: must be a whole number above"),
        ("# model: {}\nseconds,tokens\n1,1", "# model: layers: is missing"),
    ],
)
def test_a_bad_file_is_one_line(text: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "passes.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_passes(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_selecting_passes_by_size() -> None:
    whole = measured(Pass(1.0, 1, context=50), Pass(1.0, 8), Pass(1.0, 64))
    assert [one.tokens for one in select(whole, from_tokens=8).passes] == [8, 64]
    assert [one.tokens for one in select(whole, to_tokens=8).passes] == [1, 8]
    assert [one.tokens for one in select(whole, to_context=49).passes] == [8, 64]
    with pytest.raises(InputError, match="none of its 3 passes"):
        select(whole, from_tokens=65)
    with pytest.raises(InputError, match="no column tokens"):
        select(Measurements("here", (Pass(1.0, flops=1.0),)), from_tokens=1)


def test_a_kernel_profile_is_summed_over_layers(tmp_path: Path) -> None:
    kernels = ["qkv_proj", "rotary_emb", "o_proj", "gate_up_proj", "act_fn", "down_proj"]
    dense = [f"{name},4,10" for name in [*kernels, "layernorm"]]
    dense += ["embedding,4,100", "final_layernorm,4,200"]
    (tmp_path / "dense.csv").write_text("layer,tokens,time_us\n" + "\n".join(dense))
    ends = "layer,sequences,time_us\nlm_head,1,1000\nsampler,1,2000\n"
    (tmp_path / "per_sequence.csv").write_text(ends)
    rows = "0,0,4,9,7\n4,0,0,0,5\n4,0,1,9,6"
    header = "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n"
    (tmp_path / "attention.csv").write_text(header + rows)
    read = read_measurements(tmp_path, GROUPED)
    (one,) = read.passes
    assert (one.tokens, one.sequences, one.context) == (4, 1, 0)
    assert one.seconds == pytest.approx(1e-6 * (3 * (6 * 10 + 2 * 10 + 5) + 300 + 3000))
    assert [note.split()[0] for note in read.notes] == ["1", "1"]  # one mixed, one without sizes
    with pytest.raises(InputError, match="name its --model"):
        read_measurements(tmp_path)


def test_the_published_profiles(shared_data: Path) -> None:
    llama = find_model("llama-3.1-8b", true_kv_heads=True)
    kernels = read_measurements(shared_data / "profiles" / "rtx4090_llama31_8b", llama)
    assert len(kernels.passes) == 195
    decode = next(one for one in kernels.passes if one.tokens == 1 and one.context == 512)
    assert 0.016 < decode.seconds < 0.018
    vidur = shared_data / "profiles" / "vidur_llama2_7b_nonattn_forward_ms.csv"
    assert len(read_measurements(vidur, device="h100").passes) == 259
    with pytest.raises(InputError, match="holds the devices a100, a40, h100; choose one"):
        read_measurements(vidur)


def test_what_the_caller_names_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "passes.csv"
    path.write_text(f"# model: {json.dumps(GROUPED.model_dump())}\nseconds,tokens\n1,2")
    assert read_measurements(path).model == GROUPED
    assert read_measurements(path, PLAIN, 3).model == PLAIN
    assert read_measurements(path, PLAIN, 3).ffn_matrices == 3
