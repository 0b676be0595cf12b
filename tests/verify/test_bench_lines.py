"""A solver line in this process: what is called with which options, and what is refused."""

from __future__ import annotations

import pytest

from instances import InputError, Status, generate
from verify.bench_lines import Line, solve
from verify.guarantee import _comparisons

INSTANCE = generate("paper-4a", users=4, seed=1)


def test_lines_call_what_they_name() -> None:
    optimum = solve(Line("highs", "levels+pairs+no-start"), INSTANCE, "P1", 60.0)
    assert optimum.status is Status.OPTIMAL
    assert optimum.options["formulation"] == "levels"
    assert solve(Line("heuristics:balance"), INSTANCE, "P1", 60.0).solver == "heuristics.balance"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_such_module:solve", "No module named"),
        ("math:no_such_function", "math has no no_such_function"),
        ("math:pi", "pi is not a function"),
    ],
)
def test_functions_that_are_none_are_refused(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        solve(Line(name), INSTANCE, "P1", 60.0)


def test_an_answer_must_be_a_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("math.answer", lambda *_: 42, raising=False)
    with pytest.raises(TypeError, match="math:answer returned int"):
        solve(Line("math:answer"), INSTANCE, "P1", 60.0)


@pytest.mark.parametrize(
    ("served", "p1", "p2", "kinds"),
    [
        (5, (10, 10), (10, 10), []),
        (4, (10, 10), (8, 8), ["half_p1"]),
        (4, (9, 10), (9, 10), ["half_p1", "half_p2"]),
        (11, (10, 10), (9, 9), ["above"]),
        (None, (10, 10), (11, 11), ["p2_above_p1"]),
        (4, (7, 10), (7, 10), []),  # nothing is certain between the bounds
    ],
)
def test_what_fails_whatever_the_optima_are(
    served: int | None, p1: tuple[int, int], p2: tuple[int, int], kinds: list[str]
) -> None:
    assert [kind for kind, _ in _comparisons(served, False, p1, p2)] == kinds
