"""What verify found: all verdicts, and what they amount to."""

from dataclasses import dataclass

from polybake.verification.language_differences import LanguageDifference
from polybake.verification.protocol import ClientVersions, Provider
from polybake.verification.verdict import ALL_STAGES, Verdict


@dataclass(frozen=True)
class ClientRun:
    """One client on one device; versions and provider are None when it never started."""

    language: str
    device: str
    versions: ClientVersions | None
    provider: Provider | None
    seconds: float


@dataclass(frozen=True)
class Report:
    """What verify found."""

    model: str
    fingerprint: str
    cases: int
    runs: tuple[ClientRun, ...]
    verdicts: tuple[Verdict, ...]
    language_differences: tuple[LanguageDifference, ...]
    notes: tuple[str, ...]
    #: What was required and is not there, one sentence each.
    missing: tuple[str, ...]

    @property
    def executed(self) -> int:
        """Verdicts of cases for which a client was really asked."""
        return sum(v.stage in ALL_STAGES and not v.status.skipped for v in self.verdicts)

    @property
    def asked(self) -> int:
        """Verdicts of cases."""
        return sum(v.stage in ALL_STAGES for v in self.verdicts)

    @property
    def failures(self) -> tuple[Verdict, ...]:
        """The verdicts that end verify with exit code 1."""
        return tuple(verdict for verdict in self.verdicts if verdict.status.failed)

    def verdicts_of(self, run: ClientRun) -> tuple[Verdict, ...]:
        """The verdicts of one client on one device."""
        who = (run.language, run.device)
        return tuple(v for v in self.verdicts if (v.language, v.device) == who)

    def exit_code(self) -> int:
        """0 fine, 1 a failure or nothing executed, 3 something required is missing."""
        if self.failures:
            return 1
        if self.missing:
            return 3
        return 0 if self.executed else 1
