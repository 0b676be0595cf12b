"""Families built to have a proven property: a trap for the printed algorithm, a tight half."""

from __future__ import annotations

import math

from .exact import ad_memory, sd_memory
from .families import Setting, family
from .files import InputError
from .model import Hardware, Instance, Transformer, User
from .randomness import Stream, rounded
from .workload import weight_bytes

_FIXED = ("llm", "slm", "hardware", "draft_length", "bits_per_token")
#: A link over which everything takes next to no time.
_FAST = 1e9


def _user(name: str, lengths: tuple[int, int], deadline_s: float, rate: float, up: float) -> User:
    return User(
        id=name,
        input_tokens=lengths[0],
        output_tokens=lengths[1],
        deadline_s=rounded(deadline_s),
        acceptance_rate=rate,
        uplink_hz=1.0,
        uplink_bps_per_hz=rounded(up),
        downlink_hz=1.0,
        downlink_bps_per_hz=_FAST,
    )


def _hopeless(name: str) -> User:
    """A user whose upload alone takes longer than its deadline: legal, never served."""
    return _user(name, (1, 1), 0.001, 0.5, 1.0)


def _small_model(stream: Stream) -> Transformer:
    return Transformer(
        layers=stream.integer(1, 2),
        hidden_size=stream.integer(1, 4),
        num_heads=1,
        head_dim=stream.integer(1, 4),
        intermediate_size=stream.integer(1, 8),
    )


def _check_grid(setting: Setting, name: str) -> None:
    if len(setting.z_grid) < 3:
        raise InputError(f"family {name}: z_grid needs a value between 0 and 1")


@family("printed-trap", sizes=(7, 16), fewest=7, fixed=_FIXED)
def printed_trap(setting: Setting, users: int, stream: Stream) -> Instance:
    """Erratum E1's kind: the printed Algorithm 3 serves less than half of the optimum.

    Three kinds of users: *short* and *long* answers, both with a deadline that SD misses (one
    draft pass takes longer), and *slow* uploads, patient enough for SD but in no common batch with
    the others, who must be done before a slow upload is. There are m slow ones and fewer than m of
    each other kind, but more than m of both together. Memory is what serving them all takes: short
    and long in AD, slow in SD.

    The printed algorithm charges everyone in a batch the longest answer, and m long answers are
    more than the memory. So a batch with a long one has fewer than m users, one of short ones too:
    wherever AD has memory for m slow users (at every λ > 0 of the grid) they are its largest set,
    and SD has nobody left whom it could serve. Where AD has no share, SD serves the m slow ones.
    """
    _check_grid(setting, "printed-trap")
    slow, short, long = _trap_sizes(users, stream)
    longest = _trap_length(setting, users)
    llm, slm, server = _trap_server(stream, users, longest)
    deadline = stream.uniform(0.8, 1.1)
    patience = 2.2 + 3 * server.beta_slm + stream.uniform(0.3, 1)

    def quick(name: str, low: int, high: int) -> User:
        lengths = stream.integer(1, 3), stream.integer(low, high)
        late = deadline + stream.uniform(0, 0.05)
        return _user(name, lengths, late, stream.uniform(0, 1), _FAST)

    def slow_one(name: str) -> User:
        tokens, answer = stream.integer(1, 3), stream.integer(1, 3)
        return _user(name, (tokens, answer), patience, 0.0, tokens / stream.uniform(1.9, 2.1))

    ad = [quick(f"short{i}", 1, 3) for i in range(short)]
    ad += [quick(f"long{i}", longest, longest + 40) for i in range(long)]
    sd = [slow_one(f"slow{i}") for i in range(slow)]
    rest = [_hopeless(f"hopeless{i}") for i in range(users - slow - short - long)]
    instance = setting.instance(
        stream.shuffled(ad + sd + rest),
        llm=llm,
        slm=slm,
        hardware=server,
        draft_length=1,
        bits_per_token=1.0,
    )
    caches = ad_memory(instance, ad) + math.ceil(sd_memory(instance, sd))
    weights = weight_bytes(llm, server.bytes_per_value) + weight_bytes(slm, server.bytes_per_value)
    return setting.with_memory(instance, weights + caches)


