"""Families that lean on one thing: memory, deadlines, ties, scales, one mode missing."""

from __future__ import annotations

import math
from fractions import Fraction

from .exact import (
    ad_latency,
    ad_memory,
    download_time,
    sd_latency,
    sd_memory,
)
from .families import Setting, family, with_deadlines
from .model import Hardware, Instance, Transformer, User
from .numbers import exact
from .paper import paper_users
from .randomness import Stream, rounded
from .workload import decode_flops, weight_bytes


def _weights(instance: Instance) -> tuple[int, int]:
    width = instance.hardware.bytes_per_value
    return weight_bytes(instance.llm, width), weight_bytes(instance.slm, width)


def _ad_alone(instance: Instance, user: User) -> Fraction:
    """Seconds until the user's answer has arrived, alone in AD on the whole GPU."""
    return ad_latency(instance, [user], 1.0) + download_time(instance, user)


def _sd_alone(instance: Instance, user: User) -> Fraction:
    """Seconds until the user's answer has arrived, alone in SD on the whole GPU."""
    return sd_latency(instance, [user], 0.0) + download_time(instance, user)


@family("memory-tight", sizes=(4, 14))
def memory_tight(setting: Setting, users: int, stream: Stream) -> Instance:
    """Room beside both models for 10 to 45 % of what all users' caches need; long deadlines."""
    instance = paper_users(setting, users, stream, (3, 12), (1, 1000), (1, 150))
    need = ad_memory(instance, instance.users)
    room = need * stream.integer(10, 45) // 100
    return setting.with_memory(instance, sum(_weights(instance)) + room)


@family("deadline-tight", sizes=(4, 14))
def deadline_tight(setting: Setting, users: int, stream: Stream) -> Instance:
    """Deadlines of 0.8 to 1.6 times what the user would need alone in AD."""
    instance = paper_users(setting, users, stream, (1, 1), (1, 300), (1, 100))
    return with_deadlines(
        instance,
        [
            rounded(stream.uniform(0.8, 1.6) * float(_ad_alone(instance, user)))
            for user in instance.users
        ],
    )


@family("tiny", sizes=(0, 3))
def tiny(setting: Setting, users: int, stream: Stream) -> Instance:
    """No, one, two or three users, some of whom cannot be served together."""
    return deadline_tight(setting, users, stream)


