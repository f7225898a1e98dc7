"""Faults that can be planted."""

from __future__ import annotations

from pathlib import Path

import pytest

from polybake.generation.languages import LANGUAGES
from support.clients.planted import read_faults
from support.clients.rendered import write


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_fault_has_its_place(
    language: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The text that a fault replaces stands once in the client, which often changes."""
    clients: dict[str, Path] = {}
    lost = []
    for number, fault in enumerate(read_faults(language)):
        if fault.model not in clients:
            model = request.getfixturevalue(fault.model)
            clients[fault.model] = write(language, tmp_path / fault.model, model)
        (path,) = clients[fault.model].glob(fault.file)
        text = path.read_text(encoding="utf-8")
        try:
            fault.plant(clients[fault.model])
        except AssertionError:
            lost.append(f"{number}: {fault.id}")
        path.write_text(text, encoding="utf-8")
    assert not lost
