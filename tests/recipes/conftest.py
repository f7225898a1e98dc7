"""A client under the name that the recipes import, of a model whose prompts matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.files.prompted import DOCUMENTS, NEAREST, QUERY, WRONG, write_prompted
from polybake.base.modelfile import container
from support.clients.rendered import write

RECIPES = Path(__file__).resolve().parents[2] / "recipes" / "python"


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The model file; from here on its client and the recipes can be imported."""
    path = write_prompted(tmp_path_factory.mktemp("model") / "all-minilm-l6-v2.onnx")
    client = write("python", tmp_path_factory.mktemp("client"), path)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(client / "src")
        patch.syspath_prepend(RECIPES)
        yield path


@pytest.fixture(scope="session")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with other weights, which the same client opens."""
    return write_prompted(tmp_path_factory.mktemp("model") / "all-minilm-l6-v2.onnx", seed=2)


@pytest.fixture
def compared_by(model: Path, tmp_path: Path) -> Callable[[str], Path]:
    """The same model as a file that says by what its vectors are compared."""

    def written(similarity: str) -> Path:
        head = container.read_head(model)
        tail, path = tmp_path / "tail", tmp_path / f"{similarity}.onnx"
        tail.write_bytes(model.read_bytes()[head.tail_offset :])
        manifest = head.manifest.model_copy(update={"similarity": similarity})
        words = head.tokenizer
        container.write(path, tail, manifest, words, head.fixture)
        return path

    return written


@pytest.fixture(scope="session")
def embedder(model: Path) -> Any:
    """The client's own, by which a mix-up of prompts is seen."""
    from all_minilm_l6_v2 import Embedder

    made = Embedder(model)
    assert found_by_direction(made) == [NEAREST, WRONG, WRONG, WRONG, WRONG]
    return made


def found_by_direction(embedder: Any) -> list[str]:
    """What is nearest where prompts are right, and where they are mixed up in any way."""
    queries, documents, plain = embedder.embed_queries, embedder.embed_documents, embedder.embed
    mixed = [(documents, documents), (queries, queries), (documents, queries), (plain, plain)]
    return [
        DOCUMENTS[np.argmax(of_documents(DOCUMENTS) @ of_query([QUERY])[0])]
        for of_query, of_documents in [(queries, documents), *mixed]
    ]


@pytest.fixture(scope="session")
def similarities(embedder: Any) -> dict[str, float]:
    """The cosine of every document with the query, nearest first."""
    cosines = embedder.embed_documents(DOCUMENTS) @ embedder.embed_query(QUERY)
    by_text = dict(zip(DOCUMENTS, cosines.tolist(), strict=True))
    return dict(sorted(by_text.items(), key=lambda item: -item[1]))
