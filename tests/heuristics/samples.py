"""Small instances for the tests of the algorithms: random ones with many ties, and two traps."""

from __future__ import annotations

import random
from typing import Any

from instances import Hardware, Instance, Transformer, User

LLM = Transformer(layers=2, hidden_size=8, num_heads=2, head_dim=4, intermediate_size=8)
SLM = Transformer(layers=1, hidden_size=4, num_heads=1, head_dim=2, intermediate_size=4)
UNIT = Transformer(layers=1, hidden_size=1, num_heads=1, head_dim=1, intermediate_size=1)
#: Bytes of the weights of LLM and SLM at 2 bytes a value.
WEIGHTS = 2 * 2 * (4 * 8 * 8 + 2 * 8 * 8) + 2 * (4 * 4 * 2 + 2 * 4 * 4)


def user(name: str, **fields: Any) -> User:
    """One user; what is not given does not bind."""
    given: dict[str, Any] = {
        "input_tokens": 1,
        "output_tokens": 1,
        "deadline_s": 100.0,
        "acceptance_rate": 0.0,
        "uplink_hz": 1.0,
        "uplink_bps_per_hz": 1e9,
        "downlink_hz": 1.0,
        "downlink_bps_per_hz": 1e9,
    }
    return User(id=name, **(given | fields))


def instance(users: list[User], **fields: Any) -> Instance:
    """An instance of unit models; `fields` of Hardware or Instance replace the defaults."""
    hardware: dict[str, Any] = {
        "memory_bytes": 10**9,
        "bytes_per_value": 2,
        "alpha_llm": 1e-12,
        "beta_llm": 1.0,
        "alpha_slm": 1e-12,
        "beta_slm": 0.25,
    }
    given: dict[str, Any] = {
        "llm": UNIT,
        "slm": UNIT,
        "draft_length": 1,
        "bits_per_token": 1.0,
        "z_grid": (0, 0.5, 1),
        "lambda_grid": (0, 0.5, 1),
    }
    for name, value in fields.items():
        (hardware if name in hardware else given)[name] = value
    return Instance(hardware=Hardware(**hardware), users=tuple(users), **given)


def trap() -> Instance:
    """Erratum E1's instance: 10 can be served, the printed memory charge ends with 4."""
    users = [user(f"short{k}", deadline_s=1.0) for k in range(3)]
    users += [user(f"long{k}", output_tokens=1001, deadline_s=1.0) for k in range(3)]
    users += [user(f"far{k}", deadline_s=4.0, uplink_bps_per_hz=0.5) for k in range(4)]
    return instance(
        users,
        memory_bytes=16024,
        beta_llm=1e-6,
        beta_slm=1.5,
        lambda_grid=(0, 0.25, 0.5, 0.75, 0.9, 0.99, 1),
    )


def tight_half(count: int) -> Instance:
    """Half is served: short users take AD on a tie, the long ones cannot run SD."""
    short = {"output_tokens": 10, "acceptance_rate": 1.0, "deadline_s": 10.5}
    users = [user(f"short{k}", **short) for k in range(count)]
    users += [user(f"long{k}", output_tokens=20, deadline_s=20.5) for k in range(count)]
    return instance(users)


def drawn(seed: int, users: int) -> Instance:
    """A random instance whose every row may bind; half of them with few distinct values."""
    draw = random.Random(seed)
    ties = draw.random() < 0.5

    def pick(least: int, most: int) -> int:
        if ties:
            return draw.choice([least + (most - least) * i // 3 for i in range(4)])
        return draw.randint(least, most)

    alpha = draw.choice([0, 1e-6, 3e-6, 1e-5])
    people = [
        user(
            f"u{k}",
            input_tokens=pick(1, 30),
            output_tokens=pick(1, 20),
            deadline_s=pick(1, 40) / 10,
            acceptance_rate=draw.choice([0.0, 0.5, 0.8, 1.0]) if ties else draw.random(),
            uplink_bps_per_hz=draw.choice([1e3, 50.0, 20.0]) if ties else draw.uniform(10, 100),
            downlink_bps_per_hz=1e3,
        )
        for k in range(users)
    ]
    return instance(
        people,
        llm=LLM,
        slm=SLM,
        memory_bytes=WEIGHTS + draw.choice([-1, 500, 2000, 5000, 20000, 10**6]),
        alpha_llm=alpha,
        beta_llm=draw.choice([0.0, 0.01, 0.05, 0.1]),
        alpha_slm=alpha / 2,
        beta_slm=draw.choice([0.0, 0.01, 0.02]),
        draft_length=draw.randint(1, 4),
        z_grid=draw.choice([(0, 0.5, 1), (0, 1), (0, 0.25, 0.5, 0.75, 1), (0, 0.3, 1)]),
        lambda_grid=draw.choice([(0, 0.5, 1), (0, 1), (0, 0.1, 0.2, 0.4, 0.6, 0.8, 1)]),
    )


def ad_without_work(users: list[User]) -> Instance:
    """A server on which AD takes 0.1 s a token, however many users there are, and SD too long."""
    return instance(users, memory_bytes=10**6, alpha_llm=0, beta_llm=0.1, alpha_slm=0, beta_slm=1.5)


def third(name: str, **fields: Any) -> User:
    """A user whose 3 Hz links leave AD 8/15 s, and who takes just that."""
    slow = {"uplink_hz": 3.0, "uplink_bps_per_hz": 1.0}
    slow |= {"downlink_hz": 3.0, "downlink_bps_per_hz": 1.0}
    return user(name, output_tokens=2, **({"deadline_s": 1.2} | slow | fields))


def not_together() -> Instance:
    """Two users each of whom fits alone; together they are late by 3 fs."""
    early = user("early", output_tokens=2, deadline_s=0.53333333533333)
    return ad_without_work([early, third("slow", deadline_s=2.0)])
