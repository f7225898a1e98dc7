"""matrix: the judge in every combination of versions, devices, threads and instruction sets."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from polybake.base.files.exclusive import exclusive
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import Fixture
from polybake.config import MatrixTable
from polybake.errors import InputError
from polybake.verification.harness.harness_file import Client
from polybake.verification.judge import judge
from polybake.verification.matrix.combination import Combination, combinations
from polybake.verification.matrix.environment import installed
from polybake.verification.matrix.limits import check_instructions, limited
from polybake.verification.matrix.machine import machine
from polybake.verification.matrix.matrix_report import Cell, MatrixReport, Row
from polybake.verification.matrix.packages import install_commands
from polybake.verification.report import Report
from polybake.verification.required import required_names, unmet
from polybake.verification.session import Timeouts
from polybake.verification.verdict import SESSION, HarnessError, Stage, Verdict

#: The factor on the time limit for an emulated processor: int8 takes about 100 times as long as on
#: the processor itself, float32 hundreds of times if it has FMA.
EMULATED = 30


def run_matrix(
    models: Sequence[Path],
    clients: Sequence[Client],
    tables: Iterable[MatrixTable],
    folder: Path,
    *,
    fixture: Fixture | None = None,
    require: Sequence[str] = (),
    timeout: float = 60.0,
    progress: Callable[[str], None] = lambda _: None,
) -> MatrixReport:
    """Judge each model in each combination, one after another.

    Args:
        models: Baked model files, which the clients open.
        clients: The clients, as read from their folders, which are not changed.
        tables: The tables ``[[verify.matrix]]`` of a polybake.toml.
        folder: The folder where copies of clients are installed, and found again by the next run.
        fixture: Golden cases; None takes each file's own.
        require: Languages and devices that may not be skipped; ``POLYBAKE_REQUIRE`` adds to them.
        timeout: Seconds for each answer; `EMULATED` times as many on an emulated processor.
        progress: Called with what begins.

    Returns:
        All verdicts. Cells whose client cannot be installed, or run on this machine, say so by
        their status.

    Raises:
        InputError: A model, a table or the folder is not what was expected.
    """
    wanted = combinations(tables)
    by_language = {client.language: client for client in clients}
    for one in wanted:
        _check(one, by_language)
    for model in models:
        read_head(model)
    required = required_names(require, clients)
    normal = Timeouts.of(timeout)
    emulated = replace(normal, answer=normal.answer * EMULATED, load=normal.load * EMULATED)
    environments: dict[str, Client | HarnessError] = {}
    rows: list[Row] = []
    with exclusive(folder):
        for one in wanted:
            timeouts = emulated if one.instructions else normal
            begin = time.monotonic()
            if one.environment not in environments:  # once a run, whether it succeeds or fails
                progress(f"{one}: installs")
                environments[one.environment] = _tried(
                    by_language[one.language], one, folder, timeouts.prepare
                )
            try:
                client = _limited(environments[one.environment], one)
            except HarnessError as error:
                rows.append(_lost(one, models, error, time.monotonic() - begin))
                continue
            reports = []
            for model in models:
                progress(f"{one}: {model.name}")
                reports.append(
                    judge(model, [client], fixture, devices=[one.device], timeouts=timeouts)
                )
            rows.append(_row(one, models, reports, time.monotonic() - begin))
    verdicts = [verdict for row in rows for cell in row.cells for verdict in cell.verdicts]
    return MatrixReport(
        models=tuple(model.stem for model in models),
        rows=tuple(rows),
        machine=machine(),
        missing=unmet(required, verdicts),
    )


def _check(one: Combination, clients: Mapping[str, Client]) -> None:
    """Before anything is installed."""
    if one.language not in clients:
        raise InputError(
            f"verify.matrix: language {one.language!r}: there is no client of it; "
            f"choose among: {', '.join(clients) or 'none'}"
        )
    install_commands(clients[one.language].on(one.device), one)
    check_instructions(one)


def _tried(client: Client, one: Combination, folder: Path, seconds: float) -> Client | HarnessError:
    """Return the installed client, or why there is none; rows of an environment share it."""
    try:
        return installed(client, one, folder, seconds)
    except HarnessError as error:
        return error


def _limited(environment: Client | HarnessError, one: Combination) -> Client:
    if isinstance(environment, HarnessError):
        raise environment
    return limited(environment, one.threads, one.instructions)


def _row(
    one: Combination, models: Sequence[Path], reports: Sequence[Report], seconds: float
) -> Row:
    versions = next((run.versions for report in reports for run in report.runs), None)
    cells = [
        Cell(model.stem, report.verdicts) for model, report in zip(models, reports, strict=True)
    ]
    return Row(one, versions, tuple(cells), seconds)


def _lost(one: Combination, models: Sequence[Path], why: HarnessError, seconds: float) -> Row:
    """A row that no client ran."""
    verdict = Verdict(one.language, one.device, SESSION, Stage.EMBED, why.status, why.message)
    return Row(one, None, tuple(Cell(model.stem, (verdict,)) for model in models), seconds)
