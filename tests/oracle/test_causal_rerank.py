"""Rerankers that are language models against sentence-transformers, and their authors' own code."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file, save_file

from models.folders.causal import (
    TEMPLATE,
    gemma_tokenizer,
    write_language_model,
    write_logit_score,
)
from models.folders.tiny_folders import change_json
from polybake.baking.sources import open_source
from polybake.base.modelfile.fixture import Case
from support.oracle.agreement import Agreement, agreement_case_by_case, bake, ranked
from support.oracle.proven import HUGGING_FACE, Proven

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

    def given(case: Case) -> dict[str, Any]:
        ids, scores = score([(first, second) for first, second in case.texts])
        types = tuple((0,) * len(row) for row in ids)
        return {"input_ids": tuple(map(tuple, ids)), "type_ids": types, **ranked(scores)}

    found = agreement_case_by_case(out, given)
    assert len({round(one["score"], 4) for case in found.expected for one in case.answer}) > 10
    return found


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
    bake(folder, tmp_path / "tiny.onnx", name="tiny-causal")
    found = agreement_with(cross_encoder(folder), tmp_path / "tiny.onnx")
    proven(f"{kind} causal reranker, {named}", found)


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
    bake(tmp_path / "model", tmp_path / "tiny.onnx", name="tiny-causal")
    found = agreement_with(cross_encoder(tmp_path / "model"), tmp_path / "tiny.onnx")
    proven("qwen3 causal reranker, structured messages", found)


def test_agrees_with_the_model_card(tmp_path: Path, proven: Proven) -> None:
    """The card's code for transformers: ids are joined, and no and yes weighed by a softmax."""
    folder = write_logit_score(tmp_path / "model", template=TEMPLATE)
    bake(folder, tmp_path / "tiny.onnx", name="tiny-causal")
    found = agreement_with(model_card(folder), tmp_path / "tiny.onnx")
    proven("qwen3 causal reranker, model card", found)


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


def test_agrees_with_the_authors_library(tmp_path: Path, proven: Proven) -> None:
    """mxbai-rerank joins ids: a query has three quarters of the room at most; scores are raw."""
    # As the hub's cache names it, so that the prompt is the one that is built in.
    cached = (
        tmp_path / "hub" / "models--mixedbread-ai--mxbai-rerank-base-v2" / "snapshots" / ("a" * 40)
    )
    folder = write_language_model(cached, "qwen2", max_position_embeddings=900)
    change_json(folder / "tokenizer_config.json", model_max_length=900)
    score, beside = authors_library(folder, 40)
    asked = open_source(folder).rerank
    assert asked is not None
    changed = asked.model_dump() | {"query_tokens": 30, "max_length": 40 + beside}
    config = {"name": "tiny-causal", "rerank": changed, "steps": [{"step": "head"}]}
    hub = tmp_path / "hub"
    bake(folder, tmp_path / "tiny.onnx", folder=hub, task="rerank", **config)
    found = agreement_with(score, tmp_path / "tiny.onnx")
    proven("qwen2 causal reranker, authors' library", found, source=HUGGING_FACE)


