"""Families with the paper's users (Section V) and with the lengths of a trace."""

from __future__ import annotations

from .families import ACCEPTANCE, Range, Setting, draw_user, family
from .model import Instance, User
from .randomness import Stream, rounded
from .traces import Request, cached_trace


def paper_users(
    setting: Setting,
    users: int,
    stream: Stream,
    deadline_s: Range,
    input_tokens: Range,
    output_tokens: Range,
    acceptance_rate: Range = ACCEPTANCE,
) -> Instance:
    """Return an instance whose users are uniform in the ranges, as in the paper's experiments."""
    return setting.instance(
        [
            draw_user(
                setting,
                stream,
                position,
                input_tokens=stream.integer(*map(int, input_tokens)),
                output_tokens=stream.integer(*map(int, output_tokens)),
                deadline_s=stream.uniform(*deadline_s),
                acceptance_rate=stream.uniform(*acceptance_rate),
            )
            for position in range(users)
        ]
    )


def _ranges(deadline_s: Range, most_input: int, most_output: int) -> dict[str, Range]:
    return {
        "deadline_s": deadline_s,
        "input_tokens": (1, most_input),
        "output_tokens": (1, most_output),
        "acceptance_rate": ACCEPTANCE,
    }


@family("paper-4a", sizes=(8, 24), ranges=_ranges((0.5, 4), 300, 100))
def figure_4a(setting: Setting, users: int, stream: Stream) -> Instance:
    """Figure 4a: T in 0.5 to 4 s, L^I in 1 to 300, L^O in 1 to 100, A in 0.6 to 0.8."""
    return paper_users(setting, users, stream, **setting.ranges)


@family("paper-5a", sizes=(8, 24), ranges=_ranges((2, 12), 1000, 500))
def figure_5a(setting: Setting, users: int, stream: Stream) -> Instance:
    """Figure 5a: T in 2 to 12 s, L^I in 1 to 1000, L^O in 1 to 500, A in 0.6 to 0.8."""
    return paper_users(setting, users, stream, **setting.ranges)


@family("trace", sizes=(8, 24), ranges={"acceptance_rate": ACCEPTANCE})
def from_trace(setting: Setting, users: int, stream: Stream) -> Instance:
    """Lengths of a trace's requests, drawn with replacement; deadlines as in `trace_user`."""
    trace = cached_trace(setting.trace)
    drawn = [
        trace_user(setting, stream, position, stream.choice(trace.requests))
        for position in range(users)
    ]
    origin = {"trace": trace.name, "rows": trace.rows, "dropped": trace.dropped}
    return setting.instance(drawn).model_copy(update={"provenance": origin})


def trace_user(setting: Setting, stream: Stream, position: int, request: Request) -> User:
    """Return a user of the paper's cell with a request's lengths, and its deadline if it has one.

    Else its deadline grants 0.5 to 2 s to begin with, 12 to 40 ms per output token (human reading
    speed is slower) and 0.1 to 0.5 ms per input token. Either way as many numbers are drawn.
    """
    deadline = stream.uniform(0.5, 2) + stream.uniform(0.012, 0.04) * request.output_tokens
    deadline += stream.uniform(0.0001, 0.0005) * request.input_tokens
    return draw_user(
        setting,
        stream,
        position,
        input_tokens=request.input_tokens,
        output_tokens=request.output_tokens,
        deadline_s=rounded(deadline) if request.deadline_s is None else request.deadline_s,
        acceptance_rate=stream.uniform(*setting.ranges.get("acceptance_rate", ACCEPTANCE)),
    )
