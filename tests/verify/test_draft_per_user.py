"""One draft length per user instead of one per batch: a model beyond the paper, by brute force.

Users of a batch wait for its longest draft: N1 (β^L + max l_k β^S) once, and by user the accepted
drafts, iterations, drafted and verified tokens of its own length. In floats, with a margin.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

import formulations
from instances import Instance, exact
from instances.generators import generate
from instances.numbers import exact as rational
from instances.workload import decode_flops, kv_bytes_per_token, prefill_flops, verify_flops

LENGTHS = (1, 2, 3, 5)
#: Relative to 1; rounding must not cost anybody their place.
MARGIN = 1e-9

Batch = tuple[float, float]  # the share that a batch needs, the bytes of its caches


class PerUser:
    """The most users that can be served with a draft length for each."""

    def __init__(self, instance: Instance) -> None:
        self.instance, self.users = instance, instance.users
        hardware = instance.hardware
        self.alphas = float(rational(hardware.alpha_llm)), float(rational(hardware.alpha_slm))
        models, width = (instance.llm, instance.slm), hardware.bytes_per_value
        self.caches = [kv_bytes_per_token(model, width) for model in models]
        self.cost = cache(self._cost)

    def _cost(self, k: int, length: int, longest: int, keenest: float) -> Batch:
        """Seconds on the whole GPU and bytes of one SD user under L3 and L4."""
        large, small = prefill_flops(self.instance.llm, longest), 0.0
        small += prefill_flops(self.instance.slm, longest)
        for n in range(1, exact.sd_iterations(self.users[k], length) + 1):
            prefix = exact.sd_prefix(n, longest, keenest)
            large += verify_flops(self.instance.llm, prefix, length + (n > 1))
            steps = range(1, length + (n > 1))
            small += sum(decode_flops(self.instance.slm, prefix, step) for step in steps)
        large_cache, small_cache = self.caches
        size = small_cache * (prefix + length) + large_cache * (prefix + length + 1)
        return self.alphas[0] * large + self.alphas[1] * small, float(size)

    def sd(self, lengths: dict[int, int]) -> Batch | None:
        """Return the share and bytes of an SD batch; None if it is late at any share."""
        hardware, members = self.instance.hardware, [self.users[k] for k in lengths]
        longest = max(user.input_tokens for user in members)
        each = lengths.items()
        keenest = float(max(exact.accepted_drafts(self.users[k], n) for k, n in each))
        rounds = max(exact.sd_iterations(self.users[k], n) for k, n in each)
        late = float(max(exact.upload_time(self.instance, user) for user in members))
        late += (rounds + 1) * hardware.beta_llm + rounds * max(
            lengths.values()
        ) * hardware.beta_slm
        left = float(min(exact.remaining_budget(self.instance, u) for u in members)) - late
        costs = [self.cost(k, n, longest, keenest) for k, n in each]
        work = sum(seconds for seconds, _ in costs)
        if left <= 0 or work > left:
            return None
        return work / left, sum(size for _, size in costs)

    def most_served(self) -> int:
        """Try every choice of lengths against every AD batch at every z."""
        users, batches = range(len(self.users)), dict[int, list[Batch]]()
        for choice in product((0, *LENGTHS), repeat=len(self.users)):
            lengths = {k: choice[k] for k in users if choice[k]}
            batch = self.sd(lengths) if lengths else (0.0, 0.0)
            if batch is not None:
                batches.setdefault(sum(1 << k for k in lengths), []).append(batch)
        return max(self._at(z, batches) for z in self.instance.z_grid)

    def _at(self, z: float, batches: dict[int, list[Batch]]) -> int:
        room, best = float(exact.room(self.instance, z)), 0
        smallest = {
            mask: min((size for share, size in found if share <= 1 - z + MARGIN), default=room + 1)
            for mask, found in batches.items()
            if z < 1 or not mask
        }
        for mask in range(1 << len(self.users)):
            size = self._ad_bytes(mask, z)
            for other, more in smallest.items():
                if size + more <= room + MARGIN and not mask & other:
                    best = max(best, (mask | other).bit_count())
        return best

    def _ad_bytes(self, mask: int, z: float) -> float:
        """Return the bytes of an AD batch; infinite if it is late."""
        members = [user for k, user in enumerate(self.users) if mask >> k & 1]
        if not members:
            return 0.0
        budget = min(exact.remaining_budget(self.instance, user) for user in members)
        if z == 0 or exact.ad_latency(self.instance, members, z) > budget:
            return float("inf")
        return float(exact.ad_memory(self.instance, members))


@pytest.mark.slow
@pytest.mark.parametrize("family", ["paper-4a", "paper-5a", "deadline-tight"])
@pytest.mark.parametrize("seed", range(1, 9))
def test_a_length_per_user_serves_nobody_more(family: str, seed: int) -> None:
    instance = generate(family, 6, seed)
    chosen = instance.model_copy(update={"draft_lengths": LENGTHS})
    assert PerUser(instance).most_served() == formulations.solve(chosen).objective


def test_with_one_length_the_model_is_the_papers() -> None:
    served = []
    for seed in (2, 4):
        instance = generate("paper-5a", 4, seed)
        model = PerUser(instance)
        fixed = [model.sd(dict.fromkeys(range(k, 4), 1)) for k in range(4)]
        for k, batch in enumerate(fixed):
            users = instance.users[k:]
            late = exact.sd_latency(instance, users, 0.0) > min(
                exact.remaining_budget(instance, user) for user in users
            )
            assert (batch is None) == late
            assert batch is None or batch[1] == pytest.approx(
                float(exact.sd_memory(instance, users))
            )
            served.append(batch is not None)
    assert set(served) == {True, False}
