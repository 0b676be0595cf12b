"""The timeline's numbers are those of `instances.exact`, and its verdicts the judge's."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from helpers import make_instance, make_user

from instances import InputError, Instance, Schedule, exact, generate
from instances.exact import ad_latency, sd_latency, upload_time
from verify import check
from verify.timeline import MOST_STEPS, Batch, batches, memory_parts


@pytest.fixture(scope="module")
def instance() -> Instance:
    return generate("paper-4a", users=24, seed=3)


@pytest.fixture(scope="module")
def schedule(instance: Instance) -> Schedule:
    ids = [user.id for user in instance.users]
    return Schedule(z=0.3, lam=0.4, ad=tuple(ids[:8]), sd=tuple(ids[8:20]))


@pytest.fixture(scope="module")
def both(instance: Instance, schedule: Schedule) -> list[Batch]:
    return batches(instance, schedule)


def test_a_batch_cut_off_is_one_of_shorter_answers(instance: Instance) -> None:
    users = instance.users[:6]
    longest = max(user.output_tokens for user in users)
    for tokens in (1, 7, longest, longest + 9):
        short = [
            user.model_copy(update={"output_tokens": min(user.output_tokens, tokens)})
            for user in users
        ]
        assert ad_latency(instance, users, 0.5, tokens) == ad_latency(instance, short, 0.5)
    assert ad_latency(instance, users, 0.5, longest) == ad_latency(instance, users, 0.5)
    most = max(exact.sd_iterations(user, instance.draft_length) for user in users)
    ends = [sd_latency(instance, users, 0.5, count) for count in range(most + 1)]
    assert ends[-1] == sd_latency(instance, users, 0.5)
    assert all(before < after for before, after in pairwise(ends))


def test_a_prefill_and_one_iteration_by_hand() -> None:
    """Unit models, one user: Γ^p(2) = 8·2 + 4·4 + 4·2 = 40; Γ^v(2, 1) = 8 + 4·3 + 4 = 24."""
    user = make_user(input_tokens=2, output_tokens=1, uplink_bps_per_hz=4.0)
    tiny = make_instance(user, z_grid=(0.0, 1.0))
    upload, beta = Fraction(1, 2), Fraction(1, 8)
    prefill = upload + beta + Fraction(40, 1000) + Fraction(2 * 40, 1000)
    assert sd_latency(tiny, [user], 0.0, 0) == prefill
    drafted = Fraction(1, 16)  # β of the small model; it drafts L^D - 1 = 0 tokens of work
    verified = beta + Fraction(24, 1000)
    assert sd_latency(tiny, [user], 0.0, 1) == prefill + drafted + verified
    (batch,) = batches(tiny, Schedule(z=0.0, sd=("u0",)))
    (step,) = batch.steps
    assert step.drafted == pytest.approx(float(prefill + drafted))
    assert step.end == batch.end == pytest.approx(float(prefill + drafted + verified))


def test_steps_follow_each_other_from_the_prefill_to_the_end(both: list[Batch]) -> None:
    assert [batch.mode for batch in both] == ["AD", "SD"]
    for batch in both:
        assert 0 < len(batch.steps) <= MOST_STEPS
        assert batch.steps[0].start == batch.prefilled
        assert batch.steps[-1].end == batch.end
        assert all(before.end == after.start for before, after in pairwise(batch.steps))
        ordered = [(step.start, step.drafted, step.end) for step in batch.steps]
        assert ordered == [tuple(sorted(times)) for times in ordered]
        drafts = any(step.drafted > step.start for step in batch.steps)
        assert drafts == (batch.mode == "SD")


def test_rows_agree_with_the_equations_and_the_judge(
    instance: Instance, schedule: Schedule, both: list[Batch]
) -> None:
    users = {user.id: user for user in instance.users}
    late = {
        row.user for row in check(instance, schedule).inequalities if row.user and not row.holds
    }
    rows = [row for batch in both for row in batch.rows]
    assert late
    assert {row.user for row in rows if row.late} == late
    for batch in both:
        assert batch.end is not None
        members = [users[row.user] for row in batch.rows]
        latency = ad_latency if batch.mode == "AD" else sd_latency
        assert batch.end == float(latency(instance, members, schedule.z))
        assert max(row.decoded or 0 for row in batch.rows) == batch.end
        assert batch.start == max(float(upload_time(instance, user)) for user in members)
        assert [row.deadline for row in batch.rows] == sorted(row.deadline for row in batch.rows)
        for row in batch.rows:
            download = float(exact.download_time(instance, users[row.user]))
            assert row.download == pytest.approx(batch.end + download)


def test_a_mode_without_a_share_never_ends(instance: Instance) -> None:
    (batch,) = batches(instance, Schedule(z=0.0, ad=(instance.users[0].id,)))
    assert (batch.end, batch.prefilled, batch.steps) == (None, None, ())
    assert batch.rows[0].late
    assert batches(instance, Schedule(z=1.0)) == []


def test_times_beyond_every_float_are_one_line() -> None:
    slow = make_user(uplink_hz=1e-300, uplink_bps_per_hz=1e-300)
    with pytest.raises(InputError, match="too long to be drawn"):
        batches(make_instance(slow), Schedule(z=1.0, ad=("u0",)))


@pytest.mark.parametrize("split", [False, True])
def test_memory_parts_are_the_judges(instance: Instance, schedule: Schedule, split: bool) -> None:
    sizes = {part.name: part.size for part in memory_parts(instance, schedule, split)}
    assert sum(sizes.values()) == instance.hardware.memory_bytes
    report = check(instance, schedule, "P2" if split else "P1").worst
    caches = sizes["AD caches"], sizes["SD caches"]
    if split:
        assert caches == (report["ad_memory"].left, report["sd_memory"].left)
        assert sizes["free for AD"] == report["ad_memory"].slack
        assert sizes["free for SD"] == report["sd_memory"].slack
    else:
        assert sum(caches) == report["memory"].left
        assert sizes["free"] == report["memory"].slack


def test_the_small_model_is_loaded_only_for_sd(instance: Instance) -> None:
    names = [part.name for part in memory_parts(instance, Schedule(z=1.0), split=False)]
    assert names == ["LLM weights", "free"]
    names = [part.name for part in memory_parts(instance, Schedule(z=0.5), split=False)]
    assert names == ["LLM weights", "SLM weights", "free"]
