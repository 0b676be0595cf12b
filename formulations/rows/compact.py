"""The plain compact linearisation of P1 and P3 at fixed shares.

Columns: binaries x_k (AD) and y_k (SD); per max-term among L1, L3, L4 a one-hot choice of its
level, and per level the sums it multiplies (members, Σ slope, Σ pairs, Σ steps), each held to 0
unless the level is chosen; continuous maxima of upload, L2 and N1 and a continuous minimum of the
deadlines. docs/milp.md ("The compact model") lists columns and rows, proves that they are exact and
counts them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from formulations.points import Point
from instances import CostTables
from instances.costs import Integers

from .data import Rows, Term


class _Batch(NamedTuple):
    """What the time row of one mode needs."""

    columns: dict[int, int]  # user -> binary
    work: list[Term]  # whole-GPU ticks
    heaviest: int  # the work if everyone is in the batch
    lengths: Integers  # whose maximum is L2 or N1
    step: int  # ticks per unit of that maximum
    fixed: int  # ticks charged once
    share: int  # the mode's share of the GPU is share / whole
    whole: int


def build_compact(tables: CostTables, point: Point) -> Rows:
    """Return the compact MILP of one point, with the tables' integers as coefficients.

    Parameters
    ----------
    tables : CostTables
    point : Point

    Returns
    -------
    Rows
        Feasible at least for the empty schedule.
    """
    rows = Rows(tables.users)
    rows.ad = {int(k): rows.binary(1) for k in point.ad_users(tables)}
    rows.sd = {int(k): rows.binary(1) for k in point.sd_users(tables)}
    for k in rows.ad.keys() & rows.sd.keys():
        rows.at_most([(rows.ad[k], 1), (rows.sd[k], 1)], 1)
    ad_bytes = _ad(rows, tables, point) if rows.ad else []
    sd_bytes = _sd(rows, tables, point) if rows.sd else []
    ad_room, sd_room = point.split_room(tables)
    if point.lam_index is None:
        memory = [([*ad_bytes, *sd_bytes], ad_room)]
    else:
        memory = [(ad_bytes, ad_room), (sd_bytes, sd_room)]
    for terms, room in memory:
        if terms:  # nobody in the mode: nothing to store
            rows.at_most(terms, room)
    return rows


def _ad(rows: Rows, tables: CostTables, point: Point) -> list[Term]:
    """Add the AD mode's rows and return the terms of its bytes."""
    users, (share, whole) = list(rows.ad), point.shares(tables)
    work = [(column, int(tables.ad_base[k])) for k, column in rows.ad.items()]
    cache = [(column, int(tables.ad_memory[k])) for k, column in rows.ad.items()]
    slopes = _counts(users, tables.ad_slope)
    for k, (members, slope) in _levels(rows, (0, 0), tables.input_tokens, (_ONES, slopes)):
        tokens = int(tables.input_tokens[k])
        work += [(members, int(tables.ad_prefill[k])), (slope, tokens)]
        cache.append((members, tables.kv_ad * tokens))
    longest = int(tables.input_tokens[users].max())
    heaviest = int(tables.ad_base[users].sum()) + sum(slopes.values()) * longest
    heaviest += len(users) * int(tables.ad_prefill[users].max())
    lengths, step = tables.output_tokens, tables.ad_step
    _time(rows, tables, _Batch(rows.ad, work, heaviest, lengths, step, 0, share, whole))
    return cache


