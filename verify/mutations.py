"""Small random instances, and random changes of their numbers: the neighbourhood of the hunt."""

from __future__ import annotations

import math
from collections.abc import Callable

from instances import Hardware, Instance, Schedule, Transformer, User
from instances.exact import (
    ad_latency,
    ad_memory,
    download_time,
    sd_latency,
    sd_memory,
)
from instances.randomness import Stream, rounded
from instances.workload import weight_bytes

#: The grids of every instance; coarse, so that a hunt looks at many instances.
Z_GRID, LAMBDA_GRID = (0.0, 0.5, 1.0), (0.0, 0.5, 1.0)
_SMALLEST = Transformer(layers=1, hidden_size=1, num_heads=1, head_dim=1, intermediate_size=1)
#: Fields of a user that are drawn anew or taken over from another user, one by one.
_FIELDS = (
    "input_tokens",
    "output_tokens",
    "deadline_s",
    "acceptance_rate",
    "uplink_bps_per_hz",
)


def random_instance(stream: Stream, users: int) -> Instance:
    """Return an instance of random numbers: server, draft length, lengths, links and deadlines.

    The models are the smallest there are, and passes take most of the time. Nothing else is
    planned; numbers are drawn on the scale of each other, so that most limits can bind.
    """
    weights = 2 * weight_bytes(_SMALLEST, 2)
    beta = stream.magnitude(-3, -1)
    server = Hardware(
        memory_bytes=weights + stream.integer(20, 200 * users),
        bytes_per_value=2,
        alpha_llm=stream.magnitude(-15, -12),
        beta_llm=beta,
        alpha_slm=stream.magnitude(-15, -12),
        beta_slm=rounded(beta * stream.magnitude(-1, 0)),
    )
    return Instance(
        name="hunted",
        llm=_SMALLEST,
        slm=_SMALLEST,
        hardware=server,
        draft_length=stream.integer(1, 3),
        bits_per_token=1.0,
        z_grid=Z_GRID,
        lambda_grid=LAMBDA_GRID,
        users=tuple(_user(stream, f"u{k}", beta) for k in range(users)),
    )


def mutated(instance: Instance, optimal: Schedule, stream: Stream) -> Instance:
    """Return the instance after one to three random changes.

    Parameters
    ----------
    instance : Instance
    optimal : Schedule
        An optimal schedule of the instance: two changes take away what it does not need.
    stream : Stream
    """
    for _ in range(stream.integer(1, 3)):
        instance = stream.choice(_CHANGES)(instance, optimal, stream)
    return instance


def _user(stream: Stream, name: str, beta: float) -> User:
    """Return a user whose deadline leaves AD's passes and its upload some time, little or much.

    Parameters
    ----------
    stream : Stream
    name : str
    beta : float
        Seconds of a pass, β^L.
    """
    inputs, outputs = stream.length(3), stream.length(6)
    slack = stream.choice((stream.uniform(0, 1), float(stream.length(7))))
    upload = beta * stream.choice((stream.uniform(0, 0.1), stream.uniform(1, 128)))
    return User(
        id=name,
        input_tokens=inputs,
        output_tokens=outputs,
        deadline_s=rounded((outputs + slack) * beta + upload),
        acceptance_rate=stream.choice((0.0, 1.0, stream.uniform(0, 1))),
        uplink_hz=1.0,
        uplink_bps_per_hz=rounded(inputs / max(upload, 1e-9)),
        downlink_hz=1.0,
        downlink_bps_per_hz=1e9,
    )


def _with_user(instance: Instance, position: int, user: User) -> Instance:
    users = list(instance.users)
    users[position] = user
    return instance.model_copy(update={"users": tuple(users)})


def _any_position(instance: Instance, stream: Stream) -> int:
    return stream.integer(0, len(instance.users) - 1)


