"""Language models that are asked by a prompt or a chat template; tests/oracle compares them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import polybake
from models.folders.causal import (
    TEMPLATE,
    TRANSFORMER,
    gemma_tokenizer,
    qwen_tokenizer,
    write_language_model,
    write_logit_score,
)
from models.folders.messages import CHATML, POOLING, write_messages
from models.folders.tiny_folders import change_json, write_json, write_router
from polybake.baking.assemble.prompts import bake_prompts
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import Source, open_source
from polybake.baking.steps import Dense
from polybake.baking.tasks import task_of
from polybake.cli.init import settings_text
from polybake.cli.target import config_for
from polybake.config import load_config
from polybake.errors import InputError
from support.samples.weekly import weekly_but

ASKED = {
    "prompt": ["<|im_start|>Query: {query}\nDocument: {document}<|im_end|>\n"],
    "true": "yes",
    "false": "no",
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"false": ""}, r"rerank.false: the tokenizer of .* makes 0 tokens"),
        ({"prompt": []}, "rerank.prompt: "),
        ({"words": 1}, "rerank.words: "),
        ({"max_length": 0}, "rerank.max_length: .*greater than 0"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    folder = write_language_model(tmp_path / "model")
    with pytest.raises(InputError, match=message):
        polybake.bake(folder, tmp_path / "m.onnx", name="m", rerank=ASKED | changes)


def published(folder: Path, repository: str, kind: str, *tokenizer: Any) -> Source:
    """A snapshot of a repository in the hub's cache, of a model for long texts."""
    cached = folder / f"models--{repository.replace('/', '--')}" / "snapshots" / ("a" * 40)
    write_language_model(cached, kind, *tokenizer, max_position_embeddings=9000)
    change_json(cached / "tokenizer_config.json", model_max_length=9000, chat_template=TEMPLATE)
    return open_source(cached)


@pytest.mark.parametrize(
    ("repository", "kind", "made", "limit", "query"),
    [
        ("mixedbread-ai/mxbai-rerank-base-v2", "qwen2", qwen_tokenizer(), 8192, 6144),
        ("BAAI/bge-reranker-v2-gemma", "gemma", gemma_tokenizer(), 1024, 768),
    ],
)
def test_lengths_of_the_authors(
    repository: str, kind: str, made: Any, limit: int, query: int, tmp_path: Path
) -> None:
    """What the query leaves is the passage's; what the authors do not count is added."""
    source = published(tmp_path, repository, kind, made)
    assert source.rerank is not None
    assert source.head is not None
    constant = [part for part in source.rerank.prompt if "{" not in part]
    sizes = [len(made.encode(part, add_special_tokens=False).ids) for part in [*constant, "\n"]]
    beside = sum(sizes[:-1]) - sizes[-1] if kind == "qwen2" else sizes[-2] + sizes[-1]
    assert source.rerank.max_length == limit + beside
    assert source.rerank.query_tokens == query
    assert source.head.relevance == "identity"


def test_the_authors_way_is_written(tmp_path: Path) -> None:
    """`init` writes what is taken without settings, so that the instruction can be changed."""
    source = published(tmp_path, "mixedbread-ai/mxbai-rerank-base-v2", "qwen2")
    text = settings_text(source, config_for(source.folder.path, (), name="m"), tmp_path)
    (tmp_path / "polybake.toml").write_text(text, encoding="utf-8")
    config = load_config(tmp_path / "polybake.toml")
    assert config.rerank == source.rerank
    assert (config.model.task, config.steps) == ("rerank", ({"step": "head"},))


def test_a_repository_without_modules_is_known_by_its_name(tmp_path: Path) -> None:
    """Qwen's, as it was before it had modules.json; under another name it is what it was."""
    source = published(tmp_path, "Qwen/Qwen3-Reranker-0.6B", "qwen3")
    assert source.rerank is not None
    assert (source.rerank.true, source.rerank.false) == ("yes", "no")
    with pytest.raises(InputError, match="has a chat_template"):
        published(tmp_path, "somebody/Qwen3-Reranker-0.6B", "qwen3")


def layer(source: Source) -> Dense:
    """The linear layer behind a CrossEncoder's encoder."""
    (_, dense, *_) = resolve(task_of(source).recipe(source), base=Path(), source=source)
    assert isinstance(dense, Dense)
    return dense


