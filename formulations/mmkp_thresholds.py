"""The maxima and minima that, once fixed, turn P1 and P3 into MMKPs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from fractions import Fraction

from instances import Instance, Schedule, User
from instances.numbers import exact


@dataclass(frozen=True)
class AdThresholds:
    """What every AD user must keep to, and what all of them are charged for.

    Parameters
    ----------
    longest_input : int
        L1: at most so many input tokens.
    longest_output : int
        L2: at most so many output tokens.
    deadline : Fraction
        t1: a remaining budget T' of at least so many seconds.
    upload : Fraction
        u1: an upload of at most so many seconds.
    """

    longest_input: int
    longest_output: int
    deadline: Fraction
    upload: Fraction

    def admit(self, other: AdThresholds) -> bool:
        """Return whether `other`, a user's own values, keeps to the thresholds."""
        return (
            other.longest_input <= self.longest_input
            and other.longest_output <= self.longest_output
            and other.deadline >= self.deadline
            and other.upload <= self.upload
        )


@dataclass(frozen=True)
class SdThresholds:
    """What every SD user must keep to, and what all of them are charged for.

    Parameters
    ----------
    longest_input : int
        L3: at most so many input tokens.
    most_accepted : Fraction
        L4: at most so many accepted drafts an iteration.
    iterations : int
        N1: at most so many iterations.
    deadline : Fraction
        t2: a remaining budget T' of at least so many seconds.
    upload : Fraction
        u2: an upload of at most so many seconds.
    """

    longest_input: int
    most_accepted: Fraction
    iterations: int
    deadline: Fraction
    upload: Fraction

    def admit(self, other: SdThresholds) -> bool:
        """Return whether `other`, a user's own values, keeps to the thresholds."""
        return (
            other.longest_input <= self.longest_input
            and other.most_accepted <= self.most_accepted
            and other.iterations <= self.iterations
            and other.deadline >= self.deadline
            and other.upload <= self.upload
        )


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of both modes; None leaves a mode without users."""

    ad: AdThresholds | None
    sd: SdThresholds | None


def own_ad(instance: Instance, user: User) -> AdThresholds:
    """Return the tightest thresholds that admit one AD user: its own values."""
    return AdThresholds(
        user.input_tokens, user.output_tokens, _deadline(instance, user), _upload(instance, user)
    )


def own_sd(instance: Instance, user: User) -> SdThresholds:
    """Return the tightest thresholds that admit one SD user: its own values."""
    rate = exact(user.acceptance_rate)
    accepted = sum((rate**power for power in range(1, instance.draft_length + 1)), Fraction(0))
    return SdThresholds(
        user.input_tokens,
        accepted,
        int(-(-user.output_tokens // (accepted + 1))),
        _deadline(instance, user),
        _upload(instance, user),
    )


def _upload(instance: Instance, user: User) -> Fraction:
    rate = exact(user.uplink_hz) * exact(user.uplink_bps_per_hz)
    return exact(instance.bits_per_token) * user.input_tokens / rate


def _deadline(instance: Instance, user: User) -> Fraction:
    rate = exact(user.downlink_hz) * exact(user.downlink_bps_per_hz)
    return exact(user.deadline_s) - exact(instance.bits_per_token) * user.output_tokens / rate


def tight_thresholds(instance: Instance, schedule: Schedule) -> Thresholds:
    """Return the tightest thresholds that admit a schedule's users in their modes."""
    users = {user.id: user for user in instance.users}
    ad = [own_ad(instance, users[name]) for name in schedule.ad]
    sd = [own_sd(instance, users[name]) for name in schedule.sd]
    return Thresholds(_tight_ad(ad) if ad else None, _tight_sd(sd) if sd else None)


def _tight_ad(owns: list[AdThresholds]) -> AdThresholds:
    inputs, outputs, deadlines, uploads = zip(*map(astuple, owns), strict=True)
    return AdThresholds(max(inputs), max(outputs), min(deadlines), max(uploads))


def _tight_sd(owns: list[SdThresholds]) -> SdThresholds:
    inputs, accepted, counts, deadlines, uploads = zip(*map(astuple, owns), strict=True)
    return SdThresholds(max(inputs), max(accepted), max(counts), min(deadlines), max(uploads))


def all_ad_thresholds(instance: Instance) -> Iterator[AdThresholds]:
    """Yield every combination of users' values, (at most) K^4 of them."""
    owns = [astuple(own_ad(instance, user)) for user in instance.users]
    for values in itertools.product(*map(set, zip(*owns, strict=True))) if owns else ():
        yield AdThresholds(*values)


def all_sd_thresholds(instance: Instance) -> Iterator[SdThresholds]:
    """Yield every combination of users' values, (at most) K^5 of them."""
    owns = [astuple(own_sd(instance, user)) for user in instance.users]
    for values in itertools.product(*map(set, zip(*owns, strict=True))) if owns else ():
        yield SdThresholds(*values)
