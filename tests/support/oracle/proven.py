"""The fixture `proven`, by which a test of the oracle writes a row of the support table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.tolerance import LIMIT
from support.oracle.record import (
    RECORD,
    UNRECORDED,
    Json,
    drift,
    entries,
    entry_of,
    files_of,
    stem_of,
)
from support.oracle.records import Records
from support.oracle.support_pages import SupportPages
from support.oracle.support_table import Row

if TYPE_CHECKING:
    from support.oracle.agreement import Agreement

FOLDER = "sentence-transformers folder"
HUGGING_FACE = "Hugging Face folder"


class Proven(Protocol):
    def __call__(self, kind: str, found: Agreement, *, source: str = FOLDER) -> None: ...


class Judged(Protocol):
    def __call__(self, found: Agreement) -> None: ...


@pytest.fixture
def judged(request: pytest.FixtureRequest) -> Judged:
    """Call it last: it judges an agreement that needs no row of its own, and records it."""

    def judge(found: Agreement) -> None:
        assert found.difference <= LIMIT
        note_agreement(request, request.node.originalname, FOLDER, found)

    return judge


@pytest.fixture
def proven(request: pytest.FixtureRequest) -> Proven:
    """Call it last: it judges an agreement and writes its row, which counts if the test passes."""

    def write_row(kind: str, found: Agreement, *, source: str = FOLDER) -> None:
        steps = " -> ".join(read_head(found.baked).manifest.steps) or "none"
        print(f"\n{kind}, {source}, {steps}: largest difference {found.difference:.2e}")  # noqa: T201
        assert found.difference <= LIMIT
        row = Row(kind, source, steps, test=_name_of(request.node).partition("[")[0])
        request.node.user_properties.append(("proven", [*row, found.difference]))
        note_agreement(request, kind, source, found)

    return write_row


def note_agreement(
    request: pytest.FixtureRequest, kind: str, source: str, found: Agreement
) -> None:
    from support.oracle.agreement import BAKINGS

    if stem_of(request.node.nodeid) not in UNRECORDED:
        note(request, entry_of(kind, source, found), BAKINGS[found.baked].folder)


def note(request: pytest.FixtureRequest, entry: Json, folder: Path) -> None:
    """Give an entry to `Records`, or compare it with the committed one."""
    properties = request.node.user_properties
    before = sum(name == "recorded" for name, _ in properties)
    name = _name_of(request.node) + (f" {before + 1}" if before else "")
    if not request.config.getoption("--record"):
        committed = entries(request.config.rootpath / RECORD / f"{stem_of(name)}.json.xz")
        fault = drift(name, entry, committed.get(name))
        assert fault is None, fault
        properties.append(("recorded", [name, {}]))
    else:
        properties.append(("recorded", [name, entry | files_of(folder)]))


def _name_of(test: pytest.Item) -> str:
    """A test's name, without the group that pytest-xdist puts behind it."""
    return test.nodeid.partition("@")[0]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-support", action="store_true", help="write the support table anew")
    parser.addoption(
        "--record", action="store_true", help="write what the libraries give to fixtures/oracle"
    )


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # which has only its own part of the rows
        config.pluginmanager.register(SupportPages(config))
        config.pluginmanager.register(Records(config))
