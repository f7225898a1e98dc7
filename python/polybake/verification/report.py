"""The result of verify: all verdicts, and what follows from them."""

from dataclasses import dataclass

from polybake.verification.harness.protocol import ClientVersions, Provider
from polybake.verification.judging.evidence import Difference
from polybake.verification.judging.worst_case import WorstCase
from polybake.verification.language_differences import LanguageDifference
from polybake.verification.verdict import ALL_STAGES, Verdict, executed


@dataclass(frozen=True)
class ClientRun:
    """A client on a device; versions and provider are None if it never started."""

    language: str
    device: str
    versions: ClientVersions | None
    provider: Provider | None
    seconds: float
    #: The largest difference from the golden vectors, by stage.
    differences: tuple[Difference, ...] = ()
    #: The rows that lie farthest from the golden ones, the worst first.
    worst: tuple[WorstCase, ...] = ()


@dataclass(frozen=True)
class Report:
    """The result of verify."""

    model: str
    fingerprint: str
    cases: int
    runs: tuple[ClientRun, ...]
    verdicts: tuple[Verdict, ...]
    language_differences: tuple[LanguageDifference, ...]
    notes: tuple[str, ...]
    #: What was required and is missing, one sentence each.
    missing: tuple[str, ...]

    @property
    def executed(self) -> int:
        """The number of verdicts by golden answers for which a client was really asked."""
        return sum(executed(verdict) for verdict in self.verdicts)

    @property
    def asked(self) -> int:
        """Verdicts by golden answers."""
        return sum(v.stage in ALL_STAGES for v in self.verdicts)

    @property
    def failures(self) -> tuple[Verdict, ...]:
        """The verdicts that end verify with exit code 1."""
        return tuple(verdict for verdict in self.verdicts if verdict.status.failed)

    def verdicts_of(self, run: ClientRun) -> tuple[Verdict, ...]:
        """Return the verdicts on a client on a device."""
        who = (run.language, run.device)
        return tuple(v for v in self.verdicts if (v.language, v.device) == who)

    def exit_code(self) -> int:
        """0 fine, 1 a failure or nothing executed, 3 something required is missing."""
        if self.failures:
            return 1
        if self.missing:
            return 3
        return 0 if self.executed else 1
