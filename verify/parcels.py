"""How many tasks travel together: enough to hide what a parcel costs, few enough to lose."""

from __future__ import annotations

from dataclasses import dataclass

#: Seconds of work in a parcel, and the most tasks in one ...
SECONDS = 0.2
TASKS = 64
#: ... and more on so many workers that they would finish more parcels a second than this.
PARCELS_PER_SECOND = 50


@dataclass(frozen=True)
class Bounds:
    """What a parcel aims at.

    Parameters
    ----------
    seconds : float
        Work in it.
    tasks : int
        The most tasks, however quick they are.
    """

    seconds: float
    tasks: int

    def size(self, before: int, seconds_each: float) -> int:
        """Return how many tasks the next parcel holds.

        Parameters
        ----------
        before : int
            Tasks in the last one; at most twice as many, for the first ones may mislead.
        seconds_each : float
            Mean time of the tasks so far.
        """
        return max(1, min(self.tasks, 2 * before, int(self.seconds / seconds_each)))


def bounds(width: int) -> Bounds:
    """Return what parcels aim at on that many workers."""
    seconds = max(SECONDS, width / PARCELS_PER_SECOND)
    return Bounds(seconds, round(TASKS * seconds / SECONDS))
