"""Encoders exported by Optimum, sentence-transformers and txtai agree with their libraries.

`write_exports` makes them in an environment of its own: nox -s exports.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import polybake
from conftest import REQUIRED
from models.bake import bake
from polybake.baking.golden.golden import golden_cases
from polybake.baking.golden.texts import CaseText, user_cases
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import Source, open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import Case, encode_vectors
from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from support.oracle.agreement import agreement
from support.oracle.proven import Proven

POOL = [{"step": "pool", "mode": "mean"}]


@dataclass(frozen=True)
class Export:
    """An export, and what its library computes.

    Attributes:
        source: The tool and what it was told.
        file: What it wrote.
        texts: What was embedded, each alone.
        input_ids: Token ids by text.
        vectors: Embeddings by text.
    """

    source: str
    file: Path
    texts: list[str]
    input_ids: dict[str, list[int]]
    vectors: dict[str, NDArray[np.float64]]


def exports_folder(name: str, repository: Path) -> Path:
    """Where the nox session left an export."""
    folder = repository / "build" / "exports" / name
    if not folder.is_dir():
        reason = f"{folder} is missing; write it with: nox -s exports"
        if any(REQUIRED):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.fixture
def export(request: pytest.FixtureRequest, repository: Path) -> Export:
    """The export of the name that the test is given."""
    folder = exports_folder(request.param, repository)
    found: dict[str, Any] = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    texts = found["texts"]
    return Export(
        source=found["source"],
        file=folder / found["export"],
        texts=texts,
        input_ids=dict(zip(texts, found["input_ids"], strict=True)),
        vectors=dict(zip(texts, map(np.array, found["vectors"]), strict=True)),
    )


def bake_export(
    source: Source, steps: list[dict[str, object]] | None, out: Path
) -> tuple[str, ...]:
    """Bake with these steps, or the source's own; the steps as the manifest shows them."""
    specs = source.recipe if steps is None else steps
    resolved = resolve(specs, base=source.folder.path, source=source)
    return bake(source, resolved, out, name="tiny").manifest.steps


def expected(export: Export) -> list[Case]:
    """What the library computes, as golden cases."""
    return [
        Case(
            id=text.id,
            why=text.why,
            texts=text.texts,
            input_ids=tuple(tuple(export.input_ids[one]) for one in text.texts),
            embeddings=encode_vectors(
                np.stack([export.vectors[one] for one in text.texts]).astype(np.float32)
            ),
        )
        for text in user_cases(export.texts)
    ]


@pytest.mark.parametrize(
    ("export", "kind", "steps", "shown"),
    [
        ("optimum-bert", "bert", POOL, "pool"),
        ("optimum-roberta", "roberta", POOL, "pool"),
        ("optimum_whole-bert", "bert", None, ""),
        ("optimum_whole-roberta", "roberta", None, ""),
        ("onnx_backend-bert", "bert", None, "pool dense normalize"),
        ("onnx_backend-roberta", "roberta", None, "pool dense normalize"),
        ("onnx_backend_optimized-bert", "bert", None, "pool dense normalize"),
        ("txtai-bert", "bert", POOL, "pool"),
        ("txtai_pooling-bert", "bert", None, "dense normalize"),
        ("txtai_cls-bert", "bert", None, "dense normalize"),
    ],
    indirect=["export"],
)
def test_agrees_with_its_library(
    export: Export,
    kind: str,
    steps: list[dict[str, object]] | None,
    shown: str,
    tmp_path: Path,
    proven: Proven,
) -> None:
    """Ids are equal, vectors agree alone and in a batch, and no step is done twice."""
    out = tmp_path / "out.onnx"
    baked = bake_export(open_source(export.file), steps, out)
    assert " ".join(step.partition("(")[0] for step in baked) == shown
    proven(kind, agreement(out, expected(export)), source=export.source)


@pytest.mark.parametrize(
    "export", ["optimum_classifier-bert", "txtai_classifier-bert"], indirect=True
)
def test_a_classifier_agrees_with_its_library(
    export: Export, tmp_path: Path, proven: Proven
) -> None:
    """The config.json beside the file decides how logits become scores."""
    out = tmp_path / "out.onnx"
    polybake.bake(export.file, out, name="tiny")
    assert read_head(out).manifest.contract.settings == {"labels": ["joy", "fear", "none"]}
    proven("bert classifier", agreement(out, expected(export)), source=export.source)


def exported(name: str, repository: Path) -> tuple[Path, dict[str, Any]]:
    """What a tool wrote, and what transformers' pipeline finds in contexts."""
    folder = exports_folder(name, repository)
    found: dict[str, Any] = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    return folder / found["export"], found


def answered(out: Path, contexts: list[str]) -> Any:
    """The golden answer of a baked file for these texts."""
    case = CaseText("contexts", "", (), None, tuple(contexts))
    (found,) = golden_cases([case], Embedder(out).runner, None)
    return found.answer


def test_a_tagger_finds_the_pipelines_spans(repository: Path, tmp_path: Path) -> None:
    """The graph ends in logits of tokens, which config.json names."""
    file, found = exported("optimum_tagger-bert", repository)
    out = tmp_path / "out.onnx"
    polybake.bake(file, out, name="tiny")
    assert read_head(out).manifest.contract.settings["labels"][:2] == ["O", "B-PER"]
    first, *_ = answered(out, found["contexts"])
    spans = [[[one["label"], one["start"], one["end"]] for one in text] for text in first]
    assert spans == found["spans"]
    assert any(spans)


@pytest.mark.parametrize("name", ["optimum_answerer-bert", "txtai_answerer-bert"])
def test_an_answerer_finds_the_pipelines_answers(
    name: str, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best tokens lie in the best words; their score is equal."""
    file, found = exported(name, repository)
    monkeypatch.setattr("polybake.baking.tasks.answer._QUESTION", found["question"])
    out = tmp_path / "out.onnx"
    polybake.bake(file, out, name="tiny")
    for answers, (score, start, end) in zip(
        answered(out, found["contexts"]), found["answers"], strict=True
    ):
        best = answers[0]
        assert best["score"] == pytest.approx(score, rel=1e-4)
        assert best["start"] <= start < end <= best["end"]


@pytest.mark.parametrize("export", ["txtai_pooling-bert", "optimum_whole-bert"], indirect=True)
def test_pools_once(export: Export, tmp_path: Path) -> None:
    """A pool step goes over token embeddings where there are some; else it is refused."""
    source = open_source(export.file)
    out = tmp_path / "out.onnx"
    if source.encoder == source.pooled:
        with pytest.raises(InputError, match=r"'encoder\.embeddings' is .*one vector a text"):
            bake_export(source, POOL, out)
        assert not out.exists()
    else:
        assert bake_export(source, POOL, out) == ("pool(mode=mean)",)
