"""The image itself, in containers; ``nox -s container`` builds it where a builder is."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

from polybake.runtime.embedder import Embedder
from support.servers.containers import CONFINED, ENGINE, IMAGE, engine, inspected, running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ENGINE, reason="no image was built; run nox -s container"),
]

TEXTS = ["Hello, world", "", "Ein Satz auf Deutsch."]

#: Each place of the image's own where its user could leave something.
WRITABLE = """
import os
own = lambda path: not path.startswith(("/proc", "/sys", "/dev"))
print([path for path, *_ in os.walk("/") if own(path) and os.access(path, os.W_OK)])
"""


def test_a_mounted_model(every_feed: Path) -> None:
    """The vectors are the file's, nothing can be written, and SIGTERM ends it with 0."""
    with running("--volume", f"{every_feed}:/models/model.onnx:ro") as container:
        body = {"model": "every-feed", "input": TEXTS}
        answer = httpx.post(f"{container.url}/v1/embeddings", json=body).json()
        vectors = [one["embedding"] for one in answer["data"]]
        np.testing.assert_allclose(vectors, Embedder(every_feed).embed(TEXTS), atol=1e-6)
        first, *check = inspected(container.name)["Config"]["Healthcheck"]["Test"]
        assert first == "CMD"
        engine("exec", container.name, *check)
        assert container.ended() == 0


def test_minilm_baked_in(baked_minilm: Path, tmp_path: Path) -> None:
    """The two lines of docs/deploying.md make an image with MiniLM in it."""
    page = Path(__file__).parents[2] / "docs/deploying.md"
    (lines,) = (
        block.partition("\n")[2]
        for block in page.read_text("utf-8").split("```")[1::2]
        if "COPY" in block
    )
    (tmp_path / "Containerfile").write_text(lines)
    shutil.copy(baked_minilm, tmp_path)
    engine("build", "--file", tmp_path / "Containerfile", "--tag", "minilm-serve", tmp_path)
    with running(image="minilm-serve") as container:
        body = {"model": baked_minilm.stem, "input": TEXTS}
        answer = httpx.post(f"{container.url}/v1/embeddings", json=body).json()
    vectors = [one["embedding"] for one in answer["data"]]
    np.testing.assert_allclose(vectors, Embedder(baked_minilm).embed(TEXTS), atol=1e-6)


def test_there_is_no_shell_and_nothing_to_write() -> None:
    """An intruder finds Python alone, and is an unprivileged user."""
    for program in ("sh", "/bin/sh", "bash", "apt-get", "pip"):
        engine("run", "--rm", "--entrypoint", program, IMAGE, code=127)
    python = ("run", "--rm", "--entrypoint", "python", IMAGE, "-c")
    found = engine(*python, "import os; print(os.getuid(), os.getgid())")
    assert found.stdout.split() == ["65532", "65532"]
    assert engine(*python, WRITABLE).stdout.strip() == "[]"


def test_without_a_model_it_says_so() -> None:
    """One line names the place where the model was expected."""
    done = engine("run", "--rm", *CONFINED, IMAGE, code=2)
    assert "polybake: /models/model.onnx: cannot be read" in done.stderr


def test_it_can_be_stopped_before_it_listens(every_feed: Path) -> None:
    """Process 1 ignores signals by default, so a stop would wait out the whole grace period."""
    mount = f"{every_feed}:/models/model.onnx:ro"
    name = engine("run", "--detach", "--volume", mount, IMAGE).stdout.strip()
    started = time.monotonic()
    engine("stop", "--time", "20", name)
    assert time.monotonic() - started < 15
    engine("rm", name)
