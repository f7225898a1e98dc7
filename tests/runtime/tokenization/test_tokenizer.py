"""tokenizer.json with its limits baked in."""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tokenizers import Tokenizer, normalizers

from models.folders.tiny_folders import change_json, write_json, write_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import BakedTokenizer, bake_tokenizer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tokenizer(tmp_path)
    return tmp_path


def baked(folder: Path, limit: int | None = None, lowercase: bool = False) -> BakedTokenizer:
    return bake_tokenizer(ModelFolder.at(folder), max_seq_length=limit, lowercase=lowercase)


def test_limit_replaces_the_shipped_one(folder: Path) -> None:
    """Truncation is the model's own, padding is gone, whatever tokenizer.json shipped."""
    tokenizer = baked(folder, 6)
    data = json.loads(tokenizer.json)
    assert data["truncation"] == {
        "direction": "Right",
        "max_length": 6,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    assert data["padding"] is None
    assert tokenizer.encode(["the", "the water the water the water"]) == [
        [2, 5, 3],
        [2, 5, 6, 5, 6, 3],
    ]


def test_counts_beyond_the_limit(folder: Path) -> None:
    """Counting includes the tokens that encoding would cut."""
    assert baked(folder, 6).count("the water " * 9) == 20


def test_counting_lets_other_threads_run(folder: Path) -> None:
    """A service counts texts of megabytes beside its event loop."""
    tokenizer = baked(folder, 6)
    assert tokenizer.count("the") == 3
    counting = threading.Thread(target=tokenizer.count, args=("the water " * 50_000,))
    counting.start()
    turns = 0
    while counting.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 5


def test_keeps_the_order_of_the_file(folder: Path) -> None:
    """The keys stay in tokenizer.json's own order, and the vocabulary is untouched."""
    before = json.loads((folder / "tokenizer.json").read_text())
    after = json.loads(baked(folder).json)
    assert list(after) == list(before)
    assert list(after["model"]["vocab"].items()) == list(before["model"]["vocab"].items())


def test_is_ascii(folder: Path) -> None:
    """The text is ASCII, so that no metadata reader can cut it."""
    change_json(folder / "tokenizer_config.json", pad_token="[PAD]")
    text = (folder / "tokenizer.json").read_text().replace('"river"', '"\U0001f30a"')
    (folder / "tokenizer.json").write_text(text)
    tokenizer = baked(folder)
    assert tokenizer.json.isascii()
    assert tokenizer.encode(["\U0001f30a"]) == [[2, 7, 3]]


def test_truncates_on_the_left(folder: Path) -> None:
    """truncation_side left drops the beginning and keeps the first special token."""
    change_json(folder / "tokenizer_config.json", truncation_side="left")
    assert baked(folder, 4).encode(["the water river"]) == [[2, 6, 7, 3]]


def test_cuts_the_end_where_that_is_wanted(folder: Path) -> None:
    """cut_right cuts the end despite truncation_side; an unlimited tokenizer stays as it is."""
    change_json(folder / "tokenizer_config.json", truncation_side="left")
    left = baked(folder, limit=6)
    whole = left.bare(["the river water boat the river"])[0].ids
    assert left.cut_right().encode(["the river water boat the river"])[0][1:-1] == whole[:4]
    unlimited = replace(left, json=left.untruncated.to_str())
    assert unlimited.cut_right().encode(["the river"]) == unlimited.encode(["the river"])


def test_pads_as_configured(folder: Path) -> None:
    """The pad token, as text or as an object, and its side come from the configuration."""
    assert (baked(folder).pad_id, baked(folder).pad_side) == (0, "right")
    changes: dict[str, object] = {"pad_token": {"content": "[MASK]"}, "padding_side": "left"}
    change_json(folder / "tokenizer_config.json", **changes)
    assert (baked(folder).pad_id, baked(folder).pad_side) == (4, "left")


def test_finds_a_pad_token_elsewhere(folder: Path) -> None:
    """A missing pad token is sought in special_tokens_map, tokenizer.json and config.json."""
    change_json(folder / "tokenizer_config.json", pad_token=None)
    assert baked(folder).pad_id == 0
    change_json(folder / "tokenizer.json", padding=None)
    with pytest.raises(InputError, match=r"known; set in .*\.json: \"pad_token\": \"\[PAD\]\"$"):
        baked(folder)
    write_json(folder / "config.json", {"pad_token_id": 7})
    assert baked(folder).pad_id == 7
    write_json(folder / "special_tokens_map.json", {"pad_token": "[UNK]"})
    assert baked(folder).pad_id == 1


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"model_max_length": 20, "max_position_embeddings": 30}, 20),
        ({"model_max_length": 30, "max_position_embeddings": 20}, 20),
        ({"model_max_length": 30, "max_position_embeddings": -1}, 30),
        ({"model_max_length": 1e30, "max_position_embeddings": 20}, 20),
        ({"max_position_embeddings": 20}, 20),
    ],
)
def test_limit_is_the_smaller_one(limits: dict[str, float], expected: int, folder: Path) -> None:
    """If max_seq_length is missing, the smaller of tokenizer's and model's limit holds."""
    change_json(folder / "tokenizer_config.json", model_max_length=limits.get("model_max_length"))
    positions = limits["max_position_embeddings"]
    write_json(folder / "config.json", {"max_position_embeddings": positions})
    assert baked(folder).max_length == expected


@pytest.mark.parametrize("given", [None, 29, 30])
def test_limit_reaches_as_far_as_the_positions(given: int | None, folder: Path) -> None:
    """RoBERTa's first token is at padding id + 1, so two rows of its table hold no token."""
    change_json(folder / "tokenizer_config.json", model_max_length=None)
    config = {"model_type": "roberta", "max_position_embeddings": 30, "pad_token_id": 1}
    write_json(folder / "config.json", config)
    assert baked(folder, given).max_length == 28
    assert baked(folder, 27).max_length == 27
    with pytest.raises(InputError, match="max length 31 exceeds max_position_embeddings 30"):
        baked(folder, 31)


