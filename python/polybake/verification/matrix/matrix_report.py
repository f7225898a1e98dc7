"""What a matrix found: a row for each combination, a cell for each model in it."""

from dataclasses import dataclass

from polybake.verification.harness.protocol import ClientVersions
from polybake.verification.matrix.combination import Combination
from polybake.verification.verdict import ALL_STAGES, Status, Verdict, executed


@dataclass(frozen=True)
class Cell:
    """One model in one combination."""

    model: str
    verdicts: tuple[Verdict, ...]

    @property
    def first(self) -> Verdict:
        """The verdict that tells most: a failure, else what was skipped, else the first."""
        failed = (one for one in self.verdicts if one.status.failed)
        skipped = (one for one in self.verdicts if one.status.skipped)
        return next(failed, next(skipped, self.verdicts[0]))

    @property
    def status(self) -> Status:
        """Pass where every verdict is."""
        return self.first.status

    @property
    def difference(self) -> float | None:
        """Largest absolute difference of one element from the golden vectors; None without any."""
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
    """One combination; versions are None where its client never started."""

    combination: Combination
    versions: ClientVersions | None
    cells: tuple[Cell, ...]
    seconds: float


@dataclass(frozen=True)
class MatrixReport:
    """What a matrix found."""

    models: tuple[str, ...]
    rows: tuple[Row, ...]
    machine: str
    #: What was required and is not there, one sentence each.
    missing: tuple[str, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All of them."""
        return tuple(cell for row in self.rows for cell in row.cells)

    def exit_code(self) -> int:
        """0 fine, 1 a failure or nothing executed, 3 something required is missing."""
        if any(cell.status.failed for cell in self.cells):
            return 1
        if self.missing:
            return 3
        return 0 if any(cell.executed for cell in self.cells) else 1
