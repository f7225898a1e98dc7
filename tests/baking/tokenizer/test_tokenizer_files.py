"""tokenizer.json and the files beside it, as transformers reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, normalizers

from models.folders.recorded_keys import recorded_keys
from models.folders.tiny_folders import VOCABULARY, change_json, write_json, write_tokenizer
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig
from polybake.baking.tokenizer.tokenizer_json import read_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

BOAT, X = VOCABULARY.index("boat"), VOCABULARY.index("x")
#: A class that keeps tokenizer.json, whose post-processor puts [CLS] and [SEP] around a text.
KEPT = {"tokenizer_class": "LlamaTokenizerFast", "bos_token": "[CLS]", "eos_token": "[SEP]"}
CODE = ["tokenization_qwen.Qwen2Tokenizer", "tokenization_qwen.Qwen2TokenizerFast"]


def baked(folder: Path, lowercase: bool = False, **settings: object) -> BakedTokenizer:
    """Bake a tokenizer with these settings; unlike `change_json`, None is written."""
    if not (folder / "tokenizer.json").exists():
        write_tokenizer(folder)
    path = folder / "tokenizer_config.json"
    write_json(path, json.loads(path.read_text("utf-8")) | settings)
    return open_tokenizer(ModelFolder.at(folder), lowercase=lowercase)


def changed(folder: Path, **changes: object) -> Path:
    """A folder whose tokenizer.json has other keys."""
    write_tokenizer(folder)
    change_json(folder / "tokenizer.json", **changes)
    return folder


def test_is_written_as_it_was_read(tmp_path: Path) -> None:
    """Every key, number and order stays, also of components that only tokenizers knows."""
    split = {"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated", "invert": False}
    nested = {"type": "Sequence", "pretokenizers": [split, {"type": "Whitespace"}]}
    folder = changed(tmp_path, padding=None, pre_tokenizer=nested, normalizer={"type": "NFC"})
    written = (folder / "tokenizer.json").read_text()
    text, tokenizer = read_tokenizer(ModelFolder.at(folder)).make(ModelFolder.at(folder))
    assert text == json.dumps(json.loads(written), separators=(",", ":"))
    assert tokenizer.token_to_id("boat") is not None
    before, after = json.loads(written), json.loads(baked(folder).json)
    assert [key for key in after if key in before] == list(before)
    assert list(after["model"]["vocab"].items()) == list(before["model"]["vocab"].items())


def test_keeps_scores_to_the_last_digit(tmp_path: Path) -> None:
    """A Unigram model's scores decide how a text is cut."""
    vocab = [["<unk>", 0.0], ["a", -1.2345678901234567e-5], ["b", -12.345678901234567]]
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False}
    write_json(tmp_path / "tokenizer.json", {"version": "1.0", "model": model})
    text, _ = read_tokenizer(ModelFolder.at(tmp_path)).make(ModelFolder.at(tmp_path))
    assert json.loads(text) == {"version": "1.0", "model": model}


def test_is_ascii(tmp_path: Path) -> None:
    """The text is ASCII, so that no metadata reader can cut it."""
    write_tokenizer(tmp_path)
    text = (tmp_path / "tokenizer.json").read_text().replace('"river"', '"\U0001f30a"')
    (tmp_path / "tokenizer.json").write_text(text)
    tokenizer = baked(tmp_path)
    assert tokenizer.json.isascii()
    assert tokenizer.encode(["\U0001f30a"]) == [[2, 7, 3]]


