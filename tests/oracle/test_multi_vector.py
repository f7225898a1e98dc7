"""Vectors of each token against sentence-transformers' MultiVectorEncoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders import bert, rotary
from models.folders.heads import named
from models.folders.saved import MAX_LENGTH
from models.folders.seeded import drawn, randomise
from models.folders.tiny_folders import change_json, write_json, write_tokenizer
from polybake.base.modelfile.fixture import Case
from support.oracle.agreement import Agreement, agreement_case_by_case, bake
from support.oracle.proven import HUGGING_FACE, Proven

BERT = [kind for kind in bert.KINDS if not kind.startswith("t5")]
MODERN = [kind for kind in rotary.KINDS if kind.startswith("modernbert")]
#: Kinds whose models every language verifies.
FIXED = {"strategy": "fixed", "length": 12}


def saved_body(folder: Path, kind: str, *added: str) -> Path:
    """A folder of transformers' own, whose tokenizer has more tokens."""
    import transformers

    if kind in bert.KINDS:
        model, tokenizer = bert.KINDS[kind]()
        tokenizer.model_max_length = MAX_LENGTH
    else:
        made = rotary.KINDS[kind]
        config = getattr(transformers, f"{made.model}Config")(**made.settings)
        model = transformers.AutoModel.from_config(config)
        folder.mkdir(parents=True)
        write_tokenizer(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    if added:
        tokenizer.add_tokens([*added])
        model.resize_token_embeddings(len(tokenizer))
    randomise(model).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if kind not in bert.KINDS:
        change_json(folder / "config.json", **rotary.KINDS[kind].rewritten)
    return folder


def saved(folder: Path, kind: str = "bert", skip: str = ".,:t", **settings: Any) -> Path:
    """A folder of the library: a projection, a skip list and a norm behind an encoder."""
    import torch
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.base.modules.dense import Dense
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    body = Transformer(str(saved_body(folder / "body", kind)), **settings)
    dense = Dense(
        body.get_embedding_dimension(),
        7,
        bias=False,
        activation_function=torch.nn.Identity(),
        module_input_name="token_embeddings",
    )
    randomise(dense)
    mask = MultiVectorMask(skiplist_words=[*skip])
    normalize = Normalize(module_input_name="token_embeddings")
    prompts = {"query": "the water: ", "document": "river "}
    library = MultiVectorEncoder(modules=[body, dense, mask, normalize], prompts=prompts)
    library.save(str(folder / "model"))
    return folder / "model"


def agreement_with_library(folder: Path, out: Path) -> Agreement:
    """Bake a folder and compare each golden case with the library, a text at a time."""
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.util.similarity import maxsim

    bake(folder, out, name="tiny-multi-vector")
    library = MultiVectorEncoder(str(folder), device="cpu")

    def given(case: Case) -> dict[str, Any]:
        if case.prompt == "query":
            texts = [library.encode_query([text])[0] for text in case.texts]
        else:  # without a prompt a text is a document
            prompt = None if case.prompt else ""
            texts = [library.encode_document([text], prompt=prompt)[0] for text in case.texts]
        scores = maxsim(texts[:1], texts)[0]
        answer = [
            {"rows": len(text), "max_sim": float(score)}
            for text, score in zip(texts, scores, strict=True)
        ]
        return {"embeddings": np.concatenate([text.numpy() for text in texts]), "answer": answer}

    return agreement_case_by_case(out, given)


@pytest.mark.parametrize("kind", [*BERT, *MODERN])
def test_agrees_with_sentence_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Every row of every text agrees, and so does each relevance."""
    folder = saved(tmp_path, kind, query_expansion=FIXED, document_length=20)
    found = agreement_with_library(folder, tmp_path / "tiny.onnx")
    proven(named(kind, "multi-vector"), found)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"query_length": 9},
        {"query_expansion": {**FIXED, "attend": True}},
        {"query_expansion": {"strategy": "min", "length": 9}},
        {"query_expansion": {"strategy": "min", "length": 9, "token": "boat"}, "query_length": 14},
    ],
    ids=["plain", "query cut", "attended", "at least 9", "9 to 14, another token"],
)
def test_queries(
    settings: dict[str, Any], tmp_path: Path, proven: Proven, request: pytest.FixtureRequest
) -> None:
    """Queries are cut, filled up and attended to as the library does."""
    found = agreement_with_library(saved(tmp_path, **settings), tmp_path / "tiny.onnx")
    variant = request.node.callspec.id
    proven(f"bert multi-vector, {variant}", found)


def test_without_a_skip_list(tmp_path: Path, proven: Proven) -> None:
    """Every token of a document has a vector if none is to be skipped."""
    folder = saved(tmp_path, skip="", query_expansion=FIXED)
    found = agreement_with_library(folder, tmp_path / "tiny.onnx")
    proven("bert multi-vector, nothing skipped", found)


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {
            "query_maxlen": 9,
            "doc_maxlen": 15,
            "mask_punctuation": False,
            "attend_to_mask_tokens": True,
        },
    ],
    ids=["", "metadata"],
)
def test_folders_of_stanford(metadata: dict[str, Any], tmp_path: Path, proven: Proven) -> None:
    """The projection lies beside the encoder, and markers are tokens of the vocabulary."""
    import torch
    from safetensors.torch import load_file, save_file

    folder = saved_body(tmp_path / "model", "bert", "[unused0]", "[unused1]")
    weights = {f"bert.{name}": one for name, one in load_file(folder / "model.safetensors").items()}
    save_file(
        weights | {"linear.weight": torch.from_numpy(drawn("linear.weight", (7, 24)))},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    change_json(folder / "config.json", architectures=["HF_ColBERT"])
    write_json(folder / "artifact.metadata", metadata)
    found = agreement_with_library(folder, tmp_path / "tiny.onnx")
    variant = ", with metadata" if metadata else ""
    proven(f"bert multi-vector, of ColBERT{variant}", found, source=HUGGING_FACE)


@pytest.mark.parametrize("settings", [{}, {"skiplist_words": ["the", "e"]}], ids=["", "words"])
def test_folders_of_pylate(settings: dict[str, Any], tmp_path: Path, proven: Proven) -> None:
    """Prefixes are tokens of their own, and masks and norms are not listed."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.base.modules.dense import Dense

    body = Transformer(str(saved_body(tmp_path / "body", "bert", "[Q] ", "[D] ")))
    dense = randomise(Dense(24, 7, bias=False, activation_function=torch.nn.Identity()))
    folder = tmp_path / "model"
    SentenceTransformer(modules=[body, dense]).save(str(folder))
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Dense", "type": "pylate.models.Dense.Dense"},
    ]
    write_json(folder / "modules.json", modules)
    config = {
        "in_features": 24,
        "out_features": 7,
        "bias": False,
        "activation_function": "torch.nn.modules.linear.Identity",
    }
    write_json(folder / "1_Dense" / "config.json", config)
    saved_settings = {
        "model_type": "ColBERT",
        "prompts": {},
        "default_prompt_name": None,
        "similarity_fn_name": "MaxSim",
        "query_prefix": "[Q] ",
        "document_prefix": "[D] ",
        "query_length": 12,
        "document_length": 20,
        "attend_to_expansion_tokens": False,
        "do_query_expansion": True,
        **settings,
    }
    write_json(folder / "config_sentence_transformers.json", saved_settings)
    found = agreement_with_library(folder, tmp_path / "tiny.onnx")
    variant = ", words skipped" if settings else ""
    proven(f"bert multi-vector, of PyLate{variant}", found)
