"""Sparse embeddings against sentence-transformers' SparseEncoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders import bert, rotary
from models.folders.heads import named
from models.folders.saved import MAX_LENGTH
from models.folders.seeded import randomise
from models.folders.tiny_folders import change_json, write_tokenizer
from polybake.base.modelfile.fixture import Case
from support.oracle.agreement import Agreement, agreement_case_by_case, bake
from support.oracle.proven import Proven

BERT = [kind for kind in bert.KINDS if not kind.startswith(("bart", "gpt2", "t5", "deberta"))]
MODERN = [kind for kind in rotary.KINDS if kind.startswith("modernbert")]
#: Kinds whose models every language verifies.


def saved_masked_lm(folder: Path, kind: str, **settings: Any) -> Path:
    """A folder of transformers' own, with a masked language model's head."""
    import transformers

    if kind in bert.KINDS:
        model, tokenizer = bert.KINDS[kind]()
        config = model.config
        tokenizer.model_max_length = MAX_LENGTH
        tokenizer.save_pretrained(folder)
    else:
        made = rotary.KINDS[kind]
        config = getattr(transformers, f"{made.model}Config")(**made.settings)
    for name, value in settings.items():
        setattr(config, name, value)
    randomise(transformers.AutoModelForMaskedLM.from_config(config)).save_pretrained(folder)
    if kind not in bert.KINDS:
        change_json(folder / "config.json", **rotary.KINDS[kind].rewritten)
        write_tokenizer(folder)
        transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    return folder


def saved(folder: Path, kind: str = "bert", **settings: Any) -> Path:
    """A sparse encoder as the library saves it, with its pooling."""
    from sentence_transformers import SparseEncoder

    plain = saved_masked_lm(folder / "plain", kind)
    SparseEncoder(str(plain), device="cpu", **settings).save(str(folder / "model"))
    return folder / "model"


def agreement_with_library(folder: Path, out: Path) -> Agreement:
    """Bake a folder and compare each golden case with the library, a text at a time."""
    from sentence_transformers import SparseEncoder

    bake(folder, out, name="tiny-sparse")
    library = SparseEncoder(str(folder), device="cpu")

    def given(case: Case) -> dict[str, Any]:
        vectors = np.stack([encoded(library, case, text) for text in case.texts])
        tokens = library.tokenizer.convert_ids_to_tokens(range(vectors.shape[1]))
        answer = [
            [
                {"token": tokens[place] or "", "score": float(row[place])}
                for place in np.argsort(-row, kind="stable")[:8]
                if row[place] > 0
            ]
            for row in vectors
        ]
        return {"embeddings": vectors, "answer": answer}

    return agreement_case_by_case(out, given)


def encoded(library: Any, case: Case, text: str) -> np.ndarray:
    """The dense weights of one text, by the method of its prompt's name."""
    encode = {"query": library.encode_query, "document": library.encode_document}
    found = encode.get(case.prompt, library.encode)([text])
    weights: np.ndarray = found.to_dense().numpy()[0]
    return weights


@pytest.mark.parametrize("kind", [*BERT, *MODERN])
def test_agrees_with_sentence_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Every weight agrees, and so do the names of the heaviest tokens."""
    found = agreement_with_library(saved(tmp_path, kind), tmp_path / "tiny.onnx")
    proven(named(kind, "sparse"), found)


def test_a_table_of_its_own(tmp_path: Path, proven: Proven) -> None:
    """The output table of a head need not be tied to the embeddings."""
    from sentence_transformers import SparseEncoder

    plain = saved_masked_lm(tmp_path / "plain", "bert", tie_word_embeddings=False)
    SparseEncoder(str(plain), device="cpu").save(str(tmp_path / "model"))
    found = agreement_with_library(tmp_path / "model", tmp_path / "tiny.onnx")
    proven("bert sparse, not tied", found)


@pytest.mark.parametrize("pooling", ["max", "sum"])
@pytest.mark.parametrize("activation", ["relu", "log1p_relu"])
def test_poolings(pooling: str, activation: str, tmp_path: Path, proven: Proven) -> None:
    """Every pooling and activation agrees, with prompts and only the nine largest weights kept."""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sparse_encoder.modules import SpladePooling

    plain = saved_masked_lm(tmp_path / "plain", "bert")
    modules = [
        Transformer(str(plain), transformer_task="fill-mask"),
        SpladePooling(pooling_strategy=pooling, activation_function=activation),
    ]
    prompts = {"query": "the water: ", "document": ""}
    SparseEncoder(modules=modules, device="cpu", max_active_dims=9, prompts=prompts).save(
        str(tmp_path / "model")
    )
    found = agreement_with_library(tmp_path / "model", tmp_path / "tiny.onnx")
    proven(f"bert sparse, {pooling} of {activation}", found)


def test_without_an_encoder(tmp_path: Path, proven: Proven) -> None:
    """A table of one weight a token needs no encoder."""
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding

    _, tokenizer = bert.KINDS["bert"]()
    weights = torch.linspace(0.1, 3, len(tokenizer))
    SparseEncoder(modules=[SparseStaticEmbedding(tokenizer, weights)]).save(str(tmp_path / "model"))
    found = agreement_with_library(tmp_path / "model", tmp_path / "tiny.onnx")
    proven("static_embedding sparse", found)


def test_queries_without_an_encoder(tmp_path: Path, proven: Proven) -> None:
    """One file holds a table for queries and an encoder for documents."""
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.base.modules import Router, Transformer
    from sentence_transformers.sparse_encoder.modules import (
        SparseStaticEmbedding,
        SpladePooling,
    )

    plain = saved_masked_lm(tmp_path / "plain", "distilbert")
    transformer = Transformer(str(plain), transformer_task="fill-mask")
    weights = torch.linspace(0.1, 3, len(transformer.tokenizer))
    # Without special tokens there is room for more of a long query; here there is as much.
    static = SparseStaticEmbedding(transformer.tokenizer, weights)
    router = Router.for_query_document([static], [transformer, SpladePooling()])
    SparseEncoder(modules=[router]).save(str(tmp_path / "model"))
    found = agreement_with_library(tmp_path / "model", tmp_path / "tiny.onnx")
    proven("distilbert sparse, queries by a table", found)
