"""The errata's instances: small whole numbers, so that each can be checked by hand.

Both models are {1 layer, hidden 1, 1 head of size 1, FFN 1} at 2 bytes a value: 12 bytes of
weights and κ = 4 bytes a cached token each. Computing takes next to no time, so that a batch lasts
its passes: ``L2 β^L`` in AD, ``(N1 + 1) β^L + N1 L^D β^S`` in SD.
"""

from __future__ import annotations

from collections.abc import Sequence

from instances import Hardware, Instance, Transformer, User

#: Bytes of both models' weights.
WEIGHTS = 24
#: A link over which everything takes next to no time, bit/s/Hz at 1 Hz.
FAST = 1e9

_TINY = Transformer(layers=1, hidden_size=1, num_heads=1, head_dim=1, intermediate_size=1)


def padding(memory_bytes: int = 16012) -> Instance:
    """Erratum E1: charged L1 + L2 each, short and long answers do not fit one AD batch.

    Three short (1 token) and three long answers (1001 tokens) need 4 (3·2 + 3·1002) = 12,048
    bytes by eq. (15), and all of them meet a deadline of 1 s in AD only. Four users upload for 2 s
    and have 4 s, enough for SD: 80 bytes. So ten can be served, at z = 0.5 and λ = 0.9. Padded, by
    eq. (27), a batch with a long answer has at most three users; Algorithm 1 prefers the four slow
    ones, who end no batch in time for the others, and SD has nobody left.

    Parameters
    ----------
    memory_bytes : int
        16,012 leaves 15,988 bytes beside both models, 16,024 leaves 16,000.
    """
    users = [_user(f"short{i}", (1, 1), 1.0, 0.0) for i in range(3)]
    users += [_user(f"long{i}", (1, 1001), 1.0, 0.0) for i in range(3)]
    users += [_user(f"slow{i}", (1, 1), 4.0, 0.0, uplink=0.5) for i in range(4)]
    return _instance(
        f"e1-padding-{memory_bytes}",
        users,
        memory_bytes=memory_bytes,
        beta=(1e-6, 1.5),
        lambda_grid=(0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0),
    )


def missing_token(count: int = 3) -> Instance:
    """Erratum E2: with N = 1, eq. (31) charges one verified token less than eq. (16).

    A = 1 and L^D = 3 give answers of four tokens in one iteration, 2 β^L + 3 β^S = 2.3 s; AD needs
    4 s and the deadline is 3 s. A user's caches take 4·4 + 4·5 = 36 bytes, printed 32. The room is
    32 bytes each: printed, all are served, and P1's memory row is broken by 4 bytes a user.
    """
    users = [_user(f"u{i}", (1, 4), 3.0, 1.0) for i in range(count)]
    return _instance(
        "e2-missing-token", users, memory_bytes=WEIGHTS + 32 * count, beta=(1.0, 0.1), drafts=3
    )


def split(lambda_grid: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0)) -> Instance:
    """Erratum E4: one user in AD, one in SD, and no λ of the grid that has room for both.

    The first can only run AD (3 s; SD would take 4.9 s) and needs 16 bytes, the second only SD
    (2.3 s; AD would take 4 s) and needs 36 bytes. The room is 60 bytes, so λ must lie between
    16/60 and 24/60.
    """
    users = [_user("ad", (1, 3), 3.5, 0.0), _user("sd", (1, 4), 3.0, 1.0)]
    return _instance(
        "e4-split",
        users,
        memory_bytes=WEIGHTS + 60,
        beta=(1.0, 0.1),
        drafts=3,
        lambda_grid=lambda_grid,
    )


def all_accepted() -> Instance:
    """Erratum E5: every draft of every user is accepted (A = 1), and only SD meets a deadline."""
    users = [_user(f"u{i}", (1, 4 * (i + 1)), 10.0, 1.0) for i in range(3)]
    return _instance("e5-all-accepted", users, memory_bytes=1000, beta=(1.0, 0.1), drafts=3)


def half(count: int = 3, more: int = 0) -> Instance:
    """An instance on which Algorithm 3 with exact memory serves n of 2n users.

    n short answers (10 tokens, A = 1, 10.5 s), n long ones (20 tokens, A = 0, 20.5 s), β^L = 1 s:
    no AD batch holds both, and SD serves only short ones. The printed order finds the short
    ones first for AD, and SD has nobody left; long in AD and short in SD are all 2n.

    Parameters
    ----------
    count : int
        n.
    more : int
        With one more short user no tie is left, and (n + 1) of 2n + 1 are served.
    """
    users = [_user(f"short{i}", (1, 10), 10.5, 1.0) for i in range(count + more)]
    users += [_user(f"long{i}", (1, 20), 20.5, 0.0) for i in range(count)]
    return _instance("tight-half", users, memory_bytes=10**6, beta=(1.0, 0.25))


def _user(
    name: str, lengths: tuple[int, int], deadline_s: float, rate: float, uplink: float = FAST
) -> User:
    return User(
        id=name,
        input_tokens=lengths[0],
        output_tokens=lengths[1],
        deadline_s=deadline_s,
        acceptance_rate=rate,
        uplink_hz=1.0,
        uplink_bps_per_hz=uplink,
        downlink_hz=1.0,
        downlink_bps_per_hz=FAST,
    )


def _instance(
    name: str,
    users: Sequence[User],
    *,
    memory_bytes: int,
    beta: tuple[float, float],
    drafts: int = 1,
    lambda_grid: Sequence[float] = (0.0, 0.5, 1.0),
) -> Instance:
    server = Hardware(
        memory_bytes=memory_bytes,
        bytes_per_value=2,
        alpha_llm=1e-12,
        beta_llm=beta[0],
        alpha_slm=1e-12,
        beta_slm=beta[1],
    )
    return Instance(
        name=name,
        llm=_TINY,
        slm=_TINY,
        hardware=server,
        draft_length=drafts,
        bits_per_token=1.0,
        z_grid=(0.0, 0.5, 1.0),
        lambda_grid=tuple(lambda_grid),
        users=tuple(users),
    )