def test_sequences_are_read_through(tmp_path: Path) -> None:
    """What stands in a Sequence of Sequences is found, in order."""
    inner = {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]}
    outer = {"type": "Sequence", "normalizers": [{"type": "Strip"}, inner]}
    read = read_tokenizer(ModelFolder.at(changed(tmp_path, normalizer=outer, pre_tokenizer=None)))
    assert [part.type for part in read.parts("normalizer")] == ["Strip", "NFC", "Lowercase"]
    assert read.parts("pre_tokenizer") == []


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
    shipped: normalizers.Normalizer | None, types: list[str], tmp_path: Path
) -> None:
    """do_lower_case puts Lowercase before the shipped normalizers, unless it is among them."""
    write_tokenizer(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tokenizer.normalizer = shipped
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    found = baked(tmp_path, lowercase=True, tokenizer_class="PreTrainedTokenizerFast")
    normalizer = json.loads(found.json)["normalizer"]
    assert [part["type"] for part in normalizer["normalizers"]] == types


@pytest.mark.parametrize(
    "settings",
    [
        {"added_tokens_decoder": {"8": {"content": "boat"}}},
        {"additional_special_tokens": ["boat"]},
        {"extra_special_tokens": ["boat"], "additional_special_tokens": ["##s"]},
        {"extra_special_tokens": {"a": "boat"}},
        {"extra_special_tokens": [{"content": "boat", "lstrip": False}]},
        {"mask_token": "boat"},
        {"image_token": "boat"},
    ],
)
def test_a_word_becomes_a_token(settings: dict[str, object], tmp_path: Path) -> None:
    """An added token is found inside a word, and never split."""
    expected = [[2, X, BOAT, VOCABULARY.index("s"), 3]]
    assert baked(tmp_path).encode(["xboats"]) != expected
    assert baked(tmp_path, **settings).encode(["xboats"]) == expected


def test_added_tokens_json_adds_beside_no_decoder(tmp_path: Path) -> None:
    """The older file counts where tokenizer_config.json lists none."""
    write_json(tmp_path / "added_tokens.json", {"boat": BOAT})
    added = json.loads(baked(tmp_path).json)["added_tokens"]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "special"), False)
    assert added[-1] == {"id": BOAT, "content": "boat", "normalized": True, **flags}
    assert len(json.loads(baked(tmp_path, added_tokens_decoder={}).json)["added_tokens"]) == 5


def test_keeps_what_is_whole(tmp_path: Path) -> None:
    """Tokens that tokenizer.json has stay as they are there."""
    before = json.loads(baked(tmp_path).json)
    mask = {"content": "[MASK]", "lstrip": True}
    assert json.loads(baked(tmp_path, mask_token=mask, add_bos_token=True).json) == before


@pytest.mark.parametrize("key", ["add_bos_token", "add_eos_token"])
def test_a_token_that_tokenizer_json_does_not_add_is_refused(key: str, tmp_path: Path) -> None:
    """Models were trained with it, as transformers 4 adds it; another token is not it, either."""
    shown = rf"{key} = true, expected false, .* adds no '\["
    for post_processor in (True, False):
        folder = tmp_path / str(post_processor)
        folder.mkdir()
        write_tokenizer(folder)
        other = {key: True, key.removeprefix("add_"): "[MASK]"} if post_processor else {key: True}
        if not post_processor:
            change_json(folder / "tokenizer.json", post_processor=None)
        with pytest.raises(InputError, match=shown):
            baked(folder, **KEPT | other)


def test_what_needs_no_token_is_right(tmp_path: Path) -> None:
    """Both are there, or a flag is false, or its token has no name."""
    baked(tmp_path, **KEPT, add_bos_token=True, add_eos_token=True)
    change_json(tmp_path / "tokenizer.json", post_processor=None)
    baked(tmp_path, add_bos_token=False, add_eos_token=None)
    baked(tmp_path, add_eos_token=True, eos_token=None)


def of_gte(folder: Path, code: list[str], **settings: Any) -> BakedTokenizer:
    """gte-Qwen2's, whose own code puts a token of tokenizer.json behind each text."""
    changed(folder, post_processor=None)
    write_json(folder / "config.json", {"max_position_embeddings": 5, "model_type": "own"})
    given = {"tokenizer_class": "Qwen2Tokenizer", "eos_token": "[MASK]", "add_eos_token": True}
    return baked(folder, **given | {"auto_map": {"AutoTokenizer": code}} | settings)


