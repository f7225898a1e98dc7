"""A client behind its harness."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.study.bench.expected import expected
from polybake.study.bench.running_client import RunningClient
from polybake.verification.harness.harness_file import read_client
from polybake.verification.verdict import HarnessError, Status
from support.clients.plain_client import write_plain_client

pytestmark = pytest.mark.slow

TEXTS = ["one", "two words"]


@pytest.mark.parametrize("model", ["every_feed", "bits"])
def test_right_vectors_pass(model: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Floats within the tolerance, integers within their slack; then the process ends."""
    embedder = Embedder(request.getfixturevalue(model))
    client = RunningClient(read_client(write_plain_client(tmp_path / "plain")), embedder)
    client.check(expected(embedder, "own", TEXTS))
    assert client.embed(TEXTS)["shape"] == [2, embedder.dimension]
    client.close()
    assert client._harness._process.returncode is not None


@pytest.mark.parametrize("model", ["every_feed", "bits"])
def test_wrong_vectors_fail(model: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The row and the element are named."""
    embedder = Embedder(request.getfixturevalue(model))
    folder = write_plain_client(tmp_path / "plain", "one-element")
    client = RunningClient(read_client(folder), embedder)
    with pytest.raises(HarnessError, match="row 1, element 0: ") as caught:
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
