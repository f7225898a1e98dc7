"""The Java client's harness speaks the protocol, and refuses damaged heads as all readers do."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.clients.conversation import check_protocol
from support.clients.heads import check_heads, write_heads_client
from support.clients.java import Java

pytestmark = pytest.mark.java


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only, also for a text that is not valid Unicode."""
    check_protocol(client, every_feed, "java")


@pytest.mark.parametrize("beside", [False, True])
def test_heads_are_read_as_everywhere(java: Java, beside: bool, tmp_path: Path) -> None:
    """Of every damaged head the client says the words that every reader says."""
    client = write_heads_client("java", tmp_path / "client", beside=beside)
    java.build(client)
    check_heads(client, tmp_path, beside=beside)
