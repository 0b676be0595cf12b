"""Radio links: distance to path loss to spectral efficiency."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .randomness import Stream, rounded


@dataclass(frozen=True)
class Link:
    """One user's bandwidths in Hz and spectral efficiencies in bit/s/Hz."""

    uplink_hz: float
    uplink_bps_per_hz: float
    downlink_hz: float
    downlink_bps_per_hz: float


@dataclass(frozen=True)
class Radio:
    """The cell. The paper states radius, bandwidths and transmit densities; the rest is ours.

    Parameters
    ----------
    radius_m, nearest_m : float
        Users lie uniformly in a disk of this radius (paper: 250 m); whoever is nearer than
        `nearest_m` counts as that far, for the path-loss law has no meaning at the antenna.
    uplink_hz, downlink_hz : float
        Bandwidth per user (paper: 1 MHz and 2 MHz).
    uplink_dbm_per_hz, downlink_dbm_per_hz : float
        Transmit power spectral density (paper: -50 and -29 dBm/Hz).
    noise_dbm_per_hz : float
        Noise power spectral density; -174 dBm/Hz is thermal noise at 290 K.
    loss_at_1km_db, loss_per_decade_db : float
        Path loss in dB is the first plus the second times log10 of the distance in km. The default
        128.1 + 37.6 log10 d is 3GPP TR 36.942's urban macro cell at 2 GHz.
    rayleigh : bool
        Multiply the received power by a unit-mean exponential draw, each direction its own.
    """

    radius_m: float = 250.0
    nearest_m: float = 10.0
    uplink_hz: float = 1e6
    downlink_hz: float = 2e6
    uplink_dbm_per_hz: float = -50.0
    downlink_dbm_per_hz: float = -29.0
    noise_dbm_per_hz: float = -174.0
    loss_at_1km_db: float = 128.1
    loss_per_decade_db: float = 37.6
    rayleigh: bool = False

    def path_loss_db(self, distance_m: float) -> float:
        """Path loss in dB at a distance in metres."""
        return self.loss_at_1km_db + self.loss_per_decade_db * math.log10(distance_m / 1000)

    def spectral_efficiency(
        self, dbm_per_hz: float, distance_m: float, fading: float = 1.0
    ) -> float:
        """Shannon's log2(1 + SNR) in bit/s/Hz.

        Parameters
        ----------
        dbm_per_hz : float
            Transmit power spectral density.
        distance_m : float
            Distance in metres.
        fading : float
            Factor on the received power.
        """
        decibel = dbm_per_hz - self.path_loss_db(distance_m) - self.noise_dbm_per_hz
        return math.log2(1 + fading * 10 ** (decibel / 10))

    def distance(self, stream: Stream) -> float:
        """Draw a distance in metres, uniform over the disk's area, at least `nearest_m`."""
        return max(self.nearest_m, self.radius_m * math.sqrt(stream.fraction()))

    def fading(self, stream: Stream) -> float:
        """Draw the factor on the received power: 1 without fading, else unit-mean exponential."""
        return -math.log(1 - stream.fraction()) if self.rayleigh else 1.0

    def draw(self, stream: Stream) -> Link:
        """Draw one user's link; spectral efficiencies are rounded to six significant digits."""
        distance = self.distance(stream)
        up = self.spectral_efficiency(self.uplink_dbm_per_hz, distance, self.fading(stream))
        down = self.spectral_efficiency(self.downlink_dbm_per_hz, distance, self.fading(stream))
        # A deep fade may leave nothing after rounding; a user's efficiency must be positive.
        return Link(
            self.uplink_hz, max(rounded(up), 1e-9), self.downlink_hz, max(rounded(down), 1e-9)
        )
