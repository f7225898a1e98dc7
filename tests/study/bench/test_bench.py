"""A benchmark: models and clients, each checked and timed in turns."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

from models.files.task_models import write_reranker
from polybake.errors import InputError, RequirementMissing
from polybake.runtime.embedder import Embedder
from polybake.study.bench.bench import BUDGETS, bench
from polybake.study.bench.client import RunningClient, expected
from polybake.study.bench.comparison import Candidate, compare
from polybake.study.bench.profile import PARTS
from polybake.study.bench.workload import Workload
from polybake.verification.harness.harness_file import find_clients, read_client
from polybake.verification.verdict import HarnessError, Status
from support.clients.plain_client import write_plain_client

pytestmark = pytest.mark.slow

WORKLOADS = [
    Workload("own", "three texts", ("one", "two words", "three")),
    Workload("single", "one of them", ("one", "two words", "three"), single=True),
]
TEXTS = ["one", "", "two words", "a", "b c"]


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


@pytest.mark.skipif(
    "CUDAExecutionProvider" in ort.get_available_providers(), reason="there may be a GPU here"
)
def test_a_device_that_is_not_there(every_feed: Path) -> None:
    """A missing device is never replaced by another one."""
    with pytest.raises(RequirementMissing, match="CUDAExecutionProvider is not available"):
        bench([every_feed], WORKLOADS, device="cuda", rounds=1)


def test_rows_of_threads(every_feed: Path) -> None:
    """Each row has its own times, and its ratio is that of the medians."""
    candidates = [Candidate("m", Embedder(every_feed, threads=n), n) for n in (1, 1)]
    told: list[str] = []
    found = compare(WORKLOADS[0], candidates, 3, told.append)
    first, second = found.rows
    assert first.ratio == 1
    assert second.ratio == pytest.approx(first.timing.median / second.timing.median)
    assert (first.texts, first.tokens, first.client) == (3, 22, None)
    assert told[0] == "three texts: warm-up"
    single = compare(WORKLOADS[1], candidates, 2, told.append).rows[0]
    assert [len(calls) for calls in single.timing.seconds] == [40, 40]
    assert single.texts == 1


@pytest.mark.parametrize(
    ("fault", "status"), [("one-element", Status.FAIL), ("crash-later", Status.CRASH)]
)
def test_a_client_that_fails_has_no_figures(
    every_feed: Path, tmp_path: Path, fault: str, status: Status
) -> None:
    """A client may fail before or while it is timed; it is asked no more, and the others go on."""
    embedder = Embedder(every_feed)
    candidates = [Candidate("m", embedder)]
    for language, planted in (("right", "none"), ("wrong", fault)):
        folder = write_plain_client(tmp_path / language, planted, language)
        running = RunningClient(read_client(folder), embedder)
        candidates.append(Candidate("m", embedder, client=language, running=running))
    for workload in WORKLOADS:
        own, right, wrong = compare(workload, candidates, 1, lambda _: None).rows
        assert own.timing
        assert right.timing
        assert (right.client, right.status) == ("right", Status.PASS)
        assert (wrong.status, wrong.timing, wrong.ratio) == (status, None, None)
        assert wrong.message
    for candidate in candidates[1:]:
        candidate.running.close()


@pytest.mark.parametrize("model", ["every_feed", "bits"])
def test_right_vectors_pass(model: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Floats within the tolerance, integers within their slack; then the process ends."""
    embedder = Embedder(request.getfixturevalue(model))
    client = RunningClient(read_client(write_plain_client(tmp_path / "plain")), embedder)
    client.check(expected(embedder, "own", TEXTS))
    assert client.embed(TEXTS)["shape"] == [5, embedder.dimension]
    client.close()
    assert client._harness._process.returncode is not None


@pytest.mark.parametrize("model", ["every_feed", "bits"])
def test_wrong_vectors_fail(model: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The row and the element are named."""
    embedder = Embedder(request.getfixturevalue(model))
    folder = write_plain_client(tmp_path / "plain", "one-element")
    client = RunningClient(read_client(folder), embedder)
    with pytest.raises(HarnessError, match="row 4, element 0: ") as caught:
        client.check(expected(embedder, "own", TEXTS))
    assert caught.value.status is Status.FAIL
    client.close()


def test_a_client_of_another_contract(every_feed: Path, tmp_path: Path) -> None:
    """The message names the client's folder and the remedy."""
    folder = write_plain_client(tmp_path / "plain", "other-contract")
    with pytest.raises(InputError, match=r"plain: contract\.max_length .*; give the clients of "):
        RunningClient(read_client(folder), Embedder(every_feed))


def test_a_client_that_does_not_start(every_feed: Path, tmp_path: Path) -> None:
    """A client that ends at once crashed, unless it may have to be prepared first."""
    folder = write_plain_client(tmp_path / "plain")
    client = read_client(folder).model_copy(update={"run": (sys.executable, "-c", "1")})
    with pytest.raises(HarnessError) as caught:
        RunningClient(client, Embedder(every_feed))
    assert caught.value.status is Status.CRASH
    client = client.model_copy(update={"prepare": (("make",),)})
    with pytest.raises(HarnessError, match="polybake verify --prepare") as caught:
        RunningClient(client, Embedder(every_feed))
    assert caught.value.status is Status.MISSING_TOOLCHAIN


def test_the_models_own_vectors(every_feed: Path) -> None:
    """Vectors and ids are the model's own, in the order of the texts."""
    embedder = Embedder(every_feed)
    golden = expected(embedder, "own", TEXTS)
    assert np.array_equal(golden.vectors, embedder.embed(TEXTS))
    assert [list(row) for row in golden.case.input_ids] == embedder.tokenize(TEXTS)
    assert golden.slack is None


def test_integers_may_differ_at_an_edge(bits: Path) -> None:
    """Each element has its slack, and hardly any has more than none."""
    golden = expected(Embedder(bits), "own", TEXTS)
    assert golden.slack is not None
    assert golden.slack.packed_bits
    assert golden.slack.values.shape == golden.vectors.shape == (5, 1)
    assert np.unpackbits(golden.slack.values).mean() < 0.05