@family("no-sd", sizes=(4, 14))
def no_sd(setting: Setting, users: int, stream: Stream) -> Instance:
    """The small model does not fit beside the large one, so only z = 1 serves anybody."""
    instance = paper_users(setting, users, stream, (0.5, 4), (1, 600), (1, 100))
    large, small = _weights(instance)
    need = min(ad_memory(instance, instance.users), small - 1)
    return setting.with_memory(instance, large + need * stream.integer(40, 100) // 100)


@family("no-ad", sizes=(4, 14))
def no_ad(setting: Setting, users: int, stream: Stream) -> Instance:
    """Deadlines that AD misses even alone on the whole GPU and SD (mostly) can meet."""
    instance = paper_users(setting, users, stream, (1, 1), (1, 300), (1, 100))

    def deadline(user: User) -> float:
        ad, sd = float(_ad_alone(instance, user)), float(_sd_alone(instance, user))
        # Rounded to six digits, 0.999 of the AD latency is still less than it.
        return rounded(min(sd + stream.uniform(0.1, 1) * (ad - sd), 0.999 * ad))

    return with_deadlines(instance, [deadline(user) for user in instance.users])


@family("wide", sizes=(4, 12), fixed=("llm", "slm", "hardware", "draft_length", "bits_per_token"))
def wide(setting: Setting, users: int, stream: Stream) -> Instance:
    """Scales from milliseconds to hours and from bytes to terabytes.

    Model sizes are drawn over binary orders of magnitude, and so are links and lengths; α follows
    from a time per token between 1 ns and 10 ms, memory and deadlines from what the users need,
    within orders of magnitude.
    """
    scale = stream.integer(1, 16)
    llm, slm = _any_model(stream, scale), _any_model(stream, max(1, scale - 3))
    alpha = stream.magnitude(-9, -3) / float(decode_flops(llm, 0, 1))
    server = Hardware(
        memory_bytes=0,
        bytes_per_value=stream.choice((1, 2, 4)),
        alpha_llm=rounded(alpha),
        beta_llm=stream.magnitude(-6, -2),
        alpha_slm=rounded(alpha * stream.magnitude(-1, 0)),
        beta_slm=stream.magnitude(-7, -3),
    )
    bits = stream.integer(2, 13)
    drawn = [_any_user(stream, position, bits) for position in range(users)]
    instance = setting.instance(
        drawn,
        llm=llm,
        slm=slm,
        hardware=server,
        draft_length=stream.integer(1, 6),
        bits_per_token=stream.magnitude(0, 4),
    )
    deadlines = [
        min(rounded(float(_ad_alone(instance, u)) * stream.magnitude(-1, 1)), 1e5)
        for u in instance.users
    ]
    need = ad_memory(instance, instance.users) * stream.integer(5, 150) // 100
    memory = min(sum(_weights(instance)) + need, 2**50)
    return setting.with_memory(with_deadlines(instance, deadlines), memory)


def _any_model(stream: Stream, bits: int) -> Transformer:
    """A model about 2^bits wide."""
    half = (bits + 1) // 2
    return Transformer(
        layers=stream.length(7),
        hidden_size=_of_bits(stream, bits),
        num_heads=_of_bits(stream, half),
        head_dim=_of_bits(stream, half),
        intermediate_size=_of_bits(stream, bits + 1),
    )


def _of_bits(stream: Stream, bits: int) -> int:
    return stream.integer(2 ** (bits - 1), 2**bits - 1)


def _any_user(stream: Stream, position: int, bits: int) -> User:
    return User(
        id=f"u{position}",
        input_tokens=stream.length(bits),
        output_tokens=stream.length(min(bits, 9)),
        deadline_s=1.0,
        acceptance_rate=stream.choice((0.0, 1.0, stream.uniform(0, 1), stream.uniform(0, 1))),
        uplink_hz=stream.magnitude(3, 8),
        uplink_bps_per_hz=stream.magnitude(-1, 1),
        downlink_hz=stream.magnitude(3, 8),
        downlink_bps_per_hz=stream.magnitude(-1, 1),
    )


@family("ties", sizes=(4, 12), fixed=("llm", "slm", "hardware", "bits_per_token"))
def ties(setting: Setting, users: int, stream: Stream) -> Instance:
    """Few kinds of users, every time a whole number of ticks, resources exactly full.

    A schedule is planted: its two batches end exactly at their users' deadlines and fill the
    memory to the last byte. Everybody else has one of the same two deadlines.
    """
    shape = Transformer(layers=2, hidden_size=16, num_heads=2, head_dim=8, intermediate_size=32)
    server = Hardware(
        memory_bytes=0,
        bytes_per_value=2,
        alpha_llm=1e-9,
        beta_llm=0.001,
        alpha_slm=1e-9,
        beta_slm=0.00025,
    )
    drawn = [_kind(stream, position) for position in range(users)]
    instance = setting.instance(drawn, llm=shape, slm=shape, hardware=server, bits_per_token=16.0)
    order = stream.shuffled(drawn)
    first = stream.integer(min(1, users), max(1, users // 3)) if users else 0
    second = stream.integer(first, max(first, 2 * users // 3))
    return _planted(setting, instance, order[:first], order[first:second], stream)


def _kind(stream: Stream, position: int) -> User:
    """A user of one of eight kinds; its upload and download are whole microseconds."""
    return User(
        id=f"u{position}",
        input_tokens=stream.choice((32, 64)),
        output_tokens=stream.choice((8, 16)),
        deadline_s=1.0,
        acceptance_rate=stream.choice((0.5, 1.0)),
        uplink_hz=1e6,
        uplink_bps_per_hz=4.0,
        downlink_hz=2e6,
        downlink_bps_per_hz=4.0,
    )


def _planted(
    setting: Setting, instance: Instance, ad: list[User], sd: list[User], stream: Stream
) -> Instance:
    """Return the instance with deadlines and memory that `ad` and `sd` use up exactly."""
    shares = [z for z in instance.z_grid if 0 < z < 1 and _terminates(z)]
    z = stream.choice(shares) if shares else 0.5
    ends = [
        latency(instance, batch, z) if batch else Fraction(0)
        for latency, batch in ((ad_latency, ad), (sd_latency, sd))
    ]
    chosen = {user.id: end for batch, end in zip((ad, sd), ends, strict=True) for user in batch}
    possible = [end for end in ends if end]

    def deadline(user: User) -> float:
        end = chosen.get(user.id) or stream.choice(possible)
        return float(end + download_time(instance, user))

    memory = sum(_weights(instance)) + ad_memory(instance, ad) + math.ceil(sd_memory(instance, sd))
    return setting.with_memory(
        with_deadlines(instance, [deadline(user) for user in instance.users]), memory
    )


def _terminates(z: float) -> bool:
    """Whether dividing by z and by 1 - z leaves a finite decimal."""
    return all(10**6 % share.numerator == 0 for share in (exact(z), 1 - exact(z)))
