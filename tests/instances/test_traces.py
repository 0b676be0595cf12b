"""The trace reader: every public form, every dropped row counted, errors that name the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from instances import InputError
from instances.traces import SYNTHETIC, Request, cached_trace, read_trace


def write(folder: Path, text: str, name: str = "trace.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


FORMS = [
    (
        "Azure",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2023-11-16 18:15:51.2224670,879,55\n2023-11-16 18:15:54.9320210,388,84\n",
        [Request(879, 55, 0.0), Request(388, 84, 3.709554)],
    ),
    (
        "Azure",  # the 2024 form of the time
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2024-05-10 00:00:00.5+00:00,1,2\n2024-05-10T02:00:01.5+02:00,3,4\n",
        [Request(1, 2, 0.0), Request(3, 4, 1.0)],
    ),
    (
        "BurstGPT",
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "5,ChatGPT,472,18,490,Conversation log\n45,GPT-4,1087,230,1317,API log\n",
        [Request(472, 18, 0.0), Request(1087, 230, 40.0)],
    ),
    (
        "vidur",
        "arrived_at,num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n"
        "0.25,100,20,120,5.0\n1.5,7.0,3,10,2.33\n",
        [Request(100, 20, 0.0), Request(7, 3, 1.25)],
    ),
    (
        "vidur",  # lengths only
        ",num_prefill_tokens,num_decode_tokens\n0,100,20\n",
        [Request(100, 20, None)],
    ),
    (
        "Mooncake",
        "timestamp_ms,input_length,output_length\n0,6758,500\n3000,7322,490\n",
        [Request(6758, 500, 0.0), Request(7322, 490, 3.0)],
    ),
    (
        "Mooncake",
        "input_length,output_length,timestamp\n6758,500,27482\n7322,490,30535\n",
        [Request(6758, 500, 0.0), Request(7322, 490, 3.053)],
    ),
    ("plain", "input_tokens,output_tokens\r\n3,4\r\n", [Request(3, 4, None)]),
]


@pytest.mark.parametrize(("form", "text", "requests"), FORMS)
def test_public_forms(form: str, text: str, requests: list[Request], tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path, text))
    assert trace.form == form
    assert list(trace.requests) == requests
    assert trace.rows == len(requests)
    assert trace.dropped == {}


def test_json_lines(tmp_path: Path) -> None:
    text = (
        '{"timestamp": 0, "input_length": 655, "output_length": 52, "hash_ids": [0, 1]}\n\n'
        '{"timestamp": 1500, "input_length": 10, "output_length": 0, "hash_ids": []}\n'
        '{"timestamp": 2500, "input_length": 11, "output_length": 1, "hash_ids": []}\n'
    )
    trace = read_trace(write(tmp_path, text, "trace.jsonl"))
    assert trace.requests == (Request(655, 52, 0.0), Request(11, 1, 2.5))
    assert trace.dropped == {"zero output": 1}


def test_dropped_rows_are_counted_by_reason(tmp_path: Path) -> None:
    rows = ["5,5", "0,5", "5,0", "x,5", "5,", "5", "-1,5", "1.5,5", "nan,5", "9,9", "4e9,1", ""]
    path = write(tmp_path, "\n".join(["input_tokens,output_tokens", *rows]))
    trace = read_trace(path, max_tokens=17)
    assert trace.requests == (Request(5, 5, None),)
    assert trace.rows == 11  # an empty line is no row
    assert trace.dropped == {"too long": 2, "unreadable": 6, "zero input": 1, "zero output": 1}
    assert trace.report() == (
        "trace.csv (plain): 11 rows, 1 kept, 10 dropped: "
        "2 too long, 6 unreadable, 1 zero input, 1 zero output"
    )


def test_a_time_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    text = "TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,2\n10,3,4\n12.5,5,6\n"
    times = [request.arrival_s for request in read_trace(write(tmp_path, text)).requests]
    assert times == [None, 0.0, 2.5]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "a,b\n1,2\n", "line 1: has the columns a, b; expected ContextTokens"),
        ("t.csv", "ContextTokens,b\n1,2\n", "line 1: has the columns ContextTokens, b"),
        ("t.csv", "input_tokens,output_tokens\n", "holds no usable request"),
        ("t.csv", "input_tokens,output_tokens\n1,0\n", "1 rows, 0 kept, 1 dropped: 1 zero output"),
        ("t.csv", "input_tokens,output_tokens\n1," + "9" * 200_000, "line 2: not CSV"),
        ("t.jsonl", '{"input_length": 1, "output_length": 2}\nx\n', "line 2: not a JSON object"),
        ("t.jsonl", "[1, 2]\n", "line 1: not a JSON object"),
        ("t.jsonl", '{"a": 1}\n', "line 1: has the columns a; expected"),
    ],
)
def test_errors_name_file_and_place(name: str, text: str, line: str, tmp_path: Path) -> None:
    path = write(tmp_path, text, name)
    with pytest.raises(InputError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_folders_and_missing_files(tmp_path: Path) -> None:
    for read in (read_trace, cached_trace):
        with pytest.raises(InputError, match="is a directory"):
            read(tmp_path)
        with pytest.raises(InputError, match="No such file"):
            read(tmp_path / "none.csv")


def test_the_cache_notices_a_changed_file(tmp_path: Path) -> None:
    path = write(tmp_path, "input_tokens,output_tokens\n1,2\n")
    assert cached_trace(path) is cached_trace(path)
    write(tmp_path, "input_tokens,output_tokens\n1,2\n33,4\n")
    assert len(cached_trace(path).requests) == 2


def test_the_shipped_trace() -> None:
    trace = read_trace(SYNTHETIC)
    assert trace.form == "Azure"
    assert (trace.rows, len(trace.requests)) == (400, 397)
    assert trace.dropped == {"zero output": 3}
    times = [request.arrival_s for request in trace.requests]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("name", "form", "rows", "dropped", "mean_input"),
    [
        ("azure2023_conv_sample2000_seed0.csv", "Azure", 2000, {}, 1119),
        ("burstgpt_sample_32.csv", "BurstGPT", 32, {"zero output": 1}, None),
        ("mooncake_conversation_lengths.csv", "Mooncake", 12031, {}, 12035),
    ],
)
def test_real_traces(
    name: str,
    form: str,
    rows: int,
    dropped: dict[str, int],
    mean_input: int | None,
    shared_data: Path,
) -> None:
    trace = read_trace(shared_data / "traces" / name)
    assert (trace.form, trace.rows, trace.dropped) == (form, rows, dropped)
    assert len(trace.requests) == rows - sum(dropped.values())
    assert all(request.arrival_s is not None for request in trace.requests)
    if mean_input:
        total = sum(request.input_tokens for request in trace.requests)
        assert total / len(trace.requests) == pytest.approx(mean_input, rel=0.01)
