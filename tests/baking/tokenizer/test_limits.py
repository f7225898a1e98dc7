"""Where texts are cut, and what fills up rows: by tokenizer.json and the settings beside it."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from models.folders.tiny_folders import change_json, write_json, write_tokenizer
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer, truncation


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tokenizer(tmp_path)
    return tmp_path


def baked(folder: Path, limit: int | None = None) -> BakedTokenizer:
    return open_tokenizer(ModelFolder.at(folder), max_seq_length=limit)


def test_limit_replaces_the_shipped_one(folder: Path) -> None:
    """Truncation is the model's own, padding is gone, whatever tokenizer.json shipped."""
    tokenizer = baked(folder, 6)
    data = json.loads(tokenizer.json)
    assert data["truncation"] == truncation(6, "right")
    assert data["padding"] is None
    texts = ["the", "the water the water the water"]
    assert tokenizer.encode(texts) == [[2, 5, 3], [2, 5, 6, 5, 6, 3]]
    assert tokenizer.count("the water " * 9) == 20
    assert baked(folder, 2).encode(["the"]) == [[2, 3]]


def test_counting_lets_other_threads_run(folder: Path) -> None:
    """A service counts texts of megabytes beside its event loop."""
    tokenizer = baked(folder, 6)
    assert tokenizer.count("the") == 3
    counting = threading.Thread(target=tokenizer.count, args=("the water " * 50_000,))
    counting.start()
    turns = 0
    while counting.is_alive():
        counting.join(0.001)
        turns += 1
    assert turns > 5


@pytest.mark.parametrize(
    ("shipped", "settings", "expected"),
    [
        ("Right", {"truncation_side": "left"}, [2, 6, 7, 3]),
        ("Left", {}, [2, 6, 7, 3]),
        ("Left", {"truncation_side": "right"}, [2, 5, 6, 3]),
    ],
)
def test_the_side_that_is_cut(
    shipped: str, settings: dict[str, str], expected: list[int], folder: Path
) -> None:
    """truncation_side counts, else the direction in tokenizer.json; special tokens stay."""
    data = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    cut = data["truncation"] | {"direction": shipped}
    change_json(folder / "tokenizer.json", truncation=cut)
    change_json(folder / "tokenizer_config.json", **settings)
    tokenizer = baked(folder, 4)
    assert tokenizer.encode(["the water river"]) == [expected]
    assert tokenizer.cut_right().encode(["the water river"]) == [[2, 5, 6, 3]]
    unlimited = replace(tokenizer, json=tokenizer.untruncated.to_str())
    assert unlimited.cut_right().encode(["the river"]) == unlimited.encode(["the river"])


def test_pads_as_configured(folder: Path) -> None:
    """The pad token, as text or as an object, and its side come from the configuration."""
    assert (baked(folder).pad_id, baked(folder).pad_side) == (0, "right")
    changes: dict[str, object] = {"pad_token": {"content": "[MASK]"}, "padding_side": "left"}
    change_json(folder / "tokenizer_config.json", **changes)
    assert (baked(folder).pad_id, baked(folder).pad_side) == (4, "left")


def test_finds_a_pad_token_elsewhere(folder: Path) -> None:
    """A missing pad token is sought in tokenizer.json, config.json and special_tokens_map."""
    change_json(folder / "tokenizer_config.json", pad_token=None)
    assert baked(folder).pad_id == 0
    change_json(folder / "tokenizer.json", padding=None)
    write_json(folder / "config.json", {"pad_token_id": 7})
    assert baked(folder).pad_id == 7
    write_json(folder / "special_tokens_map.json", {"pad_token": "[UNK]"})
    assert baked(folder).pad_id == 1
    change_json(folder / "tokenizer_config.json", pad_token="[PAD]", added_tokens_decoder={})
    assert baked(folder).pad_id == 0, "it lists its added tokens, so that the map has no say"


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
def test_limit_of_the_tokenizer(
    settings: dict[str, object], expected: int | None, tmp_path: Path
) -> None:
    """model_max_length counts, else max_len; Infinity and null are no limit."""
    write_json(tmp_path / "tokenizer_config.json", settings)
    assert TokenizerConfig.of(ModelFolder.at(tmp_path)).limit == expected


@pytest.mark.parametrize(
    ("length", "positions", "expected"),
    [(20, 30, 20), (30, 20, 20), (30, -1, 30), (1e30, 20, 20), (None, 20, 20)],
)
def test_limit_is_the_smaller_one(
    length: float | None, positions: int, expected: int, folder: Path
) -> None:
    """If max_seq_length is missing, the smaller of tokenizer's and model's limit holds."""
    change_json(folder / "tokenizer_config.json", model_max_length=length)
    write_json(folder / "config.json", {"max_position_embeddings": positions})
    assert baked(folder).max_length == expected


def positions(kind: str, most: int, **keys: object) -> dict[str, Any]:
    return {"model_type": kind, "max_position_embeddings": most, **keys}


@pytest.mark.parametrize(
    ("config", "rows", "held"),
    [
        (positions("bert", 512, pad_token_id=0), 512, 512),
        (positions("roberta", 514, pad_token_id=1), 514, 512),
        (positions("camembert", 514), 514, 512),
        (positions("xlm-roberta", 30, pad_token_id=4), 30, 25),
        (positions("xlm-roberta", 30, position_embedding_type="rotary"), 30, 30),
        (positions("xlnet", -1), None, None),
        ({"model_type": "gpt2", "n_positions": 12}, 12, 12),
        ({"model_type": "t5"}, None, None),
    ],
)
def test_rows_before_the_first_token_hold_none(
    config: dict[str, object], rows: int | None, held: int | None
) -> None:
    """Where positions start behind the padding id, the rows up to it are lost to tokens."""
    read = ModelConfig.model_validate(config)
    assert (read.position_rows, read.tokens_held) == (rows, held)


def test_limit_reaches_as_far_as_the_positions(folder: Path) -> None:
    """A larger one that the table's rows allow is lowered to the tokens that it holds."""
    change_json(folder / "tokenizer_config.json", model_max_length=None)
    write_json(folder / "config.json", positions("roberta", 30, pad_token_id=1))
    assert [baked(folder, given).max_length for given in (None, 27, 29, 30)] == [28, 27, 28, 28]
    with pytest.raises(InputError, match="31 exceeds max_position_embeddings 30"):
        baked(folder, 31)


@pytest.mark.parametrize(("pad", "shown"), [("[PAD]", "[PAD]"), ("<pad>", "<pad>"), ("[X]", "P")])
def test_all_that_is_missing_is_named_at_once(pad: str, shown: str, folder: Path) -> None:
    """A tokenizer.json alone says neither; the settings to paste do, with a limit filled in."""
    (folder / "tokenizer_config.json").unlink()
    tokenizer = json.loads((folder / "tokenizer.json").read_text().replace("[PAD]", pad))
    write_json(folder / "tokenizer.json", tokenizer | {"padding": None})
    with pytest.raises(InputError, match=r"no length limit .* no padding token") as raised:
        baked(folder)
    settings = re.search(r"tokenizer_config\.json there: (\{.*?\})", str(raised.value))
    assert settings
    assert settings[1] == f'{{"model_max_length": N, "pad_token": "{shown}"}}'
    written = settings[1].replace("N", "20", 1).replace('"P"', json.dumps(pad))
    (folder / "tokenizer_config.json").write_text(written)
    assert (baked(folder).max_length, baked(folder).pad_id) == (20, 0)