def _redraw_field(instance: Instance, optimal: Schedule, stream: Stream) -> Instance:
    """Draw one number of one user anew."""
    position, field = _any_position(instance, stream), stream.choice(_FIELDS)
    fresh = getattr(_user(stream, "fresh", instance.hardware.beta_llm), field)
    user = instance.users[position].model_copy(update={field: fresh})
    return _with_user(instance, position, user)


def _redraw_user(instance: Instance, optimal: Schedule, stream: Stream) -> Instance:
    """Draw one user anew."""
    position = _any_position(instance, stream)
    name, beta = instance.users[position].id, instance.hardware.beta_llm
    return _with_user(instance, position, _user(stream, name, beta))


def _take_field(instance: Instance, optimal: Schedule, stream: Stream) -> Instance:
    """Take one number over from another user."""
    position, other = _any_position(instance, stream), _any_position(instance, stream)
    field = stream.choice(_FIELDS)
    value = getattr(instance.users[other], field)
    user = instance.users[position].model_copy(update={field: value})
    return _with_user(instance, position, user)


def _take_all(instance: Instance, optimal: Schedule, stream: Stream) -> Instance:
    """Make one user like another."""
    position, other = _any_position(instance, stream), _any_position(instance, stream)
    same = instance.users[other].model_copy(update={"id": instance.users[position].id})
    return _with_user(instance, position, same)


def _scale_deadline(instance: Instance, optimal: Schedule, stream: Stream) -> Instance:
    """Make one deadline a little longer or shorter."""
    position = _any_position(instance, stream)
    user = instance.users[position]
    deadline = rounded(user.deadline_s * stream.uniform(0.5, 2))
    return _with_user(instance, position, user.model_copy(update={"deadline_s": deadline}))


def _scale_server(instance: Instance, optimal: Schedule, stream: Stream) -> Instance:
    """Change the memory or the time of a pass."""
    field = stream.choice(("memory_bytes", "beta_llm", "beta_slm"))
    value = getattr(instance.hardware, field) * stream.uniform(0.5, 2)
    value = int(value) if field == "memory_bytes" else rounded(value)
    return _with_server(instance, field, value)


def _tighten_deadline(instance: Instance, optimal: Schedule, stream: Stream) -> Instance:
    """Cut one served user's deadline back to the end of its batch in the optimal schedule."""
    served = [*optimal.ad, *optimal.sd]
    if not served:
        return instance
    name = stream.choice(served)
    mode, latency = (optimal.ad, ad_latency) if name in optimal.ad else (optimal.sd, sd_latency)
    batch = [instance.users[instance.index[member]] for member in mode]
    user = instance.users[instance.index[name]]
    end = latency(instance, batch, optimal.z) + download_time(instance, user)
    deadline = rounded(float(end) * 1.001)
    user = user.model_copy(update={"deadline_s": deadline})
    return _with_user(instance, instance.index[name], user)


def _tighten_memory(instance: Instance, optimal: Schedule, stream: Stream) -> Instance:
    """Cut the memory back to what the optimal schedule takes."""
    ad = [instance.users[instance.index[name]] for name in optimal.ad]
    sd = [instance.users[instance.index[name]] for name in optimal.sd]
    width = instance.hardware.bytes_per_value
    weights = weight_bytes(instance.llm, width) + weight_bytes(instance.slm, width)
    caches = ad_memory(instance, ad) + math.ceil(sd_memory(instance, sd))
    return _with_server(instance, "memory_bytes", weights + caches)


def _with_server(instance: Instance, field: str, value: float) -> Instance:
    server = instance.hardware.model_copy(update={field: value})
    return instance.model_copy(update={"hardware": server})


_CHANGES: tuple[Callable[[Instance, Schedule, Stream], Instance], ...] = (
    _redraw_field,
    _redraw_user,
    _take_field,
    _take_all,
    _scale_deadline,
    _scale_server,
    _tighten_deadline,
    _tighten_memory,
)
