"""The answer to start: is this the right model, on the right device, by a client we know?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from polybake.files.validation import first_fault
from polybake.verification.harness_error import HarnessError
from polybake.verification.harness_file import Client
from polybake.verification.protocol import PROVIDERS, Answer, Device, Errored, Skipped, Started
from polybake.verification.verdict import Status


@dataclass(frozen=True)
class Subject:
    """The model file that every client must have opened."""

    path: Path
    name: str
    fingerprint: str


def results_of(answer: Answer) -> object:
    """What the client answered.

    Raises:
        HarnessError: ``skip-capability`` or ``error``: it said so.
    """
    if isinstance(answer, Skipped):
        raise HarnessError(Status.SKIP_CAPABILITY, answer.reason)
    if isinstance(answer, Errored):
        index = "" if answer.index is None else f" at index {answer.index}"
        raise HarnessError(Status.ERROR, f"{answer.kind}{index}: {answer.message}")
    return answer.results


def check_started(
    answer: Answer, client: Client, device: Device, subject: Subject, taken: Collection[str]
) -> Started:
    """Check the answer to start against what was asked for.

    ``taken`` holds the languages of the other clients; a foreign client may not go by them.

    Raises:
        HarnessError: ``missing-device``, ``provider-fallback``, or ``error``: another model,
            another language, or not the protocol.
    """
    if isinstance(answer, Errored) and answer.kind == "device" and device != "cpu":
        raise HarnessError(Status.MISSING_DEVICE, answer.message)
    try:
        started = Started.model_validate(results_of(answer))
    except ValidationError as error:
        raise HarnessError(Status.ERROR, f"answer to start: {first_fault(error)}") from error
    for what, found, expected in (
        ("name", started.name, subject.name),
        ("fingerprint", started.fingerprint, subject.fingerprint),
        ("requested device", started.provider.requested, device),
    ):
        if found != expected:
            raise HarnessError(Status.ERROR, f"reports {what} {found}, expected {expected}")
    language = started.client.language
    if not client.foreign and language != client.language:
        raise HarnessError(
            Status.ERROR,
            f"reports language {language}, but its harness.json says {client.language}",
        )
    if client.foreign and language in taken:
        raise HarnessError(
            Status.ERROR,
            f"reports language {language}, as another client does; let it report its own",
        )
    if started.provider.active != PROVIDERS[device]:
        raise HarnessError(
            Status.PROVIDER_FALLBACK,
            f"{started.provider.active} is active, expected {PROVIDERS[device]}",
        )
    return started
