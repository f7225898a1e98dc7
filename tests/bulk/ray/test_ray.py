"""A data set that is mapped has a vector for each row, and files become files of vectors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import polybake
from polybake.base.modelfile.container import read_head
from polybake.errors import InputError

ray_data = pytest.importorskip("ray.data", reason="Ray is missing: run nox -s bulk")

from polybake.ray import Embed, embed_files  # noqa: E402
from support.bulk import clusters  # noqa: E402
from support.bulk.clusters import TEXTS  # noqa: E402

pytestmark = pytest.mark.slow

ROWS = pa.table({"id": range(40), "text": TEXTS})


def vectors_of(rows: list[dict[str, Any]]) -> np.ndarray:
    return np.stack([np.asarray(row["embedding"], np.float32) for row in rows])


@pytest.mark.parametrize("batch_format", ["numpy", "pandas", "pyarrow"])
def test_a_batch_of_each_format_is_a_table_with_vectors(
    every_feed_default: Path, batch_format: str
) -> None:
    """Other columns stay, and the prompt of the role is used."""
    batch = ray_data.block.BlockAccessor.for_block(ROWS).to_batch_format(batch_format)
    found = Embed(every_feed_default, role="query")(batch)
    assert found.schema.field("embedding").type == pa.list_(pa.float32(), 7)
    assert found.select(["id", "text"]).to_pydict() == ROWS.to_pydict()
    expected = polybake.Embedder(every_feed_default).embed(TEXTS, prompt="query")
    assert vectors_of(found.to_pylist()) == pytest.approx(expected, abs=1e-6)


def test_a_fingerprint_that_is_not_the_files_is_refused(every_feed: Path) -> None:
    """An actor knows the right file by its fingerprint alone."""
    found = read_head(every_feed).manifest.fingerprint
    Embed(every_feed, fingerprint=found)
    with pytest.raises(InputError, match=f"has the fingerprint {found} here, expected 0a1b"):
        Embed(every_feed, fingerprint="0a1b")


@pytest.mark.usefixtures("cluster")
def test_no_row_is_lost_when_a_worker_is_killed(every_feed: Path, tmp_path: Path) -> None:
    """Every row occurs once, in the order of the data."""
    killed = tmp_path / "killed"

    class Killed(Embed):
        def __call__(self, batch: Any) -> pa.Table:
            import os
            import signal

            if 20 in batch["id"].to_pylist() and not killed.exists():
                killed.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().__call__(batch)

    data = ray_data.from_arrow([ROWS.slice(start, 5) for start in range(0, 40, 5)])
    rows = data.map_batches(Killed(every_feed), batch_format="pyarrow", batch_size=5).take_all()
    assert killed.exists()
    assert [row["id"] for row in rows] == [*range(40)]
    expected = polybake.Embedder(every_feed).embed(TEXTS)
    assert vectors_of(rows) == pytest.approx(expected, abs=1e-6)


@pytest.mark.usefixtures("cluster")
def test_actors_embed_and_files_keep_the_record(every_feed: Path, tmp_path: Path) -> None:
    """Embed works as an actor class, and Ray writes its record into the files."""
    fingerprint = read_head(every_feed).manifest.fingerprint
    ray_data.from_arrow([ROWS.slice(0, 20), ROWS.slice(20)]).map_batches(
        Embed,
        fn_constructor_kwargs={"model": every_feed, "fingerprint": fingerprint},
        compute=ray_data.ActorPoolStrategy(size=2),
        batch_format="pyarrow",
    ).write_parquet(str(tmp_path / "out"))
    files = sorted((tmp_path / "out").glob("*.parquet"))
    rows = [row for file in files for row in parquet.ParquetFile(file).read().to_pylist()]
    assert sorted(row["id"] for row in rows) == [*range(40)]
    for file in files:
        metadata = parquet.read_schema(file).field("embedding").metadata
        assert json.loads(metadata[b"polybake.embed"])["model"]["fingerprint"] == fingerprint


@pytest.mark.usefixtures("cluster")
def test_what_a_killed_worker_began_another_ends(every_feed: Path, tmp_path: Path) -> None:
    clusters.what_a_killed_worker_began_another_ends(embed_files, every_feed, tmp_path)


@pytest.mark.usefixtures("cluster")
def test_an_error_of_one_file_is_no_error_of_the_others(every_feed: Path, tmp_path: Path) -> None:
    clusters.an_error_of_one_file_is_no_error_of_the_others(embed_files, every_feed, tmp_path)


def test_ray_is_not_started(
    every_feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user starts Ray, and decides where it runs and what it sends."""
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(InputError, match=r"call ray.init\(\) first"):
        embed_files(clusters.write_files(tmp_path, 1), tmp_path / "out", every_feed)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("code", clusters.programs("polybake.ray"))
def test_a_program_of_the_page_runs(code: str, every_feed: Path, tmp_path: Path) -> None:
    """Each program runs as printed, except that its folder is replaced."""
    clusters.run(code, every_feed, tmp_path)
