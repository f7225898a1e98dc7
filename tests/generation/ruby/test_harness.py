"""The Ruby client behind polybake's protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.clients.conversation import check_protocol
from support.clients.heads import check_heads, write_heads_client
from support.clients.rendered import run

pytestmark = pytest.mark.ruby


@pytest.mark.parametrize("beside", [False, True])
def test_damaged_heads_are_refused_in_the_same_words(
    gems: str, beside: bool, tmp_path: Path
) -> None:
    """The client says of every file of fixtures/heads what each reader must say."""
    client = write_heads_client("ruby", tmp_path / "client", beside=beside)
    (client / "vendor").mkdir()
    (client / "vendor/bundle").symlink_to(gems)
    run("bundle", "install", "--quiet", cwd=client, BUNDLE_PATH=gems)
    check_heads(client, tmp_path, beside=beside)


def test_the_harness_speaks_the_protocol(client: Path, gems: str, every_feed: Path) -> None:
    """One answer a line, ASCII only, also for a text that Ruby's JSON parser refuses."""
    check_protocol(client, every_feed, "ruby", BUNDLE_PATH=gems)