def _sd(rows: Rows, tables: CostTables, point: Point) -> list[Term]:
    """Add the SD mode's rows and return the terms of its bytes."""
    users, (share, whole) = list(rows.sd), point.shares(tables)
    work = [(column, int(tables.sd_base[k])) for k, column in rows.sd.items()]
    cache = [(column, int(tables.sd_memory[k])) for k, column in rows.sd.items()]
    slopes, pairs = _counts(users, tables.sd_slope), _counts(users, tables.sd_pairs)
    steps = _counts(users, tables.sd_steps)
    for k, (members, slope) in _levels(rows, (1, 0), tables.input_tokens, (_ONES, slopes)):
        tokens = int(tables.input_tokens[k])
        work += [(members, int(tables.sd_prefill[k])), (slope, tokens)]
        cache.append((members, tables.kv_sd * tokens))
    for k, (pair, later) in _levels(rows, (1, 1), tables.accept_rank, (pairs, steps)):
        work.append((pair, int(tables.sd_growth[k])))
        cache.append((later, int(tables.sd_memory_growth[k])))
    longest = int(tables.input_tokens[users].max())
    heaviest = int(tables.sd_base[users].sum()) + sum(slopes.values()) * longest
    heaviest += len(users) * int(tables.sd_prefill[users].max())
    heaviest += sum(pairs.values()) * int(tables.sd_growth[users].max())
    batch = _Batch(
        columns=rows.sd,
        work=work,
        heaviest=heaviest,
        lengths=tables.iterations,
        step=tables.sd_step,
        fixed=tables.sd_fixed,
        share=whole - share,
        whole=whole,
    )
    _time(rows, tables, batch)
    return cache


_ONES: dict[int, int] = defaultdict(lambda: 1)


def _counts(users: list[int], values: Integers) -> dict[int, int]:
    return {k: int(values[k]) for k in users}


def _levels(
    rows: Rows, term: tuple[int, int], values: Integers, summands: tuple[dict[int, int], ...]
) -> Iterator[tuple[int, list[int]]]:
    """Add one max-term: its one-hot level and, per level, a column for each sum it multiplies.

    `term` is its key in ``rows.levels``. Yields, per level, a user who has that value and the sums'
    columns.
    """
    columns = (rows.ad, rows.sd)[term[0]]
    ascending = sorted(columns, key=lambda k: int(values[k]))
    groups = [list(group) for _, group in groupby(ascending, key=lambda k: int(values[k]))]
    chosen = [rows.binary() for _ in groups]
    rows.exactly([(level, 1) for level in chosen], 1)
    rows.levels[term] = [(rank, [(level, 1)]) for rank, level in enumerate(chosen)]
    for i, group in enumerate(groups):
        for k in group:
            rows.at_most([(columns[k], 1), *((level, -1) for level in chosen[i:])], 0)
    sums: list[list[int]] = [[] for _ in groups]
    for summand in summands:
        most = 0
        for i, group in enumerate(groups):
            most += sum(summand[k] for k in group)
            sums[i].append(rows.continuous(most))
            rows.at_most([(sums[i][-1], 1), (chosen[i], -most)], 0)
        total = [(columns[k], summand[k]) for k in columns]
        rows.at_most([*total, *((level[-1], -1) for level in sums)], 0)
    return ((group[0], level) for group, level in zip(groups, sums, strict=True))


def _time(rows: Rows, tables: CostTables, batch: _Batch) -> None:
    """Add ``whole Σ work <= share (deadline - upload - step length - fixed)`` and its maxima."""
    users, share = list(batch.columns), batch.share
    upload = _maximum(rows, batch.columns, tables.upload)
    length = _maximum(rows, batch.columns, batch.lengths)
    latest = -(-batch.whole * batch.heaviest // share) + batch.fixed
    latest += int(tables.upload[users].max()) + batch.step * int(batch.lengths[users].max())
    cap = max(batch.fixed, min(latest, int(tables.deadline[users].max())))
    deadline = rows.continuous(cap)
    for k, column in batch.columns.items():
        rows.at_most([(deadline, 1), (column, cap - min(cap, int(tables.deadline[k])))], cap)
    terms = [(column, batch.whole * ticks) for column, ticks in batch.work]
    terms += [(upload, share), (length, share * batch.step), (deadline, -share)]
    rows.at_most(terms, -share * batch.fixed)


def _maximum(rows: Rows, columns: dict[int, int], values: Integers) -> int:
    """Add a column that is at least the value of everyone chosen, and return it."""
    column = rows.continuous(max(int(values[k]) for k in columns))
    for k, chosen in columns.items():
        rows.at_most([(chosen, int(values[k])), (column, -1)], 0)
    return column
