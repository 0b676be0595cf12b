"""The random stream: pinned words, fair ranges, independent names."""

from __future__ import annotations

import pytest

from instances.randomness import Stream, rounded


def test_words_are_pinned() -> None:
    stream = Stream("paper-4a", 1)
    assert [stream.word() for _ in range(3)] == PINNED


PINNED = [733937683868187724, 10740646255871449754, 2686208301199324660]


def test_names_and_seeds_separate_streams() -> None:
    first = {Stream(name, seed).word() for name in ("a", "b") for seed in (0, 1, 2**64)}
    assert len(first) == 6


def test_integers_cover_their_range_evenly() -> None:
    stream = Stream("die", 0)
    rolls = [stream.integer(1, 6) for _ in range(6000)]
    assert {n: rolls.count(n) > 850 for n in range(1, 7)} == dict.fromkeys(range(1, 7), True)
    assert set(rolls) == set(range(1, 7))
    assert stream.integer(3, 3) == 3


def test_uniform_numbers_stay_inside_and_are_short() -> None:
    stream = Stream("uniform", 0)
    draws = [stream.uniform(0.5, 4) for _ in range(2000)]
    assert 0.5 <= min(draws) < 0.51
    assert 3.99 < max(draws) <= 4
    assert all(draw == rounded(draw) for draw in draws)


def test_lengths_and_magnitudes_spread_over_the_scales() -> None:
    stream = Stream("scales", 0)
    lengths = [stream.length(10) for _ in range(2000)]
    assert {n.bit_length() for n in lengths} == set(range(1, 11))
    sizes = [stream.magnitude(-3, 2) for _ in range(2000)]
    assert 1e-3 <= min(sizes) < 2e-3
    assert 500 < max(sizes) <= 1000


def test_shuffling_permutes() -> None:
    stream = Stream("shuffle", 0)
    items = list(range(20))
    mixed = stream.shuffled(items)
    assert sorted(mixed) == items != mixed
    assert items == list(range(20))
    firsts = {stream.shuffled("abc")[0] for _ in range(50)}
    assert firsts == set("abc")


@pytest.mark.parametrize(
    ("value", "short"), [(1.23456789, 1.23457), (1234567.0, 1234570.0), (0.0, 0.0)]
)
def test_rounding_to_six_digits(value: float, short: float) -> None:
    assert rounded(value) == short
