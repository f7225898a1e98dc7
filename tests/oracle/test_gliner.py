"""Spans for labels that are named with a text, against gliner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders.bert import KINDS
from models.folders.seeded import randomise
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import Case, decode_vectors, encode_vectors
from polybake.runtime.tokenization.label_prompt import labelled_words
from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from support.oracle.agreement import agreement, bake
from support.oracle.proven import Proven

pytest.importorskip("gliner")

SOURCE = "gliner folder"
OWN = ["[FLERT]", "<<ENT>>", "<<SEP>>"]


def saved(folder: Path, *, safetensors: bool = False, **settings: Any) -> Path:
    """A tiny model as the library saves it."""
    from gliner.config import UniEncoderSpanConfig
    from gliner.model import UniEncoderSpanGLiNER

    encoder, tokenizer = KINDS["deberta-v3"]()
    sizes = {"hidden_size": 20, "max_width": 4, "max_len": 24}
    config = UniEncoderSpanConfig(encoder_config=encoder.config.to_dict(), **sizes | settings)
    tokenizer.add_tokens(OWN, special_tokens=True)
    model = UniEncoderSpanGLiNER(config, tokenizer=tokenizer)
    model.resize_embeddings()
    # With others, most scores lie at 0 or 1.
    randomise(model.model, seed=12)
    model.save_pretrained(str(folder), safe_serialization=safetensors)
    return folder


class Library:
    """gliner's model, a text at a time."""

    def __init__(self, folder: Path) -> None:
        from gliner import GLiNER

        self.model = GLiNER.from_pretrained(str(folder), local_files_only=True).eval()

    def row(self, labels: list[str], words: list[str]) -> tuple[list[int], Any]:
        """Ids, and the probabilities ``[words, width, labels]``."""
        import torch

        processor, width = self.model.data_processor, self.model.config.max_width
        given = [{"tokenized_text": words, "ner": []}]
        raw = processor.collate_raw_batch(given, entity_types=labels)
        fed = processor.collate_fn(raw, prepare_labels=False)
        fed["text_lengths"] = raw["seq_length"]
        with torch.no_grad():
            logits = self.model.model(**fed, span_idx=raw["span_idx"], span_mask=raw["span_mask"])
        scores = torch.sigmoid(logits[0] if isinstance(logits, tuple) else logits.logits)
        return fed["input_ids"][0].tolist(), scores[0].numpy()[: len(words), :width]


def expected_cases(out: Path, library: Library) -> Iterator[Case]:
    """The golden cases of a file with the library's ids, scores and spans.

    The library cuts no tokens, and embeds a padding token where a text has no words; there the
    golden ones stay.
    """
    head = read_head(out)
    contract = head.manifest.contract
    tokenizer, width = BakedTokenizer.of(head.tokenizer, contract), contract.output.dimension
    for case in head.fixture.cases:
        golden = np.split(decode_vectors(case.embeddings), np.cumsum(counts_of(case, tokenizer)))
        ids, types, rows = [*case.input_ids], [*(case.type_ids or ())], golden[:-1]
        whole = set()
        for place, (prompt, text) in enumerate(case.texts):
            labels = prompt.removesuffix(OWN[2]).split(OWN[1])[1:]
            (found,) = labelled_words(tokenizer, [text])
            if not found:
                continue
            row, scores = library.row(labels, [text[one.start : one.end] for one in found])
            if len(row) > contract.max_length:
                continue
            whole.add(text)
            sizes = [len(one.ids) for one in found]
            first = {*(len(row) - 1 - sum(sizes) + np.cumsum([0, *sizes[:-1]])).tolist()}
            ids[place] = tuple(row)
            types[place] = tuple(2 * (token in first) for token in range(len(row)))
            behind = np.arange(len(found))[:, None] + np.arange(width) < len(found)
            rows[place] = (scores * behind[:, :, None]).transpose(0, 2, 1).reshape(-1, width)
        yield case.model_copy(
            update={
                "input_ids": tuple(ids),
                "type_ids": tuple(types),
                "embeddings": encode_vectors(np.concatenate(rows)),
                "answer": case.call and spans_of(library, case, whole),
            }
        )


def counts_of(case: Case, tokenizer: BakedTokenizer) -> list[int]:
    """How many rows each text of a case has."""
    words = labelled_words(tokenizer, [text for _, text in case.texts])
    labels = [prompt.count(OWN[1]) for prompt, _ in case.texts]
    return [len(one) * many for one, many in zip(words, labels, strict=True)]


def spans_of(library: Library, case: Case, whole: set[str]) -> Any:
    """What the library finds in texts that are no windows of longer ones; else the golden spans."""
    call = case.call or {}
    return [
        library.model.predict_entities(text, call["labels"], threshold=call["threshold"])
        if text in whole
        else golden
        for text, golden in zip(call["texts"], case.answer, strict=True)
    ]


@pytest.mark.parametrize(
    ("named", "settings"),
    [
        ("projection and LSTM", {}),
        ("two LSTMs", {"num_rnn_layers": 2}),
        ("neither", {"hidden_size": 24, "num_rnn_layers": 0}),
    ],
)
def test_agrees(named: str, settings: dict[str, Any], tmp_path: Path, proven: Proven) -> None:
    """Ids, the scores of all spans, and the spans that are found."""
    folder = saved(tmp_path / "model", safetensors=named == "neither", **settings)
    out = tmp_path / "tiny.onnx"
    bake(folder, out, name="tiny-gliner", pickle="tensors")
    expected = [*expected_cases(out, Library(folder))]
    assert sum(case.call is not None for case in expected) > 2
    found = agreement(out, expected)
    proven(f"deberta-v3 gliner, {named}", found, source=SOURCE, kept=not settings)
