"""A polybake.toml as tests: of its clients on its devices, and of what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polybake.base.files.printable import printable
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture_folder import read_fixture
from polybake.config import load_config
from polybake.errors import PolybakeError
from polybake.verification.required import required_names, unmet
from polybake.verification.testing.judged import JudgedClient
from polybake.verification.verify import check_services, chosen_clients


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
        judged = [
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
        yield from judged
        yield Complete.from_parent(self, name="complete", judged=judged, required=required)


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
