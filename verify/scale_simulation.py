"""What a run on a large cluster would take: the runner's own rules, simulated parcel by parcel."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from .keys import DIGEST
from .parcels import Bounds
from .scale_costs import Costs

#: Parcels that are simulated one by one.
MOST_PARCELS = 10_000


@dataclass(frozen=True)
class Forecast:
    """A simulated run.

    Parameters
    ----------
    instances, workers, parcels : int
    seconds : float
        From the first parcel to the last row.
    work_seconds : float
        Of all instances, one after the other.
    runner_seconds, scheduler_seconds : float
        That the runner and the scheduler were busy.
    row_bytes : float
        Of ``results.jsonl`` for each instance.
    """

    instances: int
    workers: int
    parcels: int
    seconds: float
    work_seconds: float
    runner_seconds: float
    scheduler_seconds: float
    row_bytes: float

    @property
    def efficiency(self) -> float:
        """Share of the workers' time that is work."""
        return self.work_seconds / (self.workers * self.seconds)

    @property
    def results_bytes(self) -> float:
        """Size of ``results.jsonl``."""
        return self.instances * self.row_bytes

    @property
    def resume_bytes(self) -> int:
        """Memory that the keys of a resumed run take, at most."""
        return self.instances * DIGEST


def forecast(costs: Costs, instances: int, workers: int, bounds: Bounds, seed: int = 0) -> Forecast:
    """Return a run of any length: its first `MOST_PARCELS` simulated, then taken as many times.

    What is simulated begins and ends with idle workers, so the extrapolation errs on the long side.

    Parameters
    ----------
    costs, instances, workers, bounds, seed
        As `simulate` takes them.
    """
    mean = costs.mean_s
    few = min(instances, MOST_PARCELS * bounds.size(bounds.tasks, mean))
    run = simulate(costs, few, workers, bounds, seed)
    times = instances / few
    return replace(
        run,
        instances=instances,
        parcels=round(run.parcels * times),
        seconds=run.seconds * times,
        work_seconds=run.work_seconds * times,
        runner_seconds=run.runner_seconds * times,
        scheduler_seconds=run.scheduler_seconds * times,
    )


class _Server:
    """Serves one at a time, in the order they come."""

    def __init__(self) -> None:
        self.free, self.busy = 0.0, 0.0

    def serve(self, arrival: float, seconds: float) -> float:
        """Return when a request that came at `arrival` is done."""
        self.busy += seconds
        self.free = max(self.free, arrival) + seconds
        return self.free


def simulate(costs: Costs, instances: int, workers: int, bounds: Bounds, seed: int = 0) -> Forecast:
    """Return a run of the runner on a cluster, times of instances drawn from those measured.

    The runner keeps two parcels a worker in flight. Each passes the runner and the scheduler, which
    serve one at a time, waits for a worker, and passes both again; its rows cost the runner more.

    Parameters
    ----------
    costs : Costs
    instances, workers : int
    bounds : Bounds
        Of the parcels, as `parcels.bounds` gives them for that many workers.
    seed : int
        Of the draws.
    """
    return _Cluster(costs, instances, workers, bounds, seed).run()


class _Cluster:
    """The state of a simulated run: parcels waiting for a worker, parcels in work, what is left."""

    def __init__(
        self, costs: Costs, instances: int, workers: int, bounds: Bounds, seed: int
    ) -> None:
        self.costs, self.instances, self.workers, self.bounds = costs, instances, workers, bounds
        self.measured = np.asarray(costs.instance_s)
        self.random = np.random.default_rng(seed)
        self.runner, self.scheduler = _Server(), _Server()
        self.idle = [0.0] * workers
        self.waiting: deque[tuple[float, int]] = deque()  # (when it can begin, tasks)
        self.running: list[tuple[float, int, float]] = []  # (end, tasks, seconds)
        self.left, self.parcels, self.size = instances, 0, 1
        self.finished, self.work = 0, 0.0

    def run(self) -> Forecast:
        """Return how it went."""
        for _ in range(2 * self.workers):
            self.submit(0.0)
        while self.waiting or self.running:
            if self.waiting and self.idle:
                self.begin()
            else:
                self.finish()
        return Forecast(
            self.instances,
            self.workers,
            self.parcels,
            self.runner.free,
            self.work,
            self.runner.busy,
            self.scheduler.busy,
            self.costs.row_bytes,
        )

    def submit(self, now: float) -> None:
        """Send the next parcel on its way, if anything is left."""
        count = min(self.size, self.left)
        if count:
            self.left, self.parcels = self.left - count, self.parcels + 1
            sent = self.runner.serve(now, self.costs.parcel_s / 2)
            self.waiting.append((self.scheduler.serve(sent, self.costs.scheduler_s / 2), count))

    def begin(self) -> None:
        """Give the first parcel that waits to the worker that has been idle for longest."""
        ready, count = self.waiting.popleft()
        seconds = float(self.random.choice(self.measured, count).sum())
        end = max(heapq.heappop(self.idle), ready) + seconds
        heapq.heappush(self.running, (end, count, seconds))

    def finish(self) -> None:
        """Take the next parcel back, and send another."""
        end, count, seconds = heapq.heappop(self.running)
        heapq.heappush(self.idle, end)
        told = self.scheduler.serve(end, self.costs.scheduler_s / 2)
        now = self.runner.serve(told, self.costs.parcel_s / 2 + count * self.costs.row_s)
        self.finished, self.work = self.finished + count, self.work + seconds
        self.size = self.bounds.size(self.size, self.work / self.finished)
        self.submit(now)
