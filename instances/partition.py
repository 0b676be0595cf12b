"""P1 is NP-hard: a reduction from EQUAL-CARDINALITY PARTITION, as a program (erratum E3)."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .model import LARGEST_COUNT, Hardware, Instance, Transformer, User
from .numbers import exact

#: Seconds per FLOP of both models: one tick of the cost tables, so that they are exact.
_ALPHA = Fraction(1, 10**12)
#: Bit/s of every link: an upload of one token takes one tick.
_RATE = 10**12
_UPLOAD = Fraction(1, _RATE)
#: Seconds up to which times in ticks fit the cost tables.
_HORIZON = 2 * 10**6
#: Memory that is never filled.
_MEMORY = 2**50
#: FLOP of one token in the smallest decoder (all sizes 1), without its context.
_DRAFT_TOKEN = 12


def equal_half(integers: Sequence[int]) -> tuple[int, ...] | None:
    """Return positions of half of the integers with half of their sum; None if there are none.

    By trying every subset: the reduction's referee, which knows nothing of it.
    """
    half = len(integers) // 2
    for positions in itertools.combinations(range(len(integers)), half):
        if 2 * sum(integers[k] for k in positions) == sum(integers):
            return positions
    return None


@dataclass(frozen=True)
class _Cost:
    """A user's FLOP divided by its mode's share of ½, in its length: linear x + square x²."""

    linear: int
    square: int

    def at(self, length: int) -> int:
        return self.linear * length + self.square * length * length

    def slope(self, length: int) -> int:
        return self.linear + 2 * self.square * length


def _ad_cost(token: int) -> _Cost:
    """2 Γ^p(1) + 2 Σ_{l=1}^{L-1} Γ^a(1, l) with `token` FLOP a token and 4 per token of context."""
    return _Cost(2 * token + 4, 4)


def _sd_cost(token: int) -> _Cost:
    """Twice both prefills and the N iterations, at L3 = 1 and L4 = 1, in the same terms."""
    return _Cost(4 * token + 2 * _DRAFT_TOKEN + 8, 24)


def equal_cardinality_partition(integers: Sequence[int]) -> Instance:
    """Return an instance of P1 in which all users can be served iff the partition exists.

    Parameters
    ----------
    integers : sequence of int
        2n integers s_1, ..., s_2n (n >= 1; any sign). The question: do n of them sum to half of
        all, S/2?

    Returns
    -------
    Instance
        With 2n + 2 users: ``item-1``, ..., ``item-2n``, ``ad-only`` and ``sd-only``. If everyone
        can be served, the ``item-k`` in AD are such a half. Every number in it is exact.

    Raises
    ------
    ValueError
        If the integers are no 2n >= 2 integers, or so spread out that deadlines would not fit
        exact tables (sums up to 1,000 always fit up to 2n = 12, close-by integers far beyond).

    Notes
    -----
    EQUAL-CARDINALITY PARTITION is NP-complete (Garey and Johnson 1979, SP12 with |A'| = |A|/2).

    **Construction.** Subtracting a constant m from every integer changes neither side of "n of them
    sum to half of all", so let s_k stand for the integer less m, the rounded mean; S for their sum;
    h = ⌊S/2⌋. Z = {0, ½, 1}, L^D = 1, β^L whole seconds, β^S = 0, memory that never binds,
    ``L^I = 1`` and the same links for all, so that uploads are equal (u). The models are of size 1
    in every respect but the large one's feed-forward width, which sets t, its FLOP per token.

    - *item-k*: ``L^O = B + s_k``, A = 0, so that N = L^O; a deadline that never binds;
    - *ad-only*: ``L^O = B + max s``, A = 0, remaining budget D_A;
    - *sd-only*: A = 1 (so a = 1), ``N = B + max s + 3``, ``L^O = 2N``, remaining budget D_S.

    With L1 = L3 = 1, L4 = 1 and z = ½ a user's FLOP, divided by the share, are

    - in AD ``f(L) = 2 [Γ^p(1) + Σ_{l=1}^{L-1} Γ^a(1, l)] = (2t + 4) L + 4 L²``, as Γ^p(1) = t + 4
      and Γ^a(1, l) = t + 4 (1 + l);
    - in SD ``g(N) = (4t + 32) N + 24 N²``: with P_1 = 1 and P_n = 2n - 2, iteration n verifies two
      tokens (2t + 16n - 4) and drafts one (12 + 8n - 4), the first one token less of each (t + 8
      and 0), which together with both prefills (t + 4 and 16) is what n = 1 would cost in full.

    Both are ``cost(x) = c x² + b x``, so ``cost(B + s) = cost(B) + cost'(B) s + c s²``. Let Q be
    the sum of the n largest s². The budgets for items, FLOP in units of share ½, are any number
    within

    ``low = n cost(B) + cost'(B) h + c Q  <=  budget  <  n cost(B) + cost'(B) (h + 1) = high``

    for f in AD and g in SD, which exists if cost'(B) > c Q: t is chosen that large (twice that).
    B is so large that ``B >= 2 (h + 1 - sum of the n + 1 smallest s)`` and lengths are positive.
    Finally ``D_A = u + (B + max s) β^L + α (f(B + max s) + budget)`` and
    ``D_S = u + (N + 1) β^L + α (g(N) + budget)`` with N of sd-only, where β^L exceeds u plus α
    times either bracket.

    **A mode's batch.** Let AD hold ad-only and j items at z = ½. Its longest output is ad-only's,
    so ad-only is on time iff the items' f sum to at most the budget.

    (1) *n items with Σ s <= h fit*: their cost is n cost(B) + cost'(B) Σ s + c Σ s² <= low.
    (2) *n items with Σ s >= h + 1 do not*: their cost is at least high, as Σ s² >= 0.
    (3) *n + 1 items or more do not*: cost grows with the length, so they cost at least what the
    n + 1 smallest do, (n + 1) cost(B) + cost'(B) σ with σ the sum of their s; that is at least
    high if cost(B) >= cost'(B) (h + 1 - σ), which holds as cost(B) = cost'(B) B - c B² >=
    cost'(B) B / 2 (cost'(B) >= 2cB), and B >= 2 (h + 1 - σ).

    SD with sd-only and its N = N1, a = L4 is the same with g; the items' a = 0 changes nothing.

    **If the partition exists**, put its half into AD with ad-only, the other half into SD with
    sd-only. Both halves sum to S/2 = h, so (1) applies twice, and all 2n + 2 are served.

    **If all are served**, both special users are. In SD ad-only would need (N1 + 1) β^L with N1 >=
    L^O, more than D_A < (L^O + 1) β^L; in AD sd-only would need 2N β^L > D_S < (N + 2) β^L, as
    N >= 3. So ad-only is in AD, sd-only in SD, neither is empty and z = ½. By (3) each mode has at
    most n of the 2n items, so exactly n; by (2) each one's s sum to at most h <= S/2. Together they
    sum to S, so both sums are S/2: a partition.

    **In polynomial time.** Let r = max s - min s >= |s_k|. Then |h| <= n r, Q <= n r² and B =
    O(n r); lengths and iterations are O(B), the width is 3Q + 1, the number of models, users and
    shares does not depend on the integers' size. α^L, links and uploads are constants whose
    denominators divide 10^12, so ``low`` is a multiple of 10^-12 and D_A and D_S can be too; they
    and β^L are polynomials in n and r. So every number has O(log n + log r) bits, polynomially many
    in the integers' own, and they take O(n) sums and products after sorting s and s².
    This holds for integers of any size. This program only writes instances whose deadlines are
    exact floats and whose times fit 64-bit tables, and raises ValueError for integers further
    apart: a limit of the files, which is no part of the reduction.
    """
    values = _checked(integers)
    mean = (2 * sum(values) + len(values)) // (2 * len(values))
    shifts = sorted(value - mean for value in values)
    half, squares, base, width = _sizes(shifts)
    if width > LARGEST_COUNT:
        raise ValueError("the integers are too far apart for the models' sizes")
    n, token = len(values) // 2, 8 + 4 * width
    longest, count = base + shifts[-1], base + shifts[-1] + 3
    ad = _budget(_ad_cost(token), longest, base, n, half, squares)
    sd = _budget(_sd_cost(token), count, base, n, half, squares)
    beta = math.floor(_UPLOAD + max(ad[1], sd[1])) + 1
    never = 2 * count * beta
    if never > _HORIZON:
        raise ValueError("the integers are too far apart for deadlines in exact ticks")
    users = [
        _user(f"item-{k}", base + value - mean, float(never)) for k, value in enumerate(values, 1)
    ]
    users.append(_user("ad-only", longest, _deadline(longest * beta, ad, longest)))
    due = _deadline((count + 1) * beta, sd, 2 * count)
    users.append(_user("sd-only", 2 * count, due, acceptance_rate=1.0))
    return _instance(tuple(users), width, float(beta), values)


def _checked(integers: Sequence[int]) -> list[int]:
    values = [operator.index(value) for value in integers]
    if len(values) < 2 or len(values) % 2:
        raise ValueError("takes an even number of integers, at least two")
    return values


def _sizes(shifts: list[int]) -> tuple[int, int, int, int]:
    """Return h, Q, B and the large model's feed-forward width for ascending shifts s."""
    n = len(shifts) // 2
    half = sum(shifts) // 2
    squares = sum(sorted(shift * shift for shift in shifts)[-n:])
    base = max(2 * (half + 1 - sum(shifts[: n + 1])), 1 - shifts[0])
    return half, squares, base, 3 * squares + 1  # t = 8 + 4 width, so that cost'(B) >= 2 c Q


