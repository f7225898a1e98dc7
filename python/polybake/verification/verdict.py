"""The verdict on a client in a stage of a case on a device."""

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
        """Whether nothing was judged; this is an error only if it was required."""
        return self in (self.SKIP_CAPABILITY, self.MISSING_TOOLCHAIN, self.MISSING_DEVICE)

    @property
    def failed(self) -> bool:
        """Verify ends with exit code 1."""
        return self is not self.PASS and not self.skipped


class Stage(StrEnum):
    """A stage: what the client is asked to do."""

    TOKENIZE = "tokenize"
    EMBED_IDS = "embed_ids"
    EMBED = "embed"
    CALL = "call"
    BATCHES = "batches"
    STREAM = "stream"
    ARGUMENTS = "arguments"
    SELF_CHECK = "self_check"
    STOP = "stop"


#: The stages that every case goes through.
CASE_STAGES = (Stage.TOKENIZE, Stage.EMBED_IDS, Stage.EMBED)

#: The stages that happen once, with texts of many cases.
MANY_STAGES = (Stage.BATCHES, Stage.STREAM)

#: All stages that golden answers judge; ``call`` is for cases whose task has its own answer.
ALL_STAGES = (*CASE_STAGES, Stage.CALL, *MANY_STAGES)

#: The case of the stages that happen once: the stages of many texts, self_check and stop.
SESSION = "session"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a client in a stage of a case on a device."""

    language: str
    device: str
    case: str
    stage: Stage
    status: Status
    message: str = ""
    #: The largest absolute difference of an element; None if no vectors were compared.
    difference: float | None = None
    seconds: float = 0.0
    #: False if the client had not started, or had been given up.
    asked: bool = True


def executed(verdict: Verdict) -> bool:
    """Return whether a client was really asked, and judged by golden answers."""
    return verdict.stage in ALL_STAGES and verdict.asked and not verdict.status.skipped


class HarnessError(Exception):
    """A harness gave no usable answer; holds the status for the verdict."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
