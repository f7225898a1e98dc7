"""The rows of peers.toml."""

from __future__ import annotations

import tomllib

import pytest
from peers import HERE, client, command, read_peers
from results import LANGUAGES

PLACES = dict.fromkeys(("float32", "int8", "folder", "export"), HERE)


def test_every_folder_has_a_row_or_is_named() -> None:
    """Nothing lies there that the file does not speak of."""
    folders = {path.name for path in HERE.iterdir() if path.is_dir()} - {"protocol", "__pycache__"}
    text = (HERE / "peers.toml").read_text(encoding="utf-8")
    assert {name for name in folders if f'folder = "{name}"' not in text} == set()
    assert {peer.folder for peer in read_peers() if not peer.absent} <= folders


def test_every_language_has_its_heading_and_its_commands() -> None:
    """Rows stand together by language, since the plot has one heading for each."""
    languages = [peer.language for peer in read_peers()]
    assert list(dict.fromkeys(languages)) == list(LANGUAGES)
    assert languages == sorted(languages, key=[*LANGUAGES].index)
    commands = tomllib.loads((HERE / "peers.toml").read_text(encoding="utf-8"))["languages"]
    assert commands.keys() == LANGUAGES.keys()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_runner_is_told_threads_and_file(language: str) -> None:
    """The first row of each language is polybake's float32 file."""
    peer = next(peer for peer in read_peers() if peer.language == language)
    assert (peer.title, peer.precision) == ("polybake", "float32")
    assert command(peer, 2, PLACES) == [*client(peer).run, "2", str(HERE)]


def test_a_row_has_a_folder_or_a_reason() -> None:
    """One without a folder could not be installed."""
    assert all(bool(peer.folder) != bool(peer.absent) for peer in read_peers())
