"""`mobile`: the rush hour of 000 V-B, with publications and moves as frequent at any scale as in the paper.

The clients, their filters and the star are those of `zipf`. A smaller `zipf` is a quieter one, which never comes near
what its hub can carry; a smaller `mobile` is a shorter one with fewer clients, and its roamers keep roaming.
"""

from __future__ import annotations

from random import Random
from typing import Self

from attrs import evolve, frozen

from routeproof.impl.workloads.workload import assumed, at_least, given
from routeproof.impl.workloads.zipf import Zipf


@frozen
class Mobile(Zipf):
    roamers: float = given(0.2, "000 V-B", "share that moves again and again; the rest stays")
    roam_mean_ms: int = assumed(1_800_000, "of the normal distribution of the times between two moves of a roamer")
    roam_deviation_ms: int = assumed(600_000, "of the same; what it gives below 1 is taken as 1")

    @property
    def about(self) -> str:
        return (
            f"The rush hour of zipf at full load: {self.subscriptions:,} subscriptions, {self.moving:.0%} of them move."
        )

    def scaled(self, scale: float) -> Self:
        """Fewer clients, and every time shorter by the same factor: as many publications and moves in a second."""
        return evolve(
            self,
            publishers=at_least(1, self.publishers * scale),
            subscriptions=at_least(1, self.subscriptions * scale),
            window_ms=at_least(1_000, self.window_ms * scale),
            publish_least_ms=at_least(1, self.publish_least_ms * scale),
            publish_most_ms=at_least(1, self.publish_most_ms * scale),
            roam_mean_ms=at_least(1, self.roam_mean_ms * scale),
            roam_deviation_ms=at_least(1, self.roam_deviation_ms * scale),
        )

    def departures(self, commutes: bool, random: Random) -> list[float]:
        if commutes:
            return super().departures(commutes, random)
        # Roamers have been on their way before the window begins, each at another point between two moves.
        time = -random.uniform(0, self.roam_mean_ms)
        times = []
        while time <= self.window_ms:
            if time >= 0:
                times.append(time)
            time += max(1.0, random.gauss(self.roam_mean_ms, self.roam_deviation_ms))
        return times
