"""Static embeddings against sentence-transformers and model2vec: baked tiny models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from models.folders.saved import wordpiece_vocabulary
from polybake.baking.golden.golden import cases_for, make_fixture
from polybake.baking.golden.texts import CaseText
from support.oracle.agreement import (
    agreement,
    agreement_with_folder,
    agreement_with_source,
    as_given,
    bake_source,
)
from support.oracle.proven import Proven

SIZE = 7
VOCABULARY = wordpiece_vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]")
LONG = CaseText("long", "", (), None, ("water boats " * 40, "a", "", "\u4e2d"))


@pytest.mark.parametrize("limit", [None, 6])
def test_agrees_with_sentence_transformers(
    limit: int | None, tmp_path: Path, proven: Proven
) -> None:
    """Ids are equal, tokenizer.json's own truncation is kept, and no tokens give zeros."""
    sentence_transformers = pytest.importorskip("sentence_transformers")
    from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding

    module = StaticEmbedding(tokenizer(limit), embedding_weights=table())
    model = sentence_transformers.SentenceTransformer(
        modules=[module, Normalize()], device="cpu", prompts={"query": "query: "}
    )
    model.save(str(tmp_path / "saved"))
    baked = bake_source(tmp_path / "saved", tmp_path / "tiny.onnx")
    cases = [*cases_for(baked), LONG]
    proven("static_embedding", agreement_with_source(tmp_path / "saved", baked, cases))


@pytest.mark.parametrize("folder", ["", "0_StaticEmbedding", "."])
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_model2vec_layout_agrees(folder: str, dtype: str, tmp_path: Path, proven: Proven) -> None:
    """A quantized vocabulary's mapping and weights are used as sentence-transformers does."""
    pytest.importorskip("sentence_transformers")
    saved = write_model2vec(tmp_path / "saved", folder, np.dtype(dtype))
    proven(f"model2vec, {dtype}", agreement_with_folder(saved, tmp_path / "tiny.onnx"))


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("mapped", [True, False])
def test_agrees_with_model2vec(
    dtype: str, normalize: bool, mapped: bool, tmp_path: Path, proven: Proven
) -> None:
    """A folder that lacks modules.json follows model2vec: its limit, and no unknown tokens."""
    model2vec = pytest.importorskip("model2vec", reason="model2vec is not installed")
    vectors = table(9 if mapped else len(VOCABULARY))
    if dtype == "int8":
        vectors = np.rint(vectors * 127 / np.abs(vectors).max()).astype(np.int8)
    random = np.random.default_rng(3)
    quantized = {
        "weights": random.uniform(0.5, 2, len(VOCABULARY)).astype(np.float32),
        "token_mapping": random.integers(0, 9, len(VOCABULARY)),
    }
    model = model2vec.StaticModel(
        vectors,
        tokenizer(None),
        normalize=normalize,
        max_length=11,
        **(quantized if mapped else {}),
    )
    saved = tmp_path / "saved"
    model.save_pretrained(saved)
    (saved / "modules.json").unlink()
    baked = bake_source(saved, tmp_path / "tiny.onnx")
    golden = []
    for case in make_fixture(baked, [*cases_for(baked), LONG]).cases:
        unknown = VOCABULARY["[UNK]"]
        ids = [[one for one in row if one != unknown] for row in case.input_ids]
        # What encode() does before it tokenizes.
        cut = [text[: model.max_length * model.median_token_length] for text in case.texts]
        assert ids == model.tokenize(cut), case.id
        golden.append(as_given(case, {"embeddings": model.encode(list(case.texts))}))
    proven(f"model2vec, {dtype}", agreement(baked, golden), source="model2vec folder")


def table(rows: int = len(VOCABULARY)) -> np.ndarray:
    return np.random.default_rng(2).normal(0, 0.2, (rows, SIZE)).astype(np.float32)


def tokenizer(limit: int | None) -> Tokenizer:
    """A tokenizer that adds special tokens and pads; a static embedding must do neither."""
    made = Tokenizer(models.WordPiece(VOCABULARY, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.enable_padding(length=9)
    if limit is not None:
        made.enable_truncation(limit, direction="left")
    return made


def write_model2vec(saved: Path, folder: str, dtype: np.dtype[np.floating]) -> Path:
    """Let sentence-transformers save a model, and give it a quantized vocabulary's tensors."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    inner = saved / folder
    inner.mkdir(parents=True)
    module = StaticEmbedding(tokenizer(None), embedding_weights=table())
    SentenceTransformer(modules=[module], device="cpu").save(str(saved))
    random = np.random.default_rng(3)
    tensors = {
        "embeddings": table(9).astype(dtype),
        "mapping": random.integers(0, 9, len(VOCABULARY)),
        "weights": random.uniform(0.5, 2, len(VOCABULARY)).astype(np.float32),
    }
    assert list(load_file(saved / "model.safetensors")) == ["embedding.weight"]
    (saved / "tokenizer.json").replace(inner / "tokenizer.json")
    (saved / "model.safetensors").unlink()
    save_file(tensors, inner / "model.safetensors")
    modules = (saved / "modules.json").read_text("utf-8")
    (saved / "modules.json").write_text(modules.replace('"path": ""', f'"path": "{folder}"'))
    return saved
