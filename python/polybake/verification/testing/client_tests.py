"""A polybake.toml as tests: of its clients on its devices, and of what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from polybake.base.files.printable import printable
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import Device, Fixture
from polybake.base.modelfile.fixture_folder import read_fixture
from polybake.config import load_config
from polybake.errors import PolybakeError
from polybake.verification.harness.harness_file import Client
from polybake.verification.judge import judge
from polybake.verification.judging.stages import session_stages, stages_of
from polybake.verification.report import Report
from polybake.verification.required import required_names, unmet
from polybake.verification.verdict import SESSION, Stage
from polybake.verification.verify import check_services, chosen_clients


class JudgedClient(pytest.Collector):
    """A client on a device."""

    def __init__(
        self,
        *,
        client: Client,
        device: Device,
        model: Path,
        fixture: Fixture,
        prepare: bool,
        **of_node: Any,
    ) -> None:
        super().__init__(**of_node)
        self._client = client
        self._device = device
        self._model = model
        self._fixture = fixture
        self._prepare = prepare

    def collect(self) -> Iterator[Judged]:
        """A test ``CASE.STAGE`` for each verdict that verify would give."""
        tests = [(case.id, stage) for case in self._fixture.cases for stage in stages_of(case)]
        tests += [(SESSION, stage) for stage in session_stages(self._fixture.cases)]
        for case, stage in tests:
            name = printable(f"{case}.{stage}")
            yield Judged.from_parent(self, name=name, case=case, stage=stage)

    @cached_property
    def report(self) -> Report:
        """The report on the whole client: the first test that needs it waits for all stages."""
        try:
            return judge(
                self._model,
                [self._client],
                self._fixture,
                devices=[self._device],
                prepare=self._prepare,
            )
        except PolybakeError as error:
            pytest.fail(str(error), pytrace=False)


class Judged(pytest.Item):
    """A stage of a case."""

    parent: JudgedClient

    def __init__(self, *, case: str, stage: Stage, **of_node: Any) -> None:
        super().__init__(**of_node)
        self._case = case
        self._stage = stage

    def runtest(self) -> None:
        """Pass, skip or fail like the verdict."""
        for verdict in self.parent.report.verdicts:
            if (verdict.case, verdict.stage) == (self._case, self._stage):
                break
        else:  # there was nothing to stop, or no such part
            streams = self._stage is Stage.STREAM
            pytest.skip("the client has no streams" if streams else "the client was not running")
        if verdict.difference is not None:
            self.user_properties.append(("difference", verdict.difference))
        message = printable(f"{verdict.status}: {verdict.message}")
        if verdict.status.failed:
            pytest.fail(message, pytrace=False)
        if verdict.status.skipped:
            pytest.skip(message)

    def reportinfo(self) -> tuple[Path, None, str]:
        """The heading of a failure."""
        return self.path, None, f"{self.parent.name} {self.name}"


class Target(pytest.File):
    """The tests of a polybake.toml."""

    def __init__(self, *, prepare: bool, **of_node: Any) -> None:
        super().__init__(**of_node)
        self._prepare = prepare

    def collect(self) -> Iterator[JudgedClient | Complete]:
        """Yield the tests of each client, then a test that nothing required is missing."""
        try:
            config = load_config(self.path)
            head, folder = read_head(config.model.output), config.golden_folder
            fixture = read_fixture(folder) if folder else head.fixture
            clients = chosen_clients(config.client_folders, (), config.verify.harnesses)
            required = required_names(config.verify.require, clients)
            check_services(clients, head.manifest.contract.task)
        except PolybakeError as error:
            raise self.CollectError(str(error)) from error
        nodes = [
            JudgedClient.from_parent(
                self,
                name=printable(f"{client.language}-{device}"),
                client=client,
                device=device,
                model=config.model.output,
                fixture=fixture,
                prepare=self._prepare,
            )
            for client in clients
            for device in config.verify.devices
        ]
        yield from nodes
        yield Complete.from_parent(self, name="complete", judged=nodes, required=required)


class Complete(pytest.Item):
    """A test that nothing required is missing, and that some case was executed."""

    def __init__(
        self, *, judged: list[JudgedClient], required: frozenset[str], **of_node: Any
    ) -> None:
        super().__init__(**of_node)
        self._judged = judged
        self._required = required

    def runtest(self) -> None:
        """Fail if something required is missing, or if all cases were skipped."""
        reports = [client.report for client in self._judged]
        missing = unmet(self._required, [v for report in reports for v in report.verdicts])
        if missing:
            pytest.fail(printable("; ".join(missing)), pytrace=False)
        if not any(report.executed for report in reports):
            pytest.fail(
                "no client ran a single case; install what the skips above name", pytrace=False
            )

    def reportinfo(self) -> tuple[Path, None, str]:
        """The heading of a failure."""
        return self.path, None, self.name
