"""A whole benchmark, on tiny models."""

from __future__ import annotations

import shutil
from pathlib import Path

import onnxruntime as ort
import pytest

from models.files.task_models import write_reranker, write_zero_shot_tagger
from polybake.errors import InputError, RequirementMissing
from polybake.runtime.processors import processors
from polybake.study.bench.bench import BUDGETS, bench
from polybake.study.bench.profile import PARTS
from polybake.study.bench.workload import Workload
from polybake.verification.harness.harness_file import find_clients
from support.clients.plain_client import write_plain_client

pytestmark = pytest.mark.slow

WORKLOADS = [
    Workload("own", "three texts", ("one", "two", "three")),
    Workload("single", "one", ("one",), single=True),
]


def test_models_threads_and_clients(every_feed: Path, bits: Path, tmp_path: Path) -> None:
    """Each model, thread count and client has a row, in the order given, with clients last."""
    write_plain_client(tmp_path / "plain")
    found = bench(
        [every_feed, bits, every_feed],
        WORKLOADS,
        clients=find_clients(tmp_path),
        threads=[1, 1],
        rounds=1,
    )
    for compared in found.workloads:
        assert [(row.label, row.threads) for row in compared.rows] == [
            ("every-feed", 1),
            ("bits", 1),
            ("every-feed in plain", None),
            ("bits in plain", None),
        ]
    assert found.exit_code() == 0
    for model, path in zip(found.models, (every_feed, bits), strict=True):
        assert model.bytes == path.stat().st_size
        assert tuple(at.tokens for at in model.batch_tokens) == BUDGETS["cpu"]
        for at in model.batch_tokens:
            assert at.texts_per_second == pytest.approx(3 / at.timing.median)
        assert [at.workload for at in model.parts] == ["own", "single"]
        for at in model.parts:
            assert sum(map(at.share, PARTS)) == pytest.approx(1)


def test_files_of_one_name_go_by_their_paths(every_feed: Path, tmp_path: Path) -> None:
    """Two files of one name are told apart by their paths."""
    other = Path(shutil.copy(every_feed, tmp_path))
    found = bench([every_feed, other], WORKLOADS[:1], rounds=1)
    assert [one.name for one in found.models] == [str(every_feed), str(other)]
    assert found.workloads[0].rows[0].threads is None


def test_a_client_that_cannot_start_is_a_row(every_feed: Path, tmp_path: Path) -> None:
    """A client that cannot start has a row, and the others are measured."""
    folder = write_plain_client(tmp_path / "plain")
    file = folder / "harness.json"
    file.write_text(file.read_text().replace("support.clients.plain_client", "no_such_module"))
    found = bench([every_feed], WORKLOADS, clients=find_clients(tmp_path), rounds=1)
    assert [row.status for row in found.workloads[1].rows] == ["pass", "crash"]
    assert found.exit_code() == 1


def test_models_of_pairs_are_measured_by_themselves(every_feed: Path, tmp_path: Path) -> None:
    """Pairs are another kind of work, so these models are never compared with others."""
    reranker = write_reranker(tmp_path / "tiny-reranker.onnx")
    (workload,) = bench([reranker], WORKLOADS[:1], rounds=1).workloads
    assert [(row.model, row.texts) for row in workload.rows] == [("tiny-reranker", 3)]
    with pytest.raises(InputError, match="models of texts and of pairs do different work"):
        bench([reranker, every_feed], WORKLOADS[:1], rounds=1)
    tagger = write_zero_shot_tagger(tmp_path / "tiny-tagger.onnx")
    (workload,) = bench([tagger], WORKLOADS[:1], rounds=1).workloads
    assert [(row.model, row.texts) for row in workload.rows] == [("tiny-tagger", 3)]


def test_more_threads_than_processors(every_feed: Path) -> None:
    """The message says how many threads there can be."""
    with pytest.raises(InputError, match=f"expected 1 to {processors()}"):
        bench([every_feed], WORKLOADS, threads=[processors() + 1], rounds=1)


@pytest.mark.skipif(
    "CUDAExecutionProvider" in ort.get_available_providers(), reason="there may be a GPU here"
)
def test_a_device_that_is_not_there(every_feed: Path) -> None:
    """A missing device is never replaced by another one."""
    with pytest.raises(RequirementMissing, match="CUDAExecutionProvider is not available"):
        bench([every_feed], WORKLOADS, device="cuda", rounds=1)
