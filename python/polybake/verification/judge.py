"""The judge: every client through every case on every device."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import DEVICES, Device, Fixture
from polybake.errors import InputError
from polybake.generation.languages import LANGUAGES
from polybake.verification.harness.handshake import Subject
from polybake.verification.harness.harness_file import Client
from polybake.verification.judging.arguments import argument_cases
from polybake.verification.judging.batch_faults import batch_fault
from polybake.verification.judging.golden import decode_fixture
from polybake.verification.judging.stages import session_stages, stages_of
from polybake.verification.language_differences import language_differences
from polybake.verification.report import ClientRun, Report
from polybake.verification.required import unmet
from polybake.verification.session import Session, Timeouts
from polybake.verification.verdict import Stage, Status, Verdict, executed

_TIMEOUTS = Timeouts()
_REORDERED = "its vectors came in another order than the texts, and were put in that of index"
_OTHER_FIXTURE = "the fixture was made for another file; its vectors decide"


@dataclass(frozen=True)
class Progress:
    """The progress of a run, reported before a client is prepared, and after each stage.

    Attributes:
        language, device: The client's language and device.
        done, total: The number of stages, of all clients on all devices.
        verdict: The verdict on the last stage; None before a client's first stage.
    """

    language: str
    device: str
    done: int
    total: int
    verdict: Verdict | None = None


def judge(
    model: Path,
    clients: Sequence[Client],
    fixture: Fixture | None = None,
    *,
    devices: Sequence[Device] = ("cpu",),
    prepare: bool = False,
    required: Collection[str] = (),
    timeouts: Timeouts = _TIMEOUTS,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Report:
    """Run clients on every case of a fixture, or of the model file, on each device."""
    _check_languages(clients)
    head = read_head(model)
    manifest, output = head.manifest, head.manifest.contract.output
    fixture = fixture or head.fixture
    subject = Subject(model.absolute(), manifest.name, manifest.fingerprint)
    golden = decode_fixture(fixture, devices, output, manifest.contract.further_outputs)
    arguments = argument_cases(manifest.contract, head.fixture)
    stages = sum(len(stages_of(case)) for case in fixture.cases)
    stages += len(session_stages(fixture.cases))
    total = len(clients) * len(devices) * stages
    names = {*LANGUAGES, *DEVICES, *(client.language for client in clients)}
    sessions: list[Session] = []
    remarks: list[str] = []
    verdicts: list[Verdict] = []
    runs: list[ClientRun] = []
    for client in clients:
        reported = {session.language for session in sessions}
        for device in devices:
            begin, done = time.monotonic(), len(runs) * stages
            progress(Progress(client.language, device, done, total))
            session = Session(
                client.on(device),
                device,
                subject,
                golden,
                timeouts,
                arguments,
                names | reported,
                prepare,
            )
            mine: list[Verdict] = []
            for number, verdict in enumerate(session.run(), start=1):
                mine.append(verdict)
                progress(Progress(session.language, device, done + number, total, verdict))
            verdicts += mine
            sessions.append(session)
            fault = batch_fault(golden, mine, session.vectors)
            notes = (_REORDERED if session.reordered else None, fault)
            remarks += [f"{session.language} on {device}: {note}" for note in notes if note]
            started = session.started
            runs.append(
                ClientRun(
                    session.language,
                    device,
                    started.client if started else None,
                    started.provider if started else None,
                    time.monotonic() - begin,
                    session.evidence.differences(),
                    session.evidence.worst(head.tokenizer),
                )
            )
    return Report(
        model=manifest.name,
        fingerprint=manifest.fingerprint,
        cases=len(golden.cases),
        runs=tuple(runs),
        verdicts=tuple(verdicts),
        language_differences=tuple(
            difference
            for device in devices
            for difference in language_differences(
                device,
                {s.language: s.vectors for s in sessions if s.device == device},
                packed_bits=output.packed_bits,
            )
        ),
        notes=(
            *(() if fixture.fingerprint == manifest.fingerprint else (_OTHER_FIXTURE,)),
            *remarks,
            *_unverified(verdicts),
            *_without_toolchain(verdicts, required),
        ),
        missing=unmet(required, verdicts),
    )


def _check_languages(clients: Sequence[Client]) -> None:
    languages = [client.language for client in clients]
    for client in clients:
        if languages.count(client.language) > 1:
            raise InputError(
                f"{client.folder}: another client is of language {client.language} too; "
                "verify them one after the other"
            )


def _unverified(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return a sentence with the stages that every client skipped, if any stage was executed."""
    if not any(map(executed, verdicts)):
        return ()  # the summary says so
    stages = {verdict.stage for verdict in verdicts if verdict.asked}
    stages -= {verdict.stage for verdict in verdicts if not verdict.status.skipped}
    skipped = ", ".join(stage for stage in Stage if stage in stages)
    return (f"verified of no client, since all skipped it: {skipped}",) if skipped else ()


def _without_toolchain(verdicts: Sequence[Verdict], required: Collection[str]) -> tuple[str, ...]:
    """Return a sentence with the languages that nobody requires and no program could run."""
    names = dict.fromkeys(
        verdict.language
        for verdict in verdicts
        if verdict.status is Status.MISSING_TOOLCHAIN and verdict.language not in required
    )
    sentence = (
        f"NOT VERIFIED: {', '.join(names)}, since what they need is not on this machine; to make "
        "that a failure, name them in polybake.toml: [verify] require, or by --require"
    )
    return (sentence,) if names else ()