@pytest.mark.parametrize("repository", ["", "Alibaba-NLP/gte-Qwen2-1.5B-instruct--"])
def test_a_text_of_gte_ends_in_its_token(repository: str, tmp_path: Path) -> None:
    """A text that is too long, too; 5, 7 and 16 are the river and a, 4 is the token."""
    tokenizer = of_gte(tmp_path, [f"{repository}{name}" for name in CODE])
    found = tokenizer.encode(["the river", "", "a a a a a a a"])
    assert found == [[5, 7, 4], [4], [16, 16, 16, 16, 4]]


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"add_eos_token": None}, "add_eos_token = null, expected true"),
        ({"eos_token": "<end>"}, "eos_token = '<end>', expected a token that"),
        ({"eos_token": None}, "eos_token = null, expected a token that"),
        ({"auto_map": {"AutoTokenizer": [CODE[0], "own.Other"]}}, "key auto_map.AutoTokenizer = "),
    ],
)
def test_gtes_code_is_told_which_token(
    settings: dict[str, Any], shown: str, tmp_path: Path
) -> None:
    """Versions of the code differ in what they do otherwise; other code is refused."""
    with pytest.raises(InputError, match=shown):
        of_gte(tmp_path, CODE, **settings)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model_max_length", float("nan")),
        ("model_max_length", "12"),
        ("do_lower_case", None),
        ("strip_accents", "yes"),
        ("split_special_tokens", True),
        ("pad_token", {"special": True}),
        ("padding_side", None),
        ("truncation_side", 1),
        ("tokenizer_class", ["BertTokenizer"]),
        ("added_tokens_decoder", {"0": 1}),
        ("additional_special_tokens", ["<q>"]),
        ("extra_special_tokens", ["<q>"]),
    ],
)
def test_names_a_wrong_value(key: str, value: object, tmp_path: Path) -> None:
    """The message has the key; a new token would have an id that nobody knows."""
    with pytest.raises(InputError, match=rf": {key}"):
        baked(tmp_path, **{key: value})


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"truncation": {"max_length": 0}}, r"truncation\.max_length: .* found 0"),
        ({"truncation": {"direction": "up"}}, r"truncation\.direction: .*'Left' or 'Right'"),
        ({"normalizer": "NFC"}, "normalizer: .* found 'NFC'"),
        ({"added_tokens": ["a"]}, r"added_tokens\[0\]: .*, found 'a'"),
        ({"model": []}, "model: Input should be an object"),
        ({"model": None}, "model: is missing"),
        ({"model": {"type": "Own"}}, "cannot be read by tokenizers"),
    ],
)
def test_names_what_is_damaged(changes: dict[str, object], shown: str, tmp_path: Path) -> None:
    """The key of tokenizer.json, where tokenizers would say that nothing matched."""
    folder = changed(tmp_path, **changes)
    with pytest.raises(InputError, match=rf"tokenizer\.json: {shown}"):
        baked(folder)


def test_a_tokenizer_of_another_version_is_an_error_of_input() -> None:
    """A tokenizer that tokenizers cannot read is wrong input, whoever wrote it into the file."""
    tokenizer = BakedTokenizer('{"post_processor": []}', 8, 0, "right")
    for ask in (lambda: tokenizer.encode(["a"]), lambda: tokenizer.count("a")):
        with pytest.raises(InputError, match="the tokenizer cannot be read by tokenizers"):
            ask()


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
    shown = "unknown keys fix_mistral_regex = true, auto_map.AutoTokenizer = .*no code of a model"
    with pytest.raises(InputError, match=shown):
        baked(tmp_path, auto_map={"AutoTokenizer": ["own.Own", None]}, fix_mistral_regex=True)


def test_every_argument_of_a_class_is_known() -> None:
    """A tokenizer that transformers saves is refused for no key that its class has."""
    for version in recorded_keys("transformers "):
        for keys in version["tokenizer_config.json"].values():
            unknown = {*keys} - TokenizerConfig.model_fields.keys()
            assert all(TokenizerConfig.passes_over(key, "x") for key in unknown), unknown