def _budget(
    cost: _Cost, special: int, base: int, n: int, half: int, squares: int
) -> tuple[Fraction, Fraction]:
    """Return the seconds [low, high) that the special user and its items may take to compute."""
    level = cost.at(special) + n * cost.at(base)
    low = level + cost.slope(base) * half + cost.square * squares
    return _ALPHA * low, _ALPHA * (level + cost.slope(base) * (half + 1))


def _deadline(steps: int, computing: tuple[Fraction, Fraction], output: int) -> float:
    """Return a deadline at which a batch with so many seconds of passes may compute that long."""
    fixed = steps + _UPLOAD + Fraction(output, _RATE)
    return _decimal(fixed + computing[0], fixed + computing[1])


def _decimal(low: Fraction, high: Fraction) -> float:
    """Return the number of fewest decimals in [low, high) that a float shows exactly.

    Raises
    ------
    ValueError
        If the interval lies between two floats.
    """
    for decimals in range(13):
        value = float(Fraction(math.ceil(low * 10**decimals), 10**decimals))
        if low <= exact(value) < high:
            return value
    raise ValueError("the integers are too far apart for deadlines in exact floats")


def _user(name: str, output: int, due: float, acceptance_rate: float = 0.0) -> User:
    return User(
        id=name,
        input_tokens=1,
        output_tokens=output,
        deadline_s=due,
        acceptance_rate=acceptance_rate,
        uplink_hz=1.0,
        uplink_bps_per_hz=float(_RATE),
        downlink_hz=1.0,
        downlink_bps_per_hz=float(_RATE),
    )


def _instance(users: tuple[User, ...], width: int, beta: float, values: list[int]) -> Instance:
    small = Transformer(layers=1, hidden_size=1, num_heads=1, head_dim=1, intermediate_size=1)
    return Instance(
        name=f"equal-cardinality partition of {len(values)} integers",
        llm=small.model_copy(update={"intermediate_size": width}),
        slm=small,
        hardware=Hardware(
            memory_bytes=_MEMORY,
            bytes_per_value=1,
            alpha_llm=float(_ALPHA),
            beta_llm=beta,
            alpha_slm=float(_ALPHA),
            beta_slm=0.0,
        ),
        draft_length=1,
        bits_per_token=1.0,
        z_grid=(0.0, 0.5, 1.0),
        lambda_grid=(0.0, 0.5, 1.0),
        users=users,
        provenance={"integers": values},
    )
