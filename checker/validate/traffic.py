"""What was on the way when: by when an announcement was known, and a publication had come wherever it goes."""

from __future__ import annotations

from attrs import frozen

from routeproof.checker.validate.clients import Published
from routeproof.checker.validate.quiet import Busy


@frozen
class Traffic:
    """When was what on the way? `settles` is the header's promise; `control` and `publications`: what links showed."""

    control: Busy | None = None
    publications: Busy | None = None
    settles: int | None = None
    latest: int = 0
    on_the_way: frozenset[int] = frozenset()
    """Publications that were never received: nobody knows where they would have come."""

    @property
    def is_known(self) -> bool:
        return self.control is not None or self.settles is not None

    def ready_by(self, time: int) -> int:
        """After this, what was announced at `time` is known everywhere."""
        return self._least(time, self.control)

    def drained_by(self, time: int) -> int:
        """After this, what was published at `time` has come wherever it goes."""
        return self._least(time, self.publications)

    def _least(self, time: int, busy: Busy | None) -> int:
        seen = None if busy is None else busy.over(time)
        said = None if self.settles is None else time + self.settles
        return min(each for each in (seen, said) if each is not None)

    def is_on_the_way(self, publication: Published) -> bool:
        """When the trace ended."""
        if self.control is not None:
            return publication.digest in self.on_the_way
        return publication.at.time + (self.settles or 0) >= self.latest
