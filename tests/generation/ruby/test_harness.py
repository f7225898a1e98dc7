"""The Ruby client behind polybake's protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.clients.conversation import STOP, Message, ask, start
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
    requests: list[Message] = [
        start(every_feed),
        {"cmd": "tokenize", "texts": ["a", "\U0001f469 \\ud800"], "prompt": None},
        {"cmd": "embed", "texts": ["a", "b \ud800"], "prompt": None},
        {"cmd": "embed", "texts": ["a"], "prompt": "é"},
        {"cmd": "dance"},
        start(every_feed),
        {"cmd": "self_check"},
        STOP,
    ]
    started, tokens, invalid, unknown, skipped, again, checked, stopped = ask(
        client, *requests, BUNDLE_PATH=gems, LC_ALL="C"
    )
    assert started["results"]["provider"]["active"] == "CPUExecutionProvider"
    assert started["results"]["client"]["language"] == "ruby"
    assert len(tokens["results"]) == 2
    assert (invalid["kind"], invalid["index"]) == ("invalid_text", 1)
    assert unknown["kind"] == "unknown_prompt"
    assert unknown["message"] == 'unknown prompt "é"; choose one of: query, document'
    assert skipped["skipped"]
    assert again["results"] == started["results"]
    assert 0 <= checked["results"] < 1e-5
    assert stopped == {"seq": 7, "results": None}
