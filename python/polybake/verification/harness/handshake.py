"""The answer to start: is this the right model, on the right device, by a client we know?"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from polybake.base.files.validation import first_fault
from polybake.base.modelfile.fixture import Device
from polybake.verification.harness.harness_file import Client
from polybake.verification.harness.protocol import PROVIDERS, Answer, Errored, Skipped, Started
from polybake.verification.harness.services.service import Served
from polybake.verification.verdict import HarnessError, Status


@dataclass(frozen=True)
class Subject:
    """The model file that every client must have opened."""

    path: Path
    name: str
    fingerprint: str


def results_of(answer: Answer, capabilities: Collection[str] = (), request: str = "") -> object:
    """Return the results in a client's answer to a request.

    What is among the client's own ``capabilities`` it may not skip.
    """
    if isinstance(answer, Skipped):
        if request in capabilities:
            message = f"skipped what its capabilities say that it can: {answer.reason}"
            raise HarnessError(Status.ERROR, message)
        raise HarnessError(Status.SKIP_CAPABILITY, answer.reason)
    if isinstance(answer, Errored):
        index = "" if answer.index is None else f" at index {answer.index}"
        raise HarnessError(Status.ERROR, f"{answer.kind}{index}: {answer.message}")
    return answer.results


def check_started(
    answer: Answer, client: Client, device: Device, subject: Subject, taken: Collection[str]
) -> Started:
    """Check the answer to ``start`` against the request.

    ``taken`` holds the names that a foreign client may not have.
    """
    if isinstance(answer, Errored) and answer.kind == "device" and device != "cpu":
        raise HarnessError(Status.MISSING_DEVICE, answer.message)
    try:
        started = Started.model_validate(results_of(answer))
    except ValidationError as error:
        raise HarnessError(Status.ERROR, f"answer to start: {first_fault(error)}") from error
    language, active = started.client.language, started.provider.active
    for what, value, expected in (
        ("name", started.name, subject.name),
        ("fingerprint", started.fingerprint, subject.fingerprint),
        ("requested device", started.provider.requested, device),
        ("language", language, language if client.foreign else client.language),
    ):
        if value != expected:
            raise HarnessError(Status.ERROR, f"reports {what} {value}, expected {expected}")
    if client.foreign and language in taken:
        message = f"reports language {language}, which is not its own; let it report another"
        raise HarnessError(Status.ERROR, message)
    if "embed" not in started.capabilities:
        message = "has no capability embed, without which no vector would be verified"
        raise HarnessError(Status.ERROR, message)
    if active != PROVIDERS[device]:
        message = f"{active} is active, expected {PROVIDERS[device]}"
        raise HarnessError(Status.PROVIDER_FALLBACK, message)
    return started


def check_served(served: Served, subject: Subject) -> Served:
    """Check what a service says about itself."""
    if served.fingerprint not in (None, subject.fingerprint):
        message = f"serves the file of fingerprint {served.fingerprint}"
        raise HarnessError(Status.ERROR, f"{message}, expected {subject.fingerprint}")
    return served
