"""Helpers that several test files use: a brute force on the cost tables, the printed algorithm."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np

from instances import CostTables, Hardware, Instance, Transformer, User
from instances.assignment import ad_batch, ad_budget, sd_batch, sd_budget

#: Per set of users (as a bit mask): ticks, bytes and budget of the batch, whether all are allowed.
Batch = tuple[int, int, int, bool]


def brute_force(tables: CostTables, with_lambda: bool = False) -> int:
    """Return the optimum of P1 (or of P2) on the tables by trying every pair of batches.

    Users count by their values.

    Every set of users is costed once per mode; a pair of disjoint sets then only needs
    comparisons in Python integers.
    """
    ad = [_ad(tables, mask) for mask in range(1 << tables.users)]
    sd = [_sd(tables, mask) for mask in range(1 << tables.users)]
    points = itertools.product(
        range(len(tables.room)), range(tables.ad_room.shape[1]) if with_lambda else [None]
    )
    return max(_best_at(tables, ad, sd, z, lam) for z, lam in points)


def _members(mask: int, users: int) -> np.ndarray:
    return np.array([k for k in range(users) if mask >> k & 1], np.intp)


def _ad(tables: CostTables, mask: int) -> Batch:
    users = _members(mask, tables.users)
    if not tables.ad_allowed[users].all():
        return 0, 0, 0, False
    return *ad_batch(tables, users), ad_budget(tables, users), True


def _sd(tables: CostTables, mask: int) -> Batch:
    users = _members(mask, tables.users)
    if not tables.sd_allowed[users].all():
        return 0, 0, 0, False
    return *sd_batch(tables, users), sd_budget(tables, users), True


def _best_at(
    tables: CostTables, ad: list[Batch], sd: list[Batch], z_index: int, lam: int | None
) -> int:
    """The optimum at one z (and λ)."""
    z, whole = int(tables.z_numerator[z_index]), tables.z_denominator
    room = int(tables.room[z_index])
    if room < 0:
        return 0
    ad_room = room if lam is None else int(tables.ad_room[z_index, lam])
    sd_room = room if lam is None else int(tables.sd_room[z_index, lam])

    def fitting(batches: list[Batch], share: int, most: int) -> list[int]:
        return [
            mask
            for mask, (time, memory, budget, allowed) in enumerate(batches)
            if mask == 0
            or (share > 0 and allowed and whole * time <= share * budget and memory <= most)
        ]

    best = 0
    worth = [int(tables.value[_members(mask, tables.users)].sum()) for mask in range(len(ad))]
    sd_fitting = fitting(sd, whole - z, sd_room)
    for first in fitting(ad, z, ad_room):
        for second in sd_fitting:
            served = worth[first] + worth[second]
            if served > best and not first & second:
                if lam is None and ad[first][1] + sd[second][1] > room:
                    continue
                best = served
    return best


def printed_balance(tables: CostTables, padded: bool = True) -> int:
    """Return what the paper's Algorithm 3 serves, tuple by tuple as printed (slow, K <= 10).

    Padded (errata E1, E2): every AD user is charged the longest answer, and an SD user's last
    iteration L^D verified tokens less the memory model's extra one where N = 1.
    """
    points = itertools.product(range(len(tables.room)), range(tables.ad_room.shape[1]))
    return max(_printed_at(tables, *point, padded) for point in points)


def _printed_at(tables: CostTables, z_index: int, lam: int, padded: bool) -> int:
    if tables.room[z_index] < 0:
        return 0
    ad = _algorithm_1(tables, z_index, lam, padded)
    rest = np.setdiff1d(np.arange(tables.users), ad)
    return len(ad) + _algorithm_2(tables, z_index, lam, rest, padded)


def _algorithm_1(tables: CostTables, z_index: int, lam: int, padded: bool) -> np.ndarray:
    t, share = tables, int(tables.z_numerator[z_index])
    best = np.array([], np.intp)
    if share == 0 or t.ad_room[z_index, lam] <= 0:
        return best
    may = t.ad_allowed  # the other users' costs are 0 and mean nothing
    columns = (t.input_tokens, t.output_tokens, t.deadline, t.upload)
    levels = (np.unique(column[may]) for column in columns)
    for length, answer, deadline, upload in itertools.product(*levels):
        budget = share * int(deadline - upload - t.ad_step * answer)
        users = np.flatnonzero(
            t.ad_allowed & (t.input_tokens <= length) & (t.output_tokens <= answer)
            & (t.deadline >= deadline) & (t.upload <= upload)
        )  # fmt: skip
        if len(users) <= len(best):
            continue
        prefill = t.ad_prefill[np.flatnonzero(may & (t.input_tokens == length))[0]]
        cost = t.ad_base[users] + t.ad_slope[users] * length + prefill
        memory = t.ad_memory[users] + t.kv_ad * length
        if padded:
            memory = np.full(len(users), t.kv_ad * (length + answer))
        order = np.argsort(cost, kind="stable")
        fits = t.z_denominator * np.cumsum(cost[order]) <= budget
        fits &= np.cumsum(memory[order]) <= t.ad_room[z_index, lam]
        if fits.sum() > len(best):
            best = users[order[fits]]
    return best


def _algorithm_2(tables: CostTables, z_index: int, lam: int, rest: np.ndarray, padded: bool) -> int:
    t, share = tables, tables.z_denominator - int(tables.z_numerator[z_index])
    best, may = 0, t.sd_allowed
    rest = rest[may[rest]]
    if share == 0 or t.sd_room[z_index, lam] <= 0 or not len(rest):
        return best
    ranks, deadlines, uploads = t.accept_rank[rest], t.deadline[rest], t.upload[rest]
    inputs, counts = t.input_tokens[rest], t.iterations[rest]
    levels = map(np.unique, (inputs, ranks, counts, deadlines, uploads))
    for length, rank, count, deadline, upload in itertools.product(*levels):
        budget = share * int(deadline - upload - t.sd_fixed - t.sd_step * count)
        users = rest[
            t.sd_allowed[rest] & (inputs <= length) & (ranks <= rank) & (counts <= count)
            & (deadlines >= deadline) & (uploads <= upload)
        ]  # fmt: skip
        if len(users) <= best:
            continue
        prefill = t.sd_prefill[np.flatnonzero(may & (t.input_tokens == length))[0]]
        peer = np.flatnonzero(may & (t.accept_rank == rank))[0]
        cost = t.sd_base[users] + t.sd_slope[users] * length + prefill
        cost = cost + t.sd_pairs[users] * t.sd_growth[peer]
        memory = t.sd_memory[users] + t.kv_sd * length
        memory = memory + t.sd_steps[users] * t.sd_memory_growth[peer]
        if padded:
            memory = memory - np.where(t.iterations[users] == 1, t.kv_ad, 0)
        order = np.argsort(cost, kind="stable")
        fits = t.z_denominator * np.cumsum(cost[order]) <= budget
        fits &= np.cumsum(memory[order]) <= t.sd_room[z_index, lam]
        best = max(best, int(fits.sum()))
    return best


#: The smallest model there is: weights 12 B and 4 B of cache per token at two bytes a value.
UNIT = Transformer(layers=1, hidden_size=1, num_heads=1, head_dim=1, intermediate_size=1)


def make_user(name: str = "u0", **changes: Any) -> User:
    """Return a user with an upload of L^I / 4 s and next to no download."""
    fields: dict[str, Any] = {
        "input_tokens": 2,
        "output_tokens": 3,
        "deadline_s": 10.0,
        "acceptance_rate": 0.5,
        "uplink_hz": 1.0,
        "uplink_bps_per_hz": 4.0,
        "downlink_hz": 1.0,
        "downlink_bps_per_hz": 1e9,
    }
    return User(id=name, **{**fields, **changes})


def make_instance(*users: User, **changes: Any) -> Instance:
    """Return an instance of unit models; `changes` replace its fields or its hardware's."""
    speed = {"alpha_llm": 1e-3, "beta_llm": 0.125, "alpha_slm": 2e-3, "beta_slm": 0.0625}
    server: dict[str, Any] = {"memory_bytes": 1000, "bytes_per_value": 2, **speed}
    server |= {key: changes.pop(key) for key in list(changes) if key in server}
    fields: dict[str, Any] = {
        "llm": UNIT,
        "slm": UNIT,
        "draft_length": 1,
        "bits_per_token": 1.0,
        "z_grid": (0.0, 0.5, 1.0),
        "lambda_grid": (0.0, 0.5, 1.0),
    }
    return Instance(hardware=Hardware(**server), users=users, **{**fields, **changes})


def free_work(seed: int) -> Instance:
    """Return an instance whose work costs nothing, while deadlines are met to the tick.

    With α = 0 only β takes time, once for a batch; what its deadline leaves for the users' work is
    then often exactly nothing, which is enough.
    """
    draw = random.Random(seed)
    users = []
    for number in range(draw.choice([3, 4, 6])):
        tokens = draw.choice([4, 10, 20])
        sent = 1e-9 * (1 + tokens)
        users.append(
            make_user(
                f"u{number}",
                input_tokens=1,
                output_tokens=tokens,
                deadline_s=round(draw.choice([4, 8, 10, 15, 20, 25, 30]) + sent, 9),
                acceptance_rate=draw.choice([0.0, 1.0]),
                uplink_bps_per_hz=1e9,
            )
        )
    speed = {"alpha_llm": 0.0, "beta_llm": 1.0, "alpha_slm": draw.choice([0.0, 1e-4])}
    memory = draw.choice([200, 400, 1_000_000])
    return make_instance(*users, **speed, beta_slm=0.25, memory_bytes=memory)
