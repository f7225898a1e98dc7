"""A known difference."""

from __future__ import annotations

from dataclasses import dataclass, replace

from polybake.study.diagnose.way import Way


@dataclass(frozen=True)
class Departure:
    """A known difference.

    Attributes:
        name: What the other program does.
        way: The model file's way with this one change.
        parts: How many departures it is made of.
        slow: Whether it takes seconds to make its graph.
        leaves: What another graph leaves of MiniLM: its largest difference, relative to a vector's
            length. What leaves about as much as is to be explained is tried before what does not.
    """

    name: str
    way: Way
    parts: int = 1
    slow: bool = False
    leaves: float = 0.0

    def joined(self, other: Departure) -> Departure | None:
        """Both; None where they do different things at one stage."""
        for stage in self.way.stages & other.way.stages:
            if getattr(self.way, stage) != getattr(other.way, stage):
                return None
        changes = {stage: getattr(other.way, stage) for stage in other.way.stages}
        name, parts = f"{self.name}, and {other.name}", self.parts + other.parts
        return Departure(name, replace(self.way, **changes), parts, self.slow or other.slow)
