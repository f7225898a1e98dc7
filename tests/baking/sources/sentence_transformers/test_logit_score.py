"""CrossEncoders of a language model; tests/oracle/test_causal_rerank.py compares their scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from models.folders.causal import TEMPLATE, write_logit_score
from models.folders.tiny_folders import change_json
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import Source, open_source
from polybake.baking.steps import Dense
from polybake.baking.tasks import task_of
from polybake.errors import InputError


def parts(source: Source) -> tuple[Any, ...]:
    assert source.pair_prompt is not None
    (part,) = source.pair_prompt.parts
    return part


def layer(source: Source) -> Dense:
    (_, dense, *_) = resolve(task_of(source).recipe(source), base=Path(), source=source)
    assert isinstance(dense, Dense)
    return dense


def test_a_template_is_the_prompt(tmp_path: Path) -> None:
    """With its own instruction, and the query and the document at their places."""
    source = open_source(write_logit_score(tmp_path))
    first, query, between, document, last = parts(source)
    assert (query, between, document) == (0, "\n<Document>: ", 1)
    assert first.endswith("<Instruct>: Find passages\n<Query>: ")
    assert last == "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    assert task_of(source).name == "rerank"
    assert source.head is not None
    assert source.head.relevance == "sigmoid"


def test_the_default_prompt_is_the_instruction(tmp_path: Path) -> None:
    """Other prompts are asked for by name, which no client does."""
    prompts = {"web": "Find the pages", "code": "Find the code"}
    folder = write_logit_score(tmp_path, prompts=prompts, default_prompt_name="web")
    assert "<Instruct>: Find the pages\n" in parts(open_source(folder))[0]


def test_a_score_is_a_row_of_the_table(tmp_path: Path) -> None:
    """Or what one has more than another."""
    folder = write_logit_score(tmp_path / "two")
    table = load_file(folder / "model.safetensors")["model.embed_tokens.weight"]
    yes, no = (open_source(folder).tokenizer.id_of(word) for word in ("yes", "no"))
    assert np.array_equal(layer(open_source(folder)).weight, table[[yes]] - table[[no]])
    folder = write_logit_score(tmp_path / "one", tokens=("yes", None))
    assert np.array_equal(layer(open_source(folder)).weight, table[[yes]])


def test_a_head_of_its_own_is_read(tmp_path: Path) -> None:
    """Unless config.json says that it is the table."""
    folder = write_logit_score(tmp_path)
    weights = load_file(folder / "model.safetensors")
    own = np.ones_like(weights["model.embed_tokens.weight"]).cumsum(0, dtype=np.float32)
    save_file(weights | {"lm_head.weight": own}, folder / "model.safetensors")
    with pytest.raises(InputError, match=r"lm_head\.weight differs from model\.embed"):
        layer(open_source(folder))
    change_json(folder / "config.json", tie_word_embeddings=False)
    yes, no = (open_source(folder).tokenizer.id_of(word) or 0 for word in ("yes", "no"))
    assert np.array_equal(layer(open_source(folder)).weight, own[[yes]] - own[[no]])
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(InputError, match=r"has no lm_head\.weight, which the model's head needs"):
        layer(open_source(folder))


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (TEMPLATE.replace("{{ query_text }}", "{{ query_text | trim }}"), "changes texts such as"),
        (TEMPLATE.replace("{{ query_text }}", ""), "does not write the messages of the roles"),
        (TEMPLATE.replace("<Query>: ", "{{ document_text }}"), "does not write the messages"),
        ("{{ raise_exception('only users') }}", "cannot be rendered .ValueError: only users"),
        ("{% for one in messages %}{{ one.content }}", "cannot be rendered .TemplateSyntaxError"),
        ("{{ strftime_now('%Y') }}", "cannot be rendered .ValueError: it writes"),
    ],
)
def test_other_templates_are_refused(tmp_path: Path, template: str, message: str) -> None:
    """By what they do to a pair."""
    with pytest.raises(InputError, match=message):
        open_source(write_logit_score(tmp_path, template=template))


def test_a_template_that_is_missing_is_named(tmp_path: Path) -> None:
    """The settings say that there is one."""
    folder = write_logit_score(tmp_path)
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(InputError, match="has no chat template, and its settings say"):
        open_source(folder)
    change_json(folder / "tokenizer_config.json", chat_template=TEMPLATE)
    assert open_source(folder).pair_prompt is not None


def test_without_a_template_the_tokenizer_joins(tmp_path: Path) -> None:
    """As the library does."""
    source = open_source(write_logit_score(tmp_path, template=None))
    assert (source.pair_prompt, task_of(source).name) == (None, "rerank")


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        (
            "1_LogitScore/config.json",
            {"true_token_id": 999},
            "rows, and a reranker's head needs row",
        ),
        ("1_LogitScore/config.json", {"true_token_id": -1}, "true_token_id: "),
        ("1_LogitScore/config.json", {"scale": 2.0}, "unknown key scale"),
        ("config_sentence_transformers.json", {"default_prompt_name": "x"}, "default_prompt_name"),
        ("config.json", {"final_logit_softcapping": 30.0}, "final_logit_softcapping"),
        (
            "sentence_bert_config.json",
            {"processing_kwargs": {"chat_template": {"restore_suffix": False}}},
            "restore_suffix changes how texts are cut",
        ),
        (
            "sentence_bert_config.json",
            {"processing_kwargs": {"chat_template": {"continue_final_message": True}}},
            "continue_final_message changes how",
        ),
    ],
)
def test_what_is_not_baked_is_named(
    tmp_path: Path, file: str, changes: dict[str, object], message: str
) -> None:
    """A row that is not there, and settings."""
    folder = write_logit_score(tmp_path)
    change_json(folder / file, **changes)
    with pytest.raises(InputError, match=message):
        layer(open_source(folder))
