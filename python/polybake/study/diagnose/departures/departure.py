"""A known difference of another program from the model file."""

from __future__ import annotations

from dataclasses import dataclass, replace

from polybake.study.diagnose.way import Way


@dataclass(frozen=True)
class Departure:
    """A known difference of another program from the model file.

    Attributes:
        name: What the other program does.
        way: The model file's way with this one change.
        parts: How many departures it consists of.
        slow: Whether making its graph takes seconds.
        leaves: The largest difference, relative to a vector's length, that its graph makes to
            MiniLM. Departures whose difference is about as large as the gap are tried first.
    """

    name: str
    way: Way
    parts: int = 1
    slow: bool = False
    leaves: float = 0.0

    def joined(self, other: Departure) -> Departure | None:
        """Return both departures as one; None if they change the same stage differently."""
        for stage in self.way.stages & other.way.stages:
            if getattr(self.way, stage) != getattr(other.way, stage):
                return None
        changes = {stage: getattr(other.way, stage) for stage in other.way.stages}
        name, parts = f"{self.name}, and {other.name}", self.parts + other.parts
        return Departure(name, replace(self.way, **changes), parts, self.slow or other.slow)
