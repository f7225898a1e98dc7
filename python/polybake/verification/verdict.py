"""A verdict: how one client did in one stage of one case on one device."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """The statuses of docs/protocol.md."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    SKIP_CAPABILITY = "skip-capability"
    MISSING_TOOLCHAIN = "missing-toolchain"
    MISSING_DEVICE = "missing-device"
    PROVIDER_FALLBACK = "provider-fallback"
    ERROR = "error"
    CRASH = "crash"
    TIMEOUT = "timeout"

    @property
    def skipped(self) -> bool:
        """Nothing was judged, and nothing is wrong unless it was required."""
        return self in (self.SKIP_CAPABILITY, self.MISSING_TOOLCHAIN, self.MISSING_DEVICE)

    @property
    def failed(self) -> bool:
        """Verify ends with exit code 1."""
        return self is not self.PASS and not self.skipped


class Stage(StrEnum):
    """What the client was asked to do."""

    TOKENIZE = "tokenize"
    EMBED_IDS = "embed_ids"
    EMBED = "embed"
    CALL = "call"
    BATCHES = "batches"
    STREAM = "stream"
    SELF_CHECK = "self_check"
    STOP = "stop"


#: The stages that every case goes through.
CASE_STAGES = (Stage.TOKENIZE, Stage.EMBED_IDS, Stage.EMBED)

#: Those that a client is asked once, with texts of many cases.
MANY_STAGES = (Stage.BATCHES, Stage.STREAM)

#: All those that golden answers judge; ``call`` is of cases whose task has an answer of its own.
ALL_STAGES = (*CASE_STAGES, Stage.CALL, *MANY_STAGES)

#: The case of the stages that happen once: those of many texts, self_check and stop.
SESSION = "session"


@dataclass(frozen=True)
class Verdict:
    """How one client did in one stage of one case on one device."""

    language: str
    device: str
    case: str
    stage: Stage
    status: Status
    message: str = ""
    #: Largest absolute difference of one element; None where no vectors were compared.
    difference: float | None = None
    seconds: float = 0.0
    #: False where the client had not started, or was given up, before.
    asked: bool = True


def executed(verdict: Verdict) -> bool:
    """Whether a client was really asked, and golden answers judged what it gave."""
    return verdict.stage in ALL_STAGES and verdict.asked and not verdict.status.skipped


class HarnessError(Exception):
    """A harness gave no usable answer; says which verdict that is."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
