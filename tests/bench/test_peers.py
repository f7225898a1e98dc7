"""The comparison with other tools: its rows, their agreement, times and page."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path

import numpy as np
import psutil
import pytest
import results
import runner
import tables
from agreement import cosine, refusal
from peers import HERE, client, command, read_peers
from results import LANGUAGES

from support.samples.comparison import FOUND

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


def test_cosine_is_that_of_the_farthest_text() -> None:
    """One wrong row among many is found, whatever the rows' lengths."""
    expected = np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert cosine(vectors, expected) == pytest.approx(0.5**0.5)


@pytest.mark.parametrize(
    ("precision", "found", "refused"),
    [
        ("float32", 0.999999, False),
        ("float32", 0.999, True),
        ("int8", 0.96, False),
        ("int8", 0.7, True),
    ],
)
def test_other_work_is_refused(precision: str, found: float, refused: bool) -> None:
    """float32 must be equal; int8 may be as far off as int8 takes a vector."""
    reason = refusal(precision, {"short": 1.0, "long": found, "single": 1.0})
    assert bool(reason) == refused
    if refused:
        assert f"{found:.5f}" in reason
        assert "'long'" in reason


def test_rate_is_texts_by_the_median_call() -> None:
    """The slowest round changes nothing."""
    assert results.rate(FOUND, FOUND["peers"][0], "short") == 1000 / 2


def test_ratio_above_one_is_faster_than_the_first_row() -> None:
    """Half the seconds are twice the speed."""
    assert results.ratio(FOUND, FOUND["peers"][1], "short") == 2
    assert results.ratio(FOUND, FOUND["peers"][0], "long") == 1


def test_spread_is_half_the_range() -> None:
    """Rounds of 1, 2 and 6 seconds lie 2.5 seconds around, 125 % of the median."""
    assert results.spread(FOUND["peers"][0], "short") == pytest.approx(1.25)


#: Starts a child that never rests, and answers as protocol/answer.py says.
PEER = """
import os, subprocess, sys
busy = "import os; parent = os.getppid()\\nwhile os.getppid() == parent: pass"
child = subprocess.Popen([sys.executable, "-c", busy])
print('{"versions": {"child": "%d"}}' % child.pid, flush=True)
for _ in sys.stdin:
    print('{"seconds": [0.5]}', flush=True)
"""


def test_a_child_stands_still_and_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its processor time is the peer's, and while nobody asks it takes none."""
    monkeypatch.setattr(runner, "_IDLE_SECONDS", 0.2)
    command = [sys.executable, "-c", PEER]
    peer = runner.Runner(command, tmp_path, dict(os.environ), tmp_path / "peer.log")
    try:
        child = psutil.Process(int(peer.versions["child"]))
        assert peer.idle > 0
        assert child.status() == psutil.STATUS_STOPPED
        assert peer.ask(["a text"], 1) == [0.5]
        assert child.status() == psutil.STATUS_STOPPED
        assert peer.peak() > 0
    finally:
        peer.finish()


RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"


@pytest.mark.parametrize(("others", "provisional"), [(0.04, False), (0.4, True)])
def test_times_of_a_busy_machine_are_provisional(others: float, provisional: bool) -> None:
    """The page says so if other programs took a share of the processors."""
    found = FOUND | {"others": others}
    assert ("Provisional" in tables.page(found, "peers.svg")) == provisional


def test_the_committed_page_is_that_of_the_committed_results() -> None:
    """Nobody edits bench/results/peers.md by hand."""
    found = json.loads((RESULTS / "peers.json").read_text(encoding="utf-8"))
    page = (RESULTS / "peers.md").read_text(encoding="utf-8")
    assert page == tables.page(found, "peers.svg")