def test_a_template_is_the_prompt(tmp_path: Path) -> None:
    """Its instruction is the default prompt; others are asked for by name, which no client does."""
    prompts = {"web": "Find the pages", "code": "Find the code"}
    folder = write_logit_score(tmp_path, prompts=prompts, default_prompt_name="web")
    (folder / "chat_template.jinja").unlink()
    change_json(folder / "tokenizer_config.json", chat_template=TEMPLATE)
    source = open_source(folder)
    assert source.pair_prompt is not None
    ((first, query, between, document, last),) = source.pair_prompt.parts
    assert (query, between, document) == (0, "\n<Document>: ", 1)
    assert first.endswith("<Instruct>: Find the pages\n<Query>: ")
    assert last == "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


def test_without_a_template_the_tokenizer_joins(tmp_path: Path) -> None:
    """As the library does."""
    source = open_source(write_logit_score(tmp_path, template=None))
    assert (source.pair_prompt, task_of(source).name) == (None, "rerank")


@pytest.mark.parametrize("own", weekly_but(1, [False, True]))
def test_a_score_is_a_row_less_another(own: bool, tmp_path: Path) -> None:
    """Of the table, or of a layer where config.json says that there is one."""
    folder = write_logit_score(tmp_path)
    weights = load_file(folder / "model.safetensors")
    rows = weights["model.embed_tokens.weight"]
    if own:
        rows = np.ones_like(rows).cumsum(0, dtype=np.float32)
        save_file(weights | {"lm_head.weight": rows}, folder / "model.safetensors")
        change_json(folder / "config.json", tie_word_embeddings=False)
    source = open_source(folder)
    yes, no = (source.tokenizer.id_of(word) or 0 for word in ("yes", "no"))
    assert np.array_equal(layer(source).weight, rows[[yes]] - rows[[no]])


CONFIG, SETTINGS = "config.json", "sentence_bert_config.json"


def chat(**values: bool) -> dict[str, object]:
    """What processing_kwargs say of the chat template."""
    return {"processing_kwargs": {"chat_template": values}}


#: A file, what changes in it, and the message.
NOT_BAKED = [
    (SETTINGS, chat(restore_suffix=False), "restore_suffix changes how texts are cut"),
    (SETTINGS, chat(continue_final_message=True), "continue_final_message changes how"),
    ("1_LogitScore/config.json", {"scale": 2.0}, "unknown key scale"),
    ("1_LogitScore/config.json", {"true_token_id": 999}, "a reranker's head needs row"),
    ("1_LogitScore/config.json", {"true_token_id": -1}, "true_token_id: "),
    ("config_sentence_transformers.json", {"default_prompt_name": "x"}, "default_prompt_name"),
    (CONFIG, {"final_logit_softcapping": 30.0}, "final_logit_softcapping"),
    (CONFIG, {"tie_word_embeddings": False}, r"has no lm_head\.weight, which the model's head"),
]


@pytest.mark.parametrize(("file", "changes", "message"), weekly_but(3, NOT_BAKED))
def test_what_is_not_baked_is_named(
    tmp_path: Path, file: str, changes: dict[str, object], message: str
) -> None:
    """A row or a layer that is not there, and settings."""
    folder = write_logit_score(tmp_path)
    change_json(folder / file, **changes)
    with pytest.raises(InputError, match=message):
        layer(open_source(folder))


#: A template of messages, and the message.
REFUSED_TEMPLATES = [
    ("{% for one in messages %}{{ one.content }}", "cannot be rendered .TemplateSyntaxError"),
    (CHATML.replace("'<|im_end|>' +", ""), "shares tokens with the text before it"),
    ("{{ strftime_now('%Y') }}", "writes the day on which it is rendered"),
    ("{{ raise_exception('only users') }}", "cannot be rendered .ValueError: only users"),
]


@pytest.mark.parametrize(("template", "message"), weekly_but(1, REFUSED_TEMPLATES))
def test_templates_of_messages_are_refused(template: str, message: str, tmp_path: Path) -> None:
    """By what they do to a text; tests/oracle/test_messages.py compares those that are taken."""
    with pytest.raises(InputError, match=message):
        open_source(write_messages(tmp_path, template))


def test_a_router_behind_messages_is_refused(tmp_path: Path) -> None:
    """Its routes are tasks, which a template may read."""
    folder = write_messages(tmp_path)
    routes = {"query": ["", "1_Pooling"], "document": [""]}
    write_router(folder, routes, {"": TRANSFORMER, "1_Pooling": POOLING}, default_route="document")
    kind = "sentence_transformers.base.modules.router.Router"
    write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind}])
    with pytest.raises(InputError, match=r"modality_config\.message: Input should be null"):
        open_source(folder)


def test_prompts_of_messages_are_taken_again(tmp_path: Path) -> None:
    """Those that ``init`` writes; others would replace the template."""
    source = open_source(write_messages(tmp_path))
    assert bake_prompts(source, (), dict(source.prompts), None).default == "message"
