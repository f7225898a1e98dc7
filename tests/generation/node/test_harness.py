"""The harness of the Node client."""

from pathlib import Path

import pytest

from support.clients.conversation import ask, check_protocol, start

pytestmark = pytest.mark.node


def test_the_harness_speaks_the_protocol(client: Path, every_feed: Path) -> None:
    """One answer a line, ASCII only, of the kinds that the protocol has."""
    _, started = check_protocol(client, every_feed, "node")
    assert started["results"]["provider"] == {
        "requested": "cpu",
        "active": "CPUExecutionProvider",
        "proven_by": "append",
    }
    (device,) = ask(client, start(every_feed, "tpu"))
    assert device["kind"] == "device"
