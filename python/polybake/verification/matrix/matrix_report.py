"""The result of a matrix: a row for each combination, with a cell for each model."""

from dataclasses import dataclass

from polybake.verification.harness.protocol import ClientVersions
from polybake.verification.matrix.combination import Combination
from polybake.verification.verdict import ALL_STAGES, Status, Verdict, executed


@dataclass(frozen=True)
class Cell:
    """A model in a combination."""

    model: str
    verdicts: tuple[Verdict, ...]

    @property
    def telling(self) -> Verdict:
        """The first failure, else the first executed verdict, else the first skip.

        A client may skip a stage: one without the part ``bulk`` has no streams.
        """
        failed = (one for one in self.verdicts if one.status.failed)
        passed = (one for one in self.verdicts if executed(one))
        skipped = (one for one in self.verdicts if one.status.skipped)
        return next(failed, next(passed, next(skipped, self.verdicts[0])))

    @property
    def status(self) -> Status:
        """The status of the most telling verdict."""
        return self.telling.status

    @property
    def difference(self) -> float | None:
        """The largest absolute difference of an element from the golden vectors, if known."""
        found = [
            one.difference
            for one in self.verdicts
            if one.stage in ALL_STAGES and one.difference is not None
        ]
        return max(found, default=None)

    @property
    def executed(self) -> int:
        """Verdicts of cases for which the client was really asked."""
        return sum(map(executed, self.verdicts))


@dataclass(frozen=True)
class Row:
    """The result of a combination; versions are None if its client never started."""

    combination: Combination
    versions: ClientVersions | None
    cells: tuple[Cell, ...]
    seconds: float


@dataclass(frozen=True)
class MatrixReport:
    """The result of a matrix."""

    models: tuple[str, ...]
    rows: tuple[Row, ...]
    machine: str
    #: What was required and is missing, one sentence each.
    missing: tuple[str, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells of all rows."""
        return tuple(cell for row in self.rows for cell in row.cells)

    def exit_code(self) -> int:
        """0 fine, 1 a failure or nothing executed, 3 something required is missing."""
        if any(cell.status.failed for cell in self.cells):
            return 1
        if self.missing:
            return 3
        return 0 if any(cell.executed for cell in self.cells) else 1
