"""Files become files of vectors, whatever happens to the workers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from polybake.errors import InputError
from support.bulk.bulk_files import assert_whole, write_files
from support.bulk.killed_worker import kill_in_the_middle

pytest.importorskip("ray.data", reason="Ray is missing: run nox -s bulk")

from polybake.ray import embed_files

pytestmark = pytest.mark.slow


@pytest.mark.usefixtures("cluster")
def test_what_a_killed_worker_began_another_ends(every_feed: Path, tmp_path: Path) -> None:
    """Every row is there exactly once, and a second run embeds nothing."""
    files, out = write_files(tmp_path), tmp_path / "out"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(embed_files, files, out, every_feed)
        kill_in_the_middle(out)
        done = running.result()
    assert [file.skipped for file in done].count(True) == 0
    assert_whole(files, out, every_feed)
    written = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    again = embed_files(files, out, every_feed)
    assert [file.skipped for file in again] == [True] * len(files)
    assert [file.rows for file in again] == [file.rows for file in done]
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == written


@pytest.mark.usefixtures("cluster")
def test_an_error_of_one_file_is_no_error_of_the_others(every_feed: Path, tmp_path: Path) -> None:
    """The other files are embedded, and the failing one is named."""
    (good,) = write_files(tmp_path, 1)
    (tmp_path / "bad.jsonl").write_text('{"text": null}\n')
    with pytest.raises(InputError, match=r"bad.jsonl: line 1: 'text' is null"):
        embed_files([tmp_path / "bad.jsonl", good], tmp_path / "out", every_feed)
    assert_whole([good], tmp_path / "out", every_feed)


def test_ray_is_not_started(
    every_feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user starts Ray, and decides where it runs and what it sends."""
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(InputError, match=r"call ray.init\(\) first"):
        embed_files(write_files(tmp_path, 1), tmp_path / "out", every_feed)
