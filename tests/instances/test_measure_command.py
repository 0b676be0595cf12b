"""``python -m instances.measure`` on the CPU: a tiny decoder, timed, and what it executes."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

from instances import InputError, Transformer
from instances.passes import Measurements, Pass, Size, executed_flops, read_passes

#: Two layers, grouped keys, a gated feed-forward network.
CONFIG = {
    "model_type": "llama",
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 48,
}
QUICK = "--lengths 4 --batches 1,2 --contexts 3 --steps 1,2 --warm-up 0 --repeats 2 --threads 1"


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: object
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["measure", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("instances.measure", run_name="__main__")
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    return path


def test_a_run_is_kept_continued_and_read(
    config: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("torch")
    output = tmp_path / "passes.csv"
    arguments = ["--model", config, "--output", output, "--device", "cpu", *QUICK.split()]
    code, out, err = run(capsys, monkeypatch, *arguments, "--layers", 1)
    assert (code, out) == (0, "")
    assert "6 passes in" in err
    assert "2 sequences × 4 new, 0 cached: " in err
    read = read_passes(output)
    assert {(one.sequences, one.tokens, one.context) for one in read.passes} == {
        (batch, batch * new, context)
        for batch in (1, 2)
        for new, context in ((4, 0), (1, 3), (2, 3))
    }
    assert read.model is not None
    assert (read.model.layers, read.model.kv_heads, read.ffn_matrices) == (2, 2, 3)
    assert read.server["bytes_per_value"] == 4
    assert {"dtype", "date", "versions", "clock"} <= set(read.about)
    code, _, err = run(capsys, monkeypatch, *arguments)
    assert (code, err) == (2, f"error: {output}: is there already; --resume continues it\n")
    code, _, err = run(capsys, monkeypatch, *arguments, "--layers", 1, "--resume")
    assert code == 0
    assert "×" not in err  # nothing was left to time


@pytest.mark.parametrize(("matrices", "heads"), [(2, None), (3, 2)])
@pytest.mark.parametrize("size", [Size(2, 1, 5), Size(2, 4, 5), Size(2, 6, 0)])
def test_the_decoder_does_the_work_that_is_counted(
    size: Size, matrices: int, heads: int | None
) -> None:
    pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    from instances.decoder import Build, Decoder

    shape = Transformer(
        layers=3,
        hidden_size=64,
        num_heads=8,
        head_dim=8,
        intermediate_size=96,
        kv_heads=heads,
    )
    one_pass = Decoder(Build(shape, 3, matrices, "cpu", "float32")).prepare(size)
    with FlopCounterMode(display=False) as counter:
        answer = one_pass()
    assert answer.shape == (2, size.new, 64)
    assert answer.isfinite().all()
    one = Pass(1.0, 2 * size.new, 2, size.context)
    counted = executed_flops(Measurements("here", (one,), shape, matrices))[0]
    attention = 3 * 2 * 4 * 64 * sum(size.context + new for new in range(1, size.new + 1))
    assert counter.get_total_flops() + attention == counted


def test_new_tokens_see_the_cache_and_what_came_before_them() -> None:
    torch = pytest.importorskip("torch")
    from instances.decoder import Build, Decoder, _mask

    shape = Transformer(
        layers=1, hidden_size=16, num_heads=2, head_dim=8, intermediate_size=8, kv_heads=1
    )
    decoder = Decoder(Build(shape, 1, 2, "cpu", "float32"))
    together, first, last = Size(1, 3, 4), Size(1, 1, 4), Size(1, 1, 6)
    qkv, cache = torch.randn(1, 3, 32), torch.randn(2, 1, 1, 7, 8)
    mask = _mask(together, 2, "cpu")
    assert mask is not None
    whole = decoder._attention(qkv, cache, together, mask)
    query = qkv[..., :16].unflatten(-1, (2, 8)).transpose(1, 2)
    plain = torch.nn.functional.scaled_dot_product_attention(
        query, cache[0], cache[1], attn_mask=mask[:3], enable_gqa=True
    )
    assert torch.allclose(whole, plain.transpose(1, 2).flatten(2), atol=1e-6)
    one = decoder._attention(qkv[:, :1], cache[:, :, :, :5].clone(), first, None)
    three = decoder._attention(qkv[:, 2:], cache, last, None)
    assert torch.allclose(whole[:, :1], one, atol=1e-6)
    assert torch.allclose(whole[:, 2:], three, atol=1e-6)


def test_what_does_not_fit_is_skipped_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from instances import timing
    from instances.decoder import Build

    shape = Transformer(layers=1, hidden_size=8, num_heads=1, head_dim=8, intermediate_size=8)
    build = Build(shape, 1, 2, "cpu", "float32")
    small, large = Size(1, 1, 0), Size(1, 10**4, 0)
    free = build.weight_bytes + build.pass_bytes(small)
    monkeypatch.setattr(timing, "free_bytes", lambda device: free)
    timed = list(timing.time_passes(build, [small, large], timing.Effort(0, 1)))
    assert [one.skipped is None for one in timed] == [True, False]
    assert timed[0].seconds > 0
    monkeypatch.setattr(timing, "free_bytes", lambda device: 10)
    with pytest.raises(InputError, match="time fewer --layers"):
        timing.check_room(build)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--device", "abacus"], "must be cpu, cuda or cuda:N"),
        (["--device", "cuda:99"], "sees no cuda:99 here"),
        (["--layers", "3"], "has only 2"),
        (["--lengths", "1,x"], "'1,x' is no list of whole numbers above 0"),
        (["--dtype", "int4"], "--dtype"),
    ],
)
def test_bad_usage_is_one_line(
    arguments: list[str],
    words: str,
    config: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("torch")
    output = config.with_name("passes.csv")
    code, _, err = run(
        capsys, monkeypatch, "--model", config, "--output", output, "--device", "cpu", *arguments
    )
    assert code == 2
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1
    assert words in err
    assert not output.exists()


def test_without_pytorch_it_says_what_to_install(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = run(capsys, monkeypatch, "--model", config, "--output", config.with_name("a"))
    assert (code, err) == (
        2,
        "error: measuring needs PyTorch: pip install torch "
        "(in a clone: pip install -e '.[measure]')\n",
    )