def authors_library(folder: Path, most: int) -> tuple[Scorer, int]:
    """Return mxbai-rerank's scores, and the tokens beside the query and the document.

    Source: mixedbread-ai/mxbai-rerank ``MxbaiRerankV2.prepare_inputs`` and ``forward``.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(folder).eval()

    def ids_of(text: str, **options: Any) -> list[int]:
        found: list[int] = tokenizer(text, add_special_tokens=False, **options)["input_ids"]
        return found

    yes, no, line = ids_of("1")[0], ids_of("0")[0], ids_of("\n")
    task = ids_of(
        "You are a search relevance expert who evaluates how well documents match search queries. "
        "For each query-document pair, carefully analyze the semantic relationship between them, "
        "then provide your binary relevance judgment (0 for not relevant, 1 for relevant)."
        "\nRelevance:"
    )
    prefix = ids_of(
        "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant."
        "<|im_end|>\n<|im_start|>user\n"
    )
    suffix = ids_of("<|im_end|>\n<|im_start|>assistant\n")

    def row(query: str, document: str) -> list[int]:
        asked = ids_of(f"query: {query}", max_length=most * 3 // 4, truncation=True)
        answer = line + ids_of(f"document: {document}", max_length=most, truncation=True)
        return prefix + asked + answer[: most - len(asked)] + line + task + suffix

    def score(pairs: Sequence[tuple[str, str]]) -> tuple[list[list[int]], list[float]]:
        rows = [row(*pair) for pair in pairs]
        padded = tokenizer.pad({"input_ids": rows}, padding="longest", return_tensors="pt")
        with torch.no_grad():
            logits = model(**padded).logits[:, -1]
        return rows, (logits[:, yes] - logits[:, no]).tolist()

    return score, len(prefix + line + task + suffix)


@pytest.mark.parametrize("query", [None, 30])
def test_agrees_with_bges_model_card(query: int | None, tmp_path: Path, proven: Proven) -> None:
    """A logit behind the question; the passage has what the query leaves it. Scores are raw."""
    cached = tmp_path / "hub" / "models--BAAI--bge-reranker-v2-gemma" / "snapshots" / ("a" * 40)
    folder = write_language_model(cached, "gemma", gemma_tokenizer(), max_position_embeddings=2000)
    change_json(folder / "tokenizer_config.json", bos_token="<bos>", model_max_length=2000)
    # Gemma's norms multiply by 1 + weight: with weights around 1, rounding alone is 1e-5.
    weights = load_file(folder / "model.safetensors")
    drawn = {name: array - ("norm" in name) for name, array in weights.items()}
    save_file(drawn, folder / "model.safetensors")
    changes: dict[str, Any] = {}
    score, beside = bges_model_card(folder, 1024 if query is None else 40)
    if query is not None:
        asked = open_source(folder).rerank
        assert asked is not None
        assert asked.max_length == 1024 + beside
        short = {"query_tokens": query, "max_length": 40 + beside}
        changes = {"rerank": asked.model_dump() | short, "steps": [{"step": "head"}]}
    given = {"task": "rerank", "name": "tiny-causal", **changes}
    bake(folder, tmp_path / "tiny.onnx", folder=tmp_path / "hub", **given)
    found = agreement_with(score, tmp_path / "tiny.onnx")
    named = "gemma causal reranker, model card" + (", cut" if query is not None else "")
    proven(named, found, source=HUGGING_FACE)


def bges_model_card(folder: Path, most: int) -> tuple[Scorer, int]:
    """Return bge-reranker-v2-gemma's scores, and the tokens behind a passage.

    Source: its model card, ``get_inputs``; FlagEmbedding ``BaseLLMReranker`` does the same with
    room for the first line beside ``most``.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()

    def ids_of(text: str, **options: Any) -> list[int]:
        found: list[int] = tokenizer(text, add_special_tokens=False, **options)["input_ids"]
        return found

    yes, line = ids_of("Yes")[0], ids_of("\n")
    question = ids_of(
        "Given a query A and a passage B, determine whether the passage contains an answer to the "
        "query by providing a prediction of either 'Yes' or 'No'."
    )

    def row(query: str, passage: str) -> list[int]:
        asked = ids_of(f"A: {query}", max_length=most * 3 // 4, truncation=True)
        first = [tokenizer.bos_token_id, *asked]
        second = line + ids_of(f"B: {passage}", max_length=most, truncation=True)
        return first + second[: most - len(first)] + line + question

    def score(pairs: Sequence[tuple[str, str]]) -> tuple[list[list[int]], list[float]]:
        rows = [row(*pair) for pair in pairs]
        # Each alone: padding turns its tokens by larger angles, which float32 rounds.
        with torch.no_grad():
            logits = [model(input_ids=torch.tensor([ids])).logits[0, -1] for ids in rows]
        return rows, [float(one[yes]) for one in logits]

    return score, len(line + question)
