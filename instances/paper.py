"""Families with the paper's users (Section V) and with the lengths of a trace."""

from __future__ import annotations

from .families import Setting, draw_user, family
from .model import Instance, User
from .randomness import Stream, rounded
from .traces import Request, cached_trace


def paper_users(
    setting: Setting,
    users: int,
    stream: Stream,
    deadline_s: tuple[float, float],
    most_input: int,
    most_output: int,
) -> Instance:
    """Return an instance whose deadlines and lengths are uniform, as the paper's experiments."""
    return setting.instance(
        [
            draw_user(
                setting,
                stream,
                position,
                input_tokens=stream.integer(1, most_input),
                output_tokens=stream.integer(1, most_output),
                deadline_s=stream.uniform(*deadline_s),
            )
            for position in range(users)
        ]
    )


@family("paper-4a", sizes=(8, 24))
def figure_4a(setting: Setting, users: int, stream: Stream) -> Instance:
    """Figure 4a: T in 0.5 to 4 s, L^I in 1 to 300, L^O in 1 to 100, A in 0.6 to 0.8."""
    return paper_users(setting, users, stream, (0.5, 4), 300, 100)


@family("paper-5a", sizes=(8, 24))
def figure_5a(setting: Setting, users: int, stream: Stream) -> Instance:
    """Figure 5a: T in 2 to 12 s, L^I in 1 to 1000, L^O in 1 to 500, A in 0.6 to 0.8."""
    return paper_users(setting, users, stream, (2, 12), 1000, 500)


@family("trace", sizes=(8, 24))
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
    )
