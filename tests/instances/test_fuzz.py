"""Mutated files: whatever a file holds, it is an instance or one line that says what is wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from instances import (
    InputError,
    Instance,
    Schedule,
    build_tables,
    dumps,
    load,
    load_schedule,
    loads,
)
from tests.helpers import make_instance, make_user

INSTANCE = dumps(make_instance(make_user("ann", acceptance_rate=0.75), make_user("bob")))
SCHEDULE = dumps(Schedule(z=0.5, lam=0.5, ad=("ann",), sd=("bob",)))

#: Numbers at the edges of what the fields accept, of int64 and of doubles.
WHOLE = [0, 1, -1, 2, 64, 65, 10**7, 10**9, 2**50, 2**53 + 1, 2**63 - 1, 2**63, 10**40, 10**310]
BROKEN = [-0.0, 0.1, 0.5, 1e-12, 1e-300, 5e-324, 1.7e308, float("nan"), float("inf")]
NUMBERS = st.sampled_from([*WHOLE, *BROKEN])
TEXTS = st.one_of(
    st.sampled_from(["", "ann", "bob", "\u2028", "\ud800", "a\nb"]), st.text(max_size=4)
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.integers(), st.floats(), TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)

Place = tuple[str | int, ...]


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Every place in a document below its top."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        yield (*place, key)
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*place, key))


@st.composite
def documents(draw: st.DrawFn, text: str) -> str:
    """A document in which one to three places hold something else, nothing, or too much."""
    document = json.loads(text)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(sorted(places(document), key=str)))
        holder = document
        for key in place[:-1]:
            holder = holder[key]
        kind = draw(st.sampled_from(["replace", "replace", "drop", "copy", "add"]))
        if kind == "replace":
            holder[place[-1]] = draw(VALUES)
        elif kind == "drop":
            del holder[place[-1]]
        elif kind == "copy" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[place[-1]]))
        elif isinstance(holder, dict):
            holder[draw(TEXTS)] = draw(VALUES)
        if not document:
            break
    return json.dumps(document, ensure_ascii=draw(st.booleans()))


@st.composite
def texts(draw: st.DrawFn, text: str) -> str:
    """A text with a stretch cut out, doubled, or replaced."""
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 40)))
    piece = draw(st.one_of(st.just(""), st.just(2 * text[start:end]), TEXTS, st.just("[" * 3000)))
    return text[:start] + piece + text[end:]


def read(function: Callable[[], Instance | Schedule]) -> Instance | Schedule | None:
    """What a reader returns; None where it refuses in one line that a terminal can show."""
    try:
        return function()
    except InputError as error:
        line = str(error)
    assert line.isprintable(), line
    return None


def an_instance_or_one_line(text: str) -> None:
    """An instance that is accepted is written and read back, and its costs can be had."""
    instance = read(lambda: loads(text, "fuzz.json"))
    if instance is not None:
        assert loads(dumps(instance)) == instance
        for rounded_up in (True, False):
            assert build_tables(instance, rounded_up).users == len(instance.users)


def a_file_or_one_line(folder: Path, content: bytes) -> None:
    """Files of any bytes, read as an instance and as a schedule."""
    path = folder / "fuzz.json"
    path.write_bytes(content)
    for reader in (load, load_schedule):
        read(lambda reader=reader: reader(path))


INSTANCES = documents(INSTANCE) | texts(INSTANCE)
CONTENTS = st.binary(max_size=40) | (documents(SCHEDULE) | texts(SCHEDULE)).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)
FIXTURE = [HealthCheck.function_scoped_fixture]  # each example writes the file anew


@given(INSTANCES)
@settings(max_examples=80)
def test_a_mutated_instance_is_read_or_refused(text: str) -> None:
    an_instance_or_one_line(text)


@given(content=CONTENTS)
@settings(max_examples=60, suppress_health_check=FIXTURE)
def test_a_mutated_file_is_read_or_refused(tmp_path: Path, content: bytes) -> None:
    a_file_or_one_line(tmp_path, content)


@pytest.mark.slow
@given(text=INSTANCES, content=CONTENTS)
@settings(max_examples=5000, derandomize=False, suppress_health_check=FIXTURE)
def test_many_mutations(tmp_path: Path, text: str, content: bytes) -> None:
    an_instance_or_one_line(text)
    a_file_or_one_line(tmp_path, content)
