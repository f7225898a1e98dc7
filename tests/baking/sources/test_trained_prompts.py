"""Which prompts the family of a model was trained with."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import change_json, write_bert
from polybake.baking.sources.trained_prompts import trained_prompt
from polybake.base.files.model_folder import ModelFolder

PASSAGES = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("e5-small-v2", "query: "),
        ("multilingual-e5-large", "query: "),
        ("multilingual-e5-large-instruct", "Instruct: (what to find)\\nQuery: "),
        ("KaLM-embedding-multilingual-mini-instruct-v1", "Instruct: (what to find)\\nQuery: "),
        ("bge-base-en-v1.5", PASSAGES),
        ("bge-small-zh-v1.5", "为这个句子生成表示以用于检索相关文章："),  # noqa: RUF001
        ("nomic-embed-text-v1.5", "search_query: "),
        ("mxbai-embed-large-v1", PASSAGES),
        ("UAE-Large-V1", PASSAGES),
        ("snowflake-arctic-embed-m", PASSAGES),
        ("snowflake-arctic-embed-l-v2.0", "query: "),
        ("all-MiniLM-L6-v2", None),
        ("bge-m3", None),
        ("bge-reranker-base", None),
        ("instructor-large", None),
        ("gte-small", None),
    ],
)
def test_families(name: str, query: str | None, tmp_path: Path) -> None:
    """Known by the folder's name, or by the one that config.json has."""
    named = ModelFolder.at(write_bert(tmp_path / name))
    assert trained_prompt(named) == (query and (name, query))
    tuned = write_bert(tmp_path / "tuned")
    change_json(tuned / "config.json", _name_or_path=f"/models/{name}")
    assert trained_prompt(ModelFolder.at(tuned)) == (query and (f"/models/{name}", query))


@pytest.mark.parametrize("name", [3, {"a": 1}, "x/" * 100 + "e5-small"])
def test_a_name_that_is_none(name: object, tmp_path: Path) -> None:
    """A name of another type is no error, and a long one is not searched."""
    folder = write_bert(tmp_path / "model")
    change_json(folder / "config.json", _name_or_path=name)
    assert trained_prompt(ModelFolder.at(folder)) is None
