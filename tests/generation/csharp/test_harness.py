"""The harness of the C# client: the protocol, and a machine without room."""

from pathlib import Path

import pytest

from support.clients.conversation import ask, check_protocol, start

pytestmark = pytest.mark.csharp


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only, also for a text that .NET's JSON reader refuses."""
    check_protocol(client, every_feed, "csharp")


@pytest.mark.parametrize("folder", ["no such folder", "/proc"])
def test_the_tokenizer_needs_a_folder(client: Path, every_feed: Path, folder: str) -> None:
    """Where no temporary file can be written the error says so, and what to do."""
    environment = {"TMPDIR": folder, "DOTNET_EnableDiagnostics": "0"}
    (answer,) = ask(client, start(every_feed), **environment)
    assert answer["kind"] == "wrong_model"
    assert f"the tokenizer cannot be written to {folder}" in answer["message"]
    assert answer["message"].endswith("; let TMPDIR name a folder with room for it")
