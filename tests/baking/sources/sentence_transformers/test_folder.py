"""sentence-transformers folders of every generation; tests/oracle compares their vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import change_json, write_json, write_sentence_transformers
from polybake.baking.sources import open_source
from polybake.errors import InputError

MEAN = ("Pooling", {"pooling_mode": "mean"})
NORMALIZE = ("Normalize", {})
TYPE = "sentence_transformers.models.{}".format
SETTINGS, TRANSFORMER = "config_sentence_transformers.json", "sentence_bert_config.json"
OLD_MEAN, OLD_CLS = "pooling_mode_mean_tokens", "pooling_mode_cls_token"
MANY = ("lasttoken", "weightedmean_tokens", "mean_sqrt_len_tokens", "max_tokens", "cls_token")


@pytest.mark.parametrize(
    ("config", "mode"),
    [
        ({OLD_CLS: False, OLD_MEAN: True}, "mean"),
        ({OLD_CLS: True, OLD_MEAN: False}, "cls"),
        ({OLD_MEAN: True, OLD_CLS: True}, ["cls", "mean"]),
        (
            {f"pooling_mode_{name}": True for name in MANY},
            ["cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"],
        ),
        ({OLD_CLS: False}, "mean"),
        ({"word_embedding_dimension": 12}, "mean"),
        ({"pooling_mode": "max"}, "max"),
        ({"pooling_mode": ["mean"]}, "mean"),
        ({"pooling_mode": ["mean", "cls"]}, ["mean", "cls"]),
        ({"pooling_mode": "mean", OLD_CLS: True}, "mean"),
    ],
)
def test_both_schemas_of_pooling(config: dict[str, object], mode: object, tmp_path: Path) -> None:
    """Booleans concatenate in a fixed order, none is mean; pooling_mode wins, in its own order."""
    folder = write_sentence_transformers(tmp_path / "m", ("Pooling", config))
    assert open_source(folder).recipe == ({"step": "pool", "mode": mode},)


def test_settings_of_a_folder(tmp_path: Path) -> None:
    """Prompts, the default one, the similarity, and where vectors are cut: behind all modules."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN, NORMALIZE)
    plain = open_source(folder)
    assert (plain.prompts, plain.default_prompt, plain.similarity) == ({}, None, "cosine")
    prompts = {"query": "query: ", "document": ""}
    named = {"default_prompt_name": "query", "similarity_fn_name": "dot", "truncate_dim": 5}
    write_json(folder / SETTINGS, {"prompts": prompts, **named})
    found = open_source(folder)
    assert (found.prompts, found.default_prompt, found.similarity) == (prompts, "query", "dot")
    assert found.recipe == (*plain.recipe, {"step": "truncate", "dimension": 5})


@pytest.mark.parametrize(
    ("file", "changes", "limit"),
    [
        ("tokenizer_config.json", {}, 32),
        ("tokenizer_config.json", {"model_max_length": int(1e30)}, 40),
        (TRANSFORMER, {"max_seq_length": 35}, 35),
        ("sentence_roberta_config.json", {"max_seq_length": 17}, 17),
    ],
)
def test_length_limit(file: str, changes: dict[str, object], limit: int, tmp_path: Path) -> None:
    """max_seq_length, also of an old file's name, wins over the smaller of the other limits."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN)
    if not (folder / file).exists():
        write_json(folder / file, {})
    change_json(folder / file, **changes)
    assert open_source(folder).max_length == limit


def test_lower_case(tmp_path: Path) -> None:
    """do_lower_case lowers the text before the tokenizer's own normalizer."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN)
    change_json(folder / "tokenizer_config.json", do_lower_case=False)
    assert open_source(folder).tokenizer.encode(["Water"]) == [[2, 1, 3]]
    write_json(folder / TRANSFORMER, {"do_lower_case": True})
    assert open_source(folder).tokenizer.encode(["Water"]) == [[2, 6, 3]]


def test_transformer_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """Version 1 keeps configuration, weights and tokenizer in 0_Transformer."""
    folder = write_sentence_transformers(tmp_path / "m", MEAN)
    (folder / "0_Transformer").mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).rename(folder / "0_Transformer" / name)
    modules = (folder / "modules.json").read_text().replace('"path": ""', '"path": "0_Transformer"')
    (folder / "modules.json").write_text(modules)
    source = open_source(folder)
    assert source.encoder.place().state.x.shape is not None
    assert source.max_length == 32


@pytest.mark.parametrize(
    ("file", "content", "shown"),
    [
        ("modules.json", [], "List should have at least 1 item"),
        ("modules.json", {}, "Input should be a valid array"),
        ("modules.json", [{"path": ""}], r"\[0\]\.type: is missing"),
        ("modules.json", [{"path": "../m", "type": TYPE("Transformer")}], "the model's folder"),
        ("config.json", [1], "Input should be an object"),
    ],
)
def test_damaged_settings_are_refused(
    file: str, content: object, shown: str, tmp_path: Path
) -> None:
    folder = write_sentence_transformers(tmp_path / "m", MEAN)
    write_json(folder / file, content)
    with pytest.raises(InputError, match=shown):
        open_source(folder)


@pytest.mark.minilm
def test_minilm(minilm: Path) -> None:
    """MiniLM takes 256 tokens, whatever its tokenizer.json ships."""
    source = open_source(minilm)
    assert source.max_length == 256
    assert source.recipe == ({"step": "pool", "mode": "mean"}, {"step": "normalize"})
    assert source.folder.licence() == "apache-2.0"
    assert len(source.tokenizer.encode(["word " * 400])[0]) == 256