def _trap_sizes(users: int, stream: Stream) -> tuple[int, int, int]:
    """Return how many are slow (m), short and long: short, long < m < short + long."""
    fewest, most = (users + 4) // 3, (users - 1) // 2
    if fewest > most:  # eight users cannot be split like that; seven can
        return _trap_sizes(users - 1, stream)
    slow = stream.integer(fewest, most)
    short = stream.integer(users - 2 * slow + 1, slow - 1)
    return slow, short, users - slow - short


def _trap_length(setting: Setting, users: int) -> int:
    """Return a long answer's length.

    In units of one cached token, all that is not long answers (inputs, short answers, the slow
    users' caches, the small model's weights, which AD may use at z = 1) is below 47 K + 85 tokens:
    with such an answer, m long ones padded do not fit where m - 1 exact ones just do. Divided by
    the least positive λ, m slow ones fit into AD's part.
    """
    least = min(share for share in setting.lambda_grid if share > 0)
    return math.ceil((50 * users + 100) * max(1.0, 0.1 / least))


def _trap_server(
    stream: Stream, users: int, longest: int
) -> tuple[Transformer, Transformer, Hardware]:
    """Return small models on a server where all computing of all users takes below 4 ms."""
    flops = 100 * users * (longest + 43) ** 2
    server = Hardware(
        memory_bytes=0,
        bytes_per_value=2,
        alpha_llm=rounded(stream.uniform(0.001, 0.002) / flops),
        beta_llm=rounded(stream.uniform(0.001, 0.002) / longest),
        alpha_slm=rounded(stream.uniform(0.001, 0.002) / flops),
        beta_slm=stream.uniform(1.2, 1.8),
    )
    return _small_model(stream), _small_model(stream), server


@family("tight-half", sizes=(2, 12), fewest=2, fixed=_FIXED)
def tight_half(setting: Setting, users: int, stream: Stream) -> Instance:
    """Algorithm 3 serves exactly half of the optimum, users // 2 of 2 (users // 2).

    n *short* users and n *long* ones (and a hopeless one if the number is odd). In AD the short
    ones' deadline and the long ones' length never fit one batch; the long ones cannot run SD, the
    short ones can. Both kinds fill AD with n users, and among largest sets the lexicographically
    smallest (L1, L2, deadline, upload), the order of the printed enumeration, is the short one's.
    Then SD has nobody left, while long in AD and short in SD serve all 2n.
    """
    _check_grid(setting, "tight-half")
    half = users // 2
    beta = stream.uniform(0.5, 1.5)
    brief = stream.integer(6, 14)
    lengthy = stream.integer(2 * brief, 3 * brief)
    tokens = stream.integer(1, 3)
    drawn = [
        _user(f"{name}{i}", (tokens, answer), (answer + 0.5) * beta, rate, _FAST)
        for name, answer, rate in (("short", brief, 1.0), ("long", lengthy, 0.0))
        for i in range(half)
    ]
    drawn += [_hopeless("hopeless0")] * (users % 2)
    server = Hardware(
        memory_bytes=0,
        bytes_per_value=2,
        alpha_llm=stream.magnitude(-15, -14),
        beta_llm=beta,
        alpha_slm=stream.magnitude(-15, -14),
        beta_slm=rounded(beta * stream.uniform(0.1, 0.3)),
    )
    return setting.instance(
        stream.shuffled(drawn),
        llm=_small_model(stream),
        slm=_small_model(stream),
        hardware=server.model_copy(update={"memory_bytes": 10**6 * (users + 1)}),
        draft_length=1,
        bits_per_token=1.0,
    )
