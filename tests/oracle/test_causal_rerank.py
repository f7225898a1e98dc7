"""Rerankers that are language models against sentence-transformers, and their authors' own code."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polybake
from models.folders.causal import TEMPLATE, write_logit_score
from models.folders.tiny_folders import change_json
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import encode_vectors
from support.oracle.agreement import Agreement, agreement_of_pairs
from support.oracle.proven import FOLDER, Proven

pytestmark = pytest.mark.oracle
pytest.importorskip("sentence_transformers")

#: Ids and scores of pairs, which are padded on the left.
Scorer = Callable[[Sequence[tuple[str, str]]], tuple[list[list[int]], list[float]]]

IDENTITY = "torch.nn.modules.linear.Identity"

#: Messages as a list of contents, in a loop, with a variable and a condition.
STRUCTURED = (
    "{%- for message in messages %}\n"
    "{%- if message.role == 'query' %}\n"
    "{{- '<|im_start|>system\\n' + message.content[0].text + '<|im_end|>\\n' -}}\n"
    "{%- elif message.role == 'document' %}\n"
    "{{- '<|im_start|>user\\n' + message.content[0].text + '<|im_end|>\\n' -}}\n"
    "{%- endif %}\n"
    "{%- endfor %}\n"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def agreement_with(score: Scorer, out: Path) -> Agreement:
    """Compare each golden case of a file with what its authors' code gives."""
    expected = []
    for case in read_head(out).fixture.cases:
        ids, scores = score([(first, second) for first, second in case.texts])
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        expected.append(
            case.model_copy(
                update={
                    "input_ids": tuple(map(tuple, ids)),
                    "type_ids": tuple((0,) * len(row) for row in ids),
                    "embeddings": encode_vectors(np.array(scores, np.float32)[:, None]),
                    "answer": [{"index": place, "score": scores[place]} for place in order],
                }
            )
        )
    assert len(expected) > 10
    assert len({round(score, 4) for case in expected for score in decoded(case)}) > 10
    return agreement_of_pairs(out, expected)


def decoded(case: Any) -> list[float]:
    return [rank["score"] for rank in case.answer]


def cross_encoder(folder: Path) -> Scorer:
    """sentence-transformers' CrossEncoder."""
    from sentence_transformers import CrossEncoder

    library = CrossEncoder(str(folder), device="cpu")

    def score(pairs: Sequence[tuple[str, str]]) -> tuple[list[list[int]], list[float]]:
        rows = library.preprocess([*pairs], prompt=system(library))
        kept = zip(rows["input_ids"], rows["attention_mask"], strict=True)
        return [ids[mask == 1].tolist() for ids, mask in kept], library.predict([*pairs]).tolist()

    return score


def system(library: Any) -> str | None:
    """The prompt that ``predict`` takes by itself."""
    found: str | None = library.prompts.get(library.default_prompt_name)
    return found


@pytest.mark.parametrize(
    ("named", "kind", "changes"),
    [
        ("qwen3 yes/no", "qwen3", {}),
        ("qwen2 yes/no", "qwen2", {}),
        ("one token, as it is", "qwen3", {"tokens": ("yes", None), "activation_fn": IDENTITY}),
        (
            "its own instruction",
            "qwen3",
            {"prompts": {"web": "Find the pages."}, "default_prompt_name": "web"},
        ),
    ],
)
def test_agrees_with_sentence_transformers(
    named: str, kind: str, changes: dict[str, Any], tmp_path: Path, proven: Proven
) -> None:
    """Ids, scores and their order agree for every built-in case, of cut documents, too."""
    folder = write_logit_score(tmp_path / "model", kind, **changes)
    polybake.bake(folder, tmp_path / "tiny.onnx", name="tiny-causal")
    found = agreement_with(cross_encoder(folder), tmp_path / "tiny.onnx")
    proven(f"{kind} causal reranker, {named}", found, source=FOLDER, kept=named == "qwen3 yes/no")


def test_messages_may_be_structured(tmp_path: Path, proven: Proven) -> None:
    """And a template told to begin an answer; of a folder as the library itself saves it."""
    from sentence_transformers import CrossEncoder

    folder = write_logit_score(tmp_path / "written", template=STRUCTURED)
    settings = json.loads((folder / "sentence_bert_config.json").read_text("utf-8"))
    del settings["modality_config"]["message"]["format"]
    change_json(
        folder / "sentence_bert_config.json",
        modality_config=settings["modality_config"],
        processing_kwargs={"chat_template": {"add_generation_prompt": True}},
    )
    CrossEncoder(str(folder), device="cpu").save_pretrained(str(tmp_path / "model"))
    polybake.bake(tmp_path / "model", tmp_path / "tiny.onnx", name="tiny-causal")
    found = agreement_with(cross_encoder(tmp_path / "model"), tmp_path / "tiny.onnx")
    proven("qwen3 causal reranker, structured messages", found, source=FOLDER, kept=False)


def test_agrees_with_the_model_card(tmp_path: Path, proven: Proven) -> None:
    """The card's code for transformers: ids are joined, and no and yes weighed by a softmax."""
    folder = write_logit_score(tmp_path / "model", template=TEMPLATE)
    polybake.bake(folder, tmp_path / "tiny.onnx", name="tiny-causal")
    found = agreement_with(model_card(folder), tmp_path / "tiny.onnx")
    proven("qwen3 causal reranker, model card", found, source=FOLDER, kept=False)


def model_card(folder: Path, most: int = 200) -> Scorer:
    """Source: the model card of Qwen3-Reranker-0.6B, usage with transformers."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    no, yes = (tokenizer.convert_tokens_to_ids(word) for word in ("no", "yes"))
    prefix, suffix = (
        tokenizer.encode(text, add_special_tokens=False)
        for text in (
            '<|im_start|>system\nAnswer "yes" or "no".<|im_end|>\n<|im_start|>user\n',
            "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
        )
    )

    def score(pairs: Sequence[tuple[str, str]]) -> tuple[list[list[int]], list[float]]:
        texts = [
            f"<Instruct>: Find passages\n<Query>: {query}\n<Document>: {document}"
            for query, document in pairs
        ]
        given = tokenizer(
            texts,
            padding=False,
            truncation="longest_first",
            return_attention_mask=False,
            max_length=most - len(prefix) - len(suffix),
        )
        rows = [prefix + row + suffix for row in given["input_ids"]]
        padded = tokenizer.pad({"input_ids": rows}, padding=True, return_tensors="pt")
        with torch.no_grad():
            logits = model(**padded).logits[:, -1, :]
        both = torch.stack([logits[:, no], logits[:, yes]], dim=1)
        return rows, torch.nn.functional.log_softmax(both, dim=1)[:, 1].exp().tolist()

    return score
