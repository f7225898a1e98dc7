"""Three outputs of one pass against BGE-M3's formula over transformers' hidden states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.folders.bert import KINDS
from models.folders.saved import MAX_LENGTH
from models.folders.seeded import randomise
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors, encode_vectors
from polybake.base.modelfile.tolerance import relative_difference
from polybake.verification.judging.answers import compare_answers
from support.oracle.agreement import agreement, bake
from support.oracle.proven import Proven

Floats = NDArray[np.float32]


def saved(folder: Path) -> Path:
    """An XLM-RoBERTa of sentence-transformers, with BGE-M3's layers as PyTorch saves them."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    model, tokenizer = KINDS["xlm-roberta"]()
    randomise(model).save_pretrained(folder / "body")
    tokenizer.save_pretrained(folder / "body")
    body = Transformer(str(folder / "body"), max_seq_length=MAX_LENGTH)
    size = body.get_embedding_dimension()
    modules = [body, Pooling(size, pooling_mode="cls"), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder / "model"))
    for seed, (name, outputs) in enumerate({"sparse_linear": 1, "colbert_linear": 7}.items()):
        layer = randomise(torch.nn.Linear(size, outputs), seed=seed)
        torch.save(layer.state_dict(), folder / "model" / f"{name}.pt")
    return folder / "model"


class M3:
    """BGE-M3 in NumPy, a text at a time, but for its encoder.

    Source: FlagEmbedding 1.3 ``EncoderOnlyEmbedderM3ModelForInference.forward`` and
    ``M3Embedder.encode_single_device``.
    """

    def __init__(self, folder: Path) -> None:
        import torch
        import transformers

        self.encoder = transformers.AutoModel.from_pretrained(folder).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.sparse, self.colbert = (
            {key: one.numpy() for key, one in torch.load(folder / f"{name}.pt").items()}
            for name in ("sparse_linear", "colbert_linear")
        )
        kept = self.tokenizer.special_tokens_map
        names = ("cls_token", "eos_token", "pad_token", "unk_token")
        self.unused = {self.tokenizer.convert_tokens_to_ids(kept[name]) for name in names}

    def encode(self, ids: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
        """Return the dense vector, each token's weight, and each token's vector but the first's."""
        import torch

        with torch.no_grad():
            hidden = self.encoder(torch.tensor([ids])).last_hidden_state[0].numpy()
        dense = hidden[0] / np.linalg.norm(hidden[0])
        weights = np.maximum(hidden @ self.sparse["weight"].T + self.sparse["bias"], 0)
        vectors = hidden[1:] @ self.colbert["weight"].T + self.colbert["bias"]
        return dense, weights[:, 0], vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)

    def lexical_weights(self, ids: tuple[int, ...], weights: Floats) -> dict[int, float]:
        """Return the largest weight of each token id but those of special tokens."""
        largest: dict[int, float] = {}
        for weight, token in zip(weights.tolist(), ids, strict=True):
            if token not in self.unused and weight > largest.get(token, 0.0):
                largest[token] = weight
        return largest


def test_agrees_with_the_formula(tmp_path: Path, proven: Proven) -> None:
    """Every element of every output, each text's sparse vector, and all token ids."""
    folder, out = saved(tmp_path), tmp_path / "tiny.onnx"
    bake(folder, out, name="tiny-hybrid", task="hybrid", pickle="tensors")
    library, cases, expected, largest = M3(folder), read_head(out).fixture.cases, [], []
    assert len(cases) > 10
    for case in cases:
        ids = library.tokenizer(list(case.texts), truncation=True, max_length=MAX_LENGTH)
        assert [*map(tuple, ids["input_ids"])] == [*case.input_ids]
        texts = [library.encode(row) for row in case.input_ids]
        special = np.isin(np.concatenate([row[1:] for row in case.input_ids]), [*library.unused])
        weights = np.concatenate([weights[1:] for _, weights, _ in texts])
        outputs: list[Any] = [
            np.stack([dense for dense, _, _ in texts]),
            np.where(special, 0, weights)[:, None],
            np.concatenate([vectors for _, _, vectors in texts]),
        ]
        for mine, other in zip(case.vectors, outputs, strict=True):
            largest.append(relative_difference(decode_vectors(mine), other))
        answer = []
        for row, (_, weights, vectors) in zip(case.input_ids, texts, strict=True):
            ranked = sorted(
                (-one, token) for token, one in library.lexical_weights(row, weights).items()
            )
            heaviest = [{"index": token, "score": -weight} for weight, token in ranked[:8]]
            answer.append({"weights": heaviest, "rows": len(vectors)})
        assert compare_answers(answer, case.answer, top=8) is None
        expected.append(
            case.with_vectors([encode_vectors(one.astype(np.float32)) for one in outputs])
        )
    assert max(largest) < 1e-5
    print(f"\nlargest difference of all outputs: {max(largest):.2e}")  # noqa: T201
    found = agreement(out, expected)
    proven("xlm-roberta hybrid", found)


def test_dense_alone_agrees_with_sentence_transformers(tmp_path: Path) -> None:
    """The dense output is what the library gives for the same folder."""
    from sentence_transformers import SentenceTransformer

    folder, out = saved(tmp_path), tmp_path / "tiny.onnx"
    bake(folder, out, name="tiny-hybrid", task="hybrid", pickle="tensors")
    library = SentenceTransformer(str(folder), device="cpu")
    for case in read_head(out).fixture.cases:
        expected = np.stack([library.encode([text])[0] for text in case.texts])
        assert relative_difference(decode_vectors(case.embeddings), expected) < 1e-5