def test_no_limit_is_an_error(folder: Path) -> None:
    """A model without any limit is refused, saying where to put one."""
    change_json(folder / "tokenizer_config.json", model_max_length=int(1e30))
    with pytest.raises(InputError, match=r"no length limit is known.*model_max_length"):
        baked(folder)


@pytest.mark.parametrize(("pad", "shown"), [("[PAD]", "[PAD]"), ("<pad>", "<pad>"), ("[X]", "P")])
def test_all_that_is_missing_is_named_at_once(pad: str, shown: str, folder: Path) -> None:
    """A tokenizer.json alone says neither; the settings to paste do, with a limit filled in."""
    (folder / "tokenizer_config.json").unlink()
    tokenizer = json.loads((folder / "tokenizer.json").read_text().replace("[PAD]", pad))
    write_json(folder / "tokenizer.json", tokenizer | {"padding": None})
    with pytest.raises(InputError) as raised:
        baked(folder)
    said = str(raised.value)
    assert "no length limit is known (found []), and no padding token is; write the file" in said
    settings = re.search(r"tokenizer_config\.json there: (\{.*?\})", said)
    assert settings
    assert settings[1] == f'{{"model_max_length": N, "pad_token": "{shown}"}}'
    assert ("P is the token that fills up rows" in said) == (shown == "P")
    written = settings[1].replace("N", "20", 1).replace('"P"', json.dumps(pad))
    (folder / "tokenizer_config.json").write_text(written)
    assert (baked(folder).max_length, baked(folder).pad_id) == (20, 0)


def test_limit_below_the_special_tokens(folder: Path) -> None:
    """A limit below the number of special tokens would switch truncation off: refused."""
    with pytest.raises(InputError, match="max length 1 is below the tokenizer's 2 special"):
        baked(folder, 1)
    assert baked(folder, 2).encode(["the"]) == [[2, 3]]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"tokenizer_class": "BertTokenizer"}, (True, None, True)),
        ({"tokenizer_class": "BertTokenizer", "do_lower_case": False}, (False, None, True)),
        ({"tokenizer_class": "BertTokenizerFast", "strip_accents": False}, (True, False, True)),
        (
            {"tokenizer_class": "BertTokenizer", "tokenize_chinese_chars": False},
            (True, None, False),
        ),
        (
            {"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": True},
            (False, True, False),
        ),
        ({"tokenizer_class": "TokenizersBackend"}, (False, True, False)),
        ({}, (False, True, False)),
    ],
)
def test_configuration_rebuilds_bert_normalizer(
    config: dict[str, object], expected: tuple[object, ...], folder: Path
) -> None:
    """tokenizer_config.json wins over tokenizer.json, but for the generic classes."""
    data = json.loads((folder / "tokenizer.json").read_text())
    data["normalizer"] |= {"lowercase": False, "strip_accents": True, "handle_chinese_chars": False}
    write_json(folder / "tokenizer.json", data)
    write_json(
        folder / "tokenizer_config.json", {"model_max_length": 9, "pad_token": "[PAD]", **config}
    )
    found = json.loads(baked(folder).json)["normalizer"]
    keys = ("lowercase", "strip_accents", "handle_chinese_chars")
    assert tuple(found[key] for key in keys) == expected
    assert found["clean_text"] is True


@pytest.mark.parametrize(
    ("shipped", "types"),
    [
        (None, ["Lowercase"]),
        (normalizers.NFC(), ["Lowercase", "NFC"]),
        (normalizers.Sequence([normalizers.NFD(), normalizers.NFC()]), ["Lowercase", "NFD", "NFC"]),
        (normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase()]), ["NFD", "Lowercase"]),
    ],
)
def test_lowercase_comes_first(
    shipped: normalizers.Normalizer | None, types: list[str], folder: Path
) -> None:
    """do_lower_case puts Lowercase before the shipped normalizers, unless it is among them."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.normalizer = shipped
    tokenizer.save(str(folder / "tokenizer.json"))
    change_json(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    normalizer = json.loads(baked(folder, lowercase=True).json)["normalizer"]
    assert [part["type"] for part in normalizer["normalizers"]] == types


def test_an_added_token_of_megabytes_is_refused(folder: Path) -> None:
    """The tokenizers library would take gigabytes for such a token."""
    data = json.loads((folder / "tokenizer.json").read_text())
    data["added_tokens"].append({**data["added_tokens"][0], "id": 40, "content": "a" * 50_000_000})
    (folder / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"has 50000000 characters, expected at most 1024; drop"):
        baked(folder)


def test_a_tokenizer_of_another_version_is_an_error_of_input() -> None:
    """A tokenizer that tokenizers cannot read is wrong input, whoever wrote it into the file."""
    tokenizer = BakedTokenizer('{"post_processor": []}', 8, 0, "right")
    for ask in (lambda: tokenizer.encode(["a"]), lambda: tokenizer.count("a")):
        with pytest.raises(InputError, match="the tokenizer cannot be read by tokenizers"):
            ask()


def test_missing_and_damaged_files(folder: Path) -> None:
    """Both are named."""
    for text, shown in (
        ('{"model": {}}', "cannot be read by tokenizers"),
        ('{"version": "1"}', "model: is missing; download it again"),
    ):
        (folder / "tokenizer.json").write_text(text)
        with pytest.raises(InputError, match=rf"tokenizer\.json: {shown}"):
            baked(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"has no tokenizer\.json; download the whole") as raised:
        baked(folder)
    assert "\n" not in str(raised.value)
