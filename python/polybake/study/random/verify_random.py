"""Run verify --random: do clients agree with the core on random texts?"""

import os
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

from polybake.errors import InputError
from polybake.study.random.search import draw
from polybake.study.random.smallest_case import Failing, GoldenRunner
from polybake.verification.harness.handshake import Subject
from polybake.verification.judge import Progress
from polybake.verification.judging.golden import decode_fixture
from polybake.verification.report import Report
from polybake.verification.session import Session, Timeouts
from polybake.verification.verdict import SESSION, Verdict
from polybake.verification.verify import chosen_clients, chosen_devices, verify

#: More would fill the memory with vectors.
MOST = 10_000

_SEEDS = 2**32


def new_seed() -> int:
    """Return a new random seed."""
    return secrets.randbelow(_SEEDS)


def verify_random(
    model: str | os.PathLike[str],
    clients: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    *,
    number: int,
    seed: int,
    languages: Sequence[str] = (),
    harnesses: Sequence[str] = (),
    devices: Sequence[str] = ("cpu",),
    require: Sequence[str] = (),
    prepare: bool = False,
    timeout: float = 60.0,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Report:
    """Compare every client with the core on random calls, and shrink the first failing call.

    The other arguments are those of `verify`. With one version of hypothesis a seed always gives
    the same calls, ``random-1`` to ``random-number``. For each client on each device the message
    of the first failed verdict ends with the smallest call that fails.
    """
    if not 1 <= number <= MOST:
        raise InputError(f"random {number}: expected 1 to {MOST} calls")
    if not 0 <= seed < _SEEDS:
        raise InputError(f"seed {seed}: expected 0 to {_SEEDS - 1}")
    folders = clients if clients is None or isinstance(clients, str | os.PathLike) else [*clients]
    client_list = chosen_clients(folders, languages, harnesses)
    reference = GoldenRunner(model)
    calls = {
        f"random-{index}": call
        for index, call in enumerate(draw(reference.drawn, number, seed), start=1)
    }
    fixture = reference.fixture(calls)
    report = verify(
        model,
        folders,
        languages=languages,
        harnesses=harnesses,
        devices=devices,
        fixture=fixture,
        require=require,
        prepare=prepare,
        timeout=timeout,
        progress=progress,
    )
    subject = Subject(Path(model).absolute(), report.model, report.fingerprint)
    smaller: dict[Verdict, Verdict] = {}
    for (client, device), run in zip(
        product(client_list, chosen_devices(devices)), report.runs, strict=True
    ):
        verdicts = [verdict for verdict in report.verdicts_of(run) if verdict.case != SESSION]
        failed = next((verdict for verdict in verdicts if verdict.status.failed), None)
        if failed is None or len({(verdict.status, verdict.message) for verdict in verdicts}) == 1:
            continue  # all verdicts are the same: the client did not start
        cases = list(calls)[: list(calls).index(failed.case) + 1]  # before the client is given up
        failing = Failing(
            partial(
                Session,
                client.on(device),
                device,
                subject,
                decode_fixture(fixture, [device], reference.output, reference.further),
                Timeouts.of(timeout),
            ),
            reference,
            failed,
            {calls[name]: name == failed.case for name in cases},
        )
        smaller[failed] = failing.explained(number, seed)
    return replace(
        report,
        verdicts=tuple(smaller.get(verdict, verdict) for verdict in report.verdicts),
        notes=(*report.notes, f"{report.cases} random cases of seed {seed}"),
    )
