"""verify: every client through every case on every device, judged."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from polybake.errors import InputError
from polybake.modelfile.container import read_head
from polybake.modelfile.fixture import Fixture
from polybake.verification.between import between_languages
from polybake.verification.golden import decode_fixture
from polybake.verification.handshake import Subject
from polybake.verification.harness_error import HarnessError
from polybake.verification.harness_file import Client
from polybake.verification.protocol import DEVICES, Device
from polybake.verification.report import ClientRun, Report
from polybake.verification.required import unmet
from polybake.verification.session import Session, Timeouts
from polybake.verification.toolchain import check_programs, run_prepare
from polybake.verification.verdict import Verdict

#: What is told of each verdict as it is reached.
Progress = Callable[[Verdict], None]

_TIMEOUTS = Timeouts()


def verify(
    model: Path,
    clients: Sequence[Client],
    fixture: Fixture,
    *,
    devices: Sequence[Device] = ("cpu",),
    prepare: bool = False,
    required: Collection[str] = (),
    timeouts: Timeouts = _TIMEOUTS,
    progress: Progress | None = None,
) -> Report:
    """Take every client through every case of the fixture on every device.

    Args:
        model: a baked model file.
        clients: from ``find_clients`` and ``foreign_client``.
        fixture: with inline vectors.
        devices: ``cpu``, ``cuda``.
        prepare: run each client's prepare commands first.
        required: from ``required_names``; what may not be skipped.
        timeouts: in seconds.
        progress: called with each verdict as it is reached.

    Raises:
        InputError: the model or the fixture is wrong, a device is unknown or given twice, or two
            clients are of one language.
    """
    _check_names(clients, devices)
    manifest = read_head(model).manifest
    subject = Subject(model.absolute(), manifest.name, manifest.fingerprint)
    golden = decode_fixture(fixture, devices, manifest.contract.output)
    sessions: list[Session] = []
    verdicts: list[Verdict] = []
    runs: list[ClientRun] = []
    for client in clients:
        taken = {other.language for other in clients if other is not client}
        taken |= {session.language for session in sessions}
        for device in devices:
            ready = client.on(device)
            given_up = _ready(ready, prepare, timeouts)
            session = Session(ready, device, subject, golden, timeouts, taken, prepare, given_up)
            begin = time.monotonic()
            for verdict in session.run():
                verdicts.append(verdict)
                if progress:
                    progress(verdict)
            sessions.append(session)
            runs.append(_run_of(session, time.monotonic() - begin))
    return Report(
        model=manifest.name,
        fingerprint=manifest.fingerprint,
        cases=len(golden.cases),
        runs=tuple(runs),
        verdicts=tuple(verdicts),
        between=tuple(
            between
            for device in devices
            for between in between_languages(
                device,
                {s.language: s.vectors for s in sessions if s.device == device},
                packed_bits=manifest.contract.output.packed_bits,
            )
        ),
        notes=_notes(fixture, manifest.fingerprint),
        missing=unmet(required, verdicts),
    )


def _check_names(clients: Sequence[Client], devices: Sequence[str]) -> None:
    for device in devices:
        if device not in DEVICES or devices.count(device) > 1:
            raise InputError(f"device {device!r}: expected each once of: {', '.join(DEVICES)}")
    languages = [client.language for client in clients]
    for client in clients:
        if languages.count(client.language) > 1:
            raise InputError(
                f"{client.folder}: another client is of language {client.language} too; "
                "verify them one after the other"
            )


def _ready(client: Client, prepare: bool, timeouts: Timeouts) -> HarnessError | None:
    """Why the client cannot be run, or None."""
    try:
        check_programs(client)
        if prepare:
            run_prepare(client, timeouts.prepare)
    except HarnessError as error:
        return error
    return None


def _run_of(session: Session, seconds: float) -> ClientRun:
    started = session.started
    return ClientRun(
        language=session.language,
        device=session.device,
        versions=started.client if started else None,
        provider=started.provider if started else None,
        seconds=seconds,
    )


def _notes(fixture: Fixture, fingerprint: str) -> tuple[str, ...]:
    if fixture.fingerprint == fingerprint:
        return ()
    return ("the fixture was made for another file; its vectors decide",)
