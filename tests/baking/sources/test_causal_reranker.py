"""Language models that rerank, and how they are asked."""

from __future__ import annotations

from pathlib import Path

import pytest

import polybake
from models.folders.causal import TEMPLATE, gemma_tokenizer, qwen_tokenizer, write_language_model
from models.folders.tiny_folders import change_json
from polybake.baking.sources import open_source
from polybake.cli.init import settings_text
from polybake.config import RerankTable, load_config
from polybake.errors import InputError

ASKED = {
    "prompt": ["<|im_start|>Query: {query}\nDocument: {document}<|im_end|>\n"],
    "true": "yes",
    "false": "no",
}


def published(folder: Path, repository: str, kind: str) -> Path:
    """A snapshot of a repository in the hub's cache, of a model for long texts."""
    cached = folder / f"models--{repository.replace('/', '--')}" / "snapshots" / ("a" * 40)
    write_language_model(cached, kind, max_position_embeddings=9000)
    change_json(cached / "tokenizer_config.json", model_max_length=9000, chat_template=TEMPLATE)
    return cached


def test_a_prompt_is_the_users(tmp_path: Path) -> None:
    """With words that are one token each."""
    folder = write_language_model(tmp_path / "model")
    report = polybake.bake(folder, tmp_path / "m.onnx", name="m", task="rerank", rerank=ASKED)
    pair = report.manifest.contract.pair
    assert pair is not None
    assert [(one.before, one.after) for one in pair.texts] == [
        ("Query: ", "\n"),
        ("Document: ", ""),
    ]
    assert report.manifest.steps[-1] == "activation(function=sigmoid)"


def test_its_tokenizer_may_be_of_older_files(tmp_path: Path) -> None:
    """vocab.json and merges.txt make the same ids."""
    folder = write_language_model(tmp_path / "model")
    whole = open_source(folder, rerank=RerankTable.model_validate(ASKED)).tokenizer
    qwen_tokenizer().model.save(str(folder))
    (folder / "tokenizer.json").unlink()
    change_json(folder / "tokenizer_config.json", tokenizer_class="Qwen2Tokenizer")
    made = open_source(folder, rerank=RerankTable.model_validate(ASKED)).tokenizer
    texts = ["yes.\n\nno", "a river of boats"]
    assert made.note
    assert made.encode(texts) == whole.encode(texts)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"true": "yesyes"}, r"rerank.true: the tokenizer of .* makes 2 tokens of 'yesyes'"),
        ({"false": ""}, r"rerank.false: the tokenizer of .* makes 0 tokens"),
        ({"prompt": ["{query}"]}, "holds query; expected the query and the document"),
        ({"prompt": []}, "rerank.prompt: "),
        ({"words": 1}, "rerank.words: "),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    """By their keys."""
    folder = write_language_model(tmp_path / "model")
    with pytest.raises(InputError, match=message):
        polybake.bake(folder, tmp_path / "m.onnx", name="m", rerank=ASKED | changes)


def test_only_rerankers_are_asked(tmp_path: Path) -> None:
    """A task of single texts would leave the prompt out without a word."""
    folder = write_language_model(tmp_path / "model")
    with pytest.raises(InputError, match="rerank: a model of the task 'embed' is not asked so"):
        polybake.bake(
            folder,
            tmp_path / "m.onnx",
            name="m",
            rerank=ASKED,
            steps=[{"step": "pool", "mode": "mean"}],
        )


def test_only_language_models_are_asked(tmp_path: Path) -> None:
    """A checkpoint without the head has no logits."""
    folder = write_language_model(tmp_path / "model", architectures=["Qwen3Model"])
    with pytest.raises(InputError, match="is no causal language model; expected a folder whose"):
        polybake.bake(folder, tmp_path / "m.onnx", name="m", rerank=ASKED)


def test_authors_ways_are_known_and_written(tmp_path: Path) -> None:
    """`init` writes what is taken without settings, so that the instruction can be changed."""
    folder = published(tmp_path, "mixedbread-ai/mxbai-rerank-base-v2", "qwen2")
    source = open_source(folder)
    made = qwen_tokenizer()
    assert source.rerank is not None
    constant = [part for part in source.rerank.prompt if "{" not in part]
    beside = sum(len(made.encode(part, add_special_tokens=False).ids) for part in constant)
    newline = len(made.encode("\n", add_special_tokens=False).ids)
    assert source.rerank.max_length == 8192 + beside - newline
    assert source.rerank.query_tokens == 6144
    assert source.head is not None
    assert source.head.relevance == "identity"
    (tmp_path / "polybake.toml").write_text(
        settings_text(source, folder, "mxbai", tmp_path, "native"), encoding="utf-8"
    )
    config = load_config(tmp_path / "polybake.toml")
    assert config.rerank == source.rerank
    assert config.model.task == "rerank"
    assert config.steps == ({"step": "head"},)


def test_bges_passage_has_what_the_query_leaves(tmp_path: Path) -> None:
    """Of 1024 tokens, which the line and the question behind the passage are no part of."""
    cached = tmp_path / "models--BAAI--bge-reranker-v2-gemma" / "snapshots" / ("a" * 40)
    made = gemma_tokenizer()
    source = open_source(write_language_model(cached, "gemma", made, max_position_embeddings=9000))
    assert source.rerank is not None
    behind = "\n", source.rerank.prompt[-1]
    beside = sum(len(made.encode(part, add_special_tokens=False).ids) for part in behind)
    assert source.rerank.max_length == 1024 + beside
    assert source.rerank.query_tokens == 768
    assert source.head is not None
    assert source.head.relevance == "identity"


def test_a_repository_without_modules_is_known_by_its_name(tmp_path: Path) -> None:
    """Qwen's, as it was before it had modules.json; under another name it is what it was."""
    source = open_source(published(tmp_path, "Qwen/Qwen3-Reranker-0.6B", "qwen3"))
    assert source.rerank is not None
    assert (source.rerank.true, source.rerank.false) == ("yes", "no")
    with pytest.raises(InputError, match="has a chat_template"):
        open_source(published(tmp_path, "somebody/Qwen3-Reranker-0.6B", "qwen3"))


def test_the_table_is_checked_like_any_other() -> None:
    """Limits are counts of tokens."""
    with pytest.raises(ValueError, match="greater than 0"):
        RerankTable(prompt=("{query}{document}",), true="yes", max_length=0)
