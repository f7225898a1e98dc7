"""tokenizer_config.json, as transformers reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.folders.recorded_keys import recorded_keys
from models.folders.tiny_folders import change_json, write_json, write_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import BakedTokenizer, bake_tokenizer
from polybake.runtime.tokenization.tokenizer_config import TokenizerConfig


def baked(folder: Path, **settings: object) -> BakedTokenizer:
    """Bake with these settings; unlike `change_json`, None is written."""
    write_tokenizer(folder)
    write_json(folder / "config.json", {"model_type": "bert", "max_position_embeddings": 20})
    path = folder / "tokenizer_config.json"
    write_json(path, json.loads(path.read_text("utf-8")) | settings)
    return bake_tokenizer(ModelFolder.at(folder))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"model_max_length": 12}, 12),
        ({"max_len": 12}, 12),
        ({"model_max_length": 14, "max_len": 12}, 14),
        ({"model_max_length": None, "max_len": 12}, None),
        ({"model_max_length": float("inf")}, None),
        ({}, None),
    ],
)
def test_limit(settings: dict[str, object], expected: int | None, tmp_path: Path) -> None:
    """model_max_length counts, else max_len; Infinity and null are no limit."""
    write_json(tmp_path / "tokenizer_config.json", settings)
    assert TokenizerConfig.of(ModelFolder.at(tmp_path)).limit == expected


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model_max_length", float("nan")),
        ("model_max_length", "12"),
        ("model_max_length", True),
        ("do_lower_case", None),
        ("do_lower_case", "yes"),
        ("strip_accents", "yes"),
        ("tokenize_chinese_chars", None),
        ("split_special_tokens", True),
        ("pad_token", 3),
        ("pad_token", {"special": True}),
        ("padding_side", "Left"),
        ("padding_side", None),
        ("truncation_side", 1),
        ("tokenizer_class", ["BertTokenizer"]),
        ("added_tokens_decoder", "[PAD]"),
        ("added_tokens_decoder", {"0": 1}),
        ("extra_special_tokens", "[PAD]"),
    ],
)
def test_names_a_value_of_the_wrong_type(key: str, value: object, tmp_path: Path) -> None:
    """The message has the file, the key and the value."""
    with pytest.raises(
        InputError,
        match=rf"tokenizer_config\.json: {key}\S*: (Input should be .*, found |is missing)",
    ) as error:
        baked(tmp_path, **{key: value})
    assert str(error.value).endswith("; correct it")


def test_special_tokens_map_has_no_say_beside_added_tokens(tmp_path: Path) -> None:
    """The map wins over tokenizer_config.json, unless that lists its added tokens."""
    write_json(tmp_path / "special_tokens_map.json", {"pad_token": "[UNK]"})
    assert baked(tmp_path).pad_id == 1
    assert baked(tmp_path, added_tokens_decoder={}).pad_id == 0
    write_json(tmp_path / "special_tokens_map.json", {"pad_token": 1})
    with pytest.raises(
        InputError, match=r"special_tokens_map\.json: pad_token: Input should be .*, found 1"
    ):
        baked(tmp_path)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, "Left"), ({"truncation_side": "right"}, "Right")],
)
def test_truncates_as_tokenizer_json_does(
    settings: dict[str, object], expected: str, tmp_path: Path
) -> None:
    """If truncation_side is missing, the direction in tokenizer.json counts."""
    baked(tmp_path)
    data = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    change_json(tmp_path / "tokenizer.json", truncation=data["truncation"] | {"direction": "Left"})
    change_json(tmp_path / "tokenizer_config.json", **settings)
    found = json.loads(bake_tokenizer(ModelFolder.at(tmp_path)).json)
    assert found["truncation"]["direction"] == expected


def test_keys_that_are_not_known_are_refused(tmp_path: Path) -> None:
    """All unknown keys are named; those of decoding, loading and own tokens are known."""
    known = {
        "clean_up_tokenization_spaces": True,
        "special_tokens_map_file": "x",
        "image_token": "[UNK]",
        "video_token": {"content": "[UNK]"},
        "never_split": ["a"],
    }
    baked(tmp_path, **known)
    code = {"AutoTokenizer": ["tokenization_qwen.Qwen2Tokenizer", None]}
    with pytest.raises(InputError) as caught:
        baked(tmp_path, **known, auto_map=code, fix_mistral_regex=True)
    assert (
        "tokenizer_config.json: unknown keys fix_mistral_regex = true, auto_map.AutoTokenizer = "
        '["tokenization_qwen.Qwen2Tokenizer", nul…, which may change vectors; '
    ) in str(caught.value)
    assert "; auto_map.AutoTokenizer: no code of a model is run: if " in str(caught.value)


def test_every_argument_of_a_class_is_known() -> None:
    """A tokenizer that transformers saves is refused for no key that its class has."""
    for version in recorded_keys("transformers "):
        for keys in version["tokenizer_config.json"].values():
            unknown = {*keys} - TokenizerConfig.model_fields.keys()
            assert all(TokenizerConfig.passes_over(key, "x") for key in unknown), unknown
