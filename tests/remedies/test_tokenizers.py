"""What tokenizers and their files are refused for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from models.files.task_models import write_gliner
from models.folders.causal import write_language_model
from models.folders.messages import write_messages
from models.folders.old_tokenizers import OLD, write_old
from models.folders.tiny_folders import (
    CONFIG,
    bert_weights,
    change_json,
    write_bert,
    write_json,
    write_sentence_transformers,
)
from remedies.followed import MEAN, bake, refused

RERANK = {"prompt": ["<|im_start|>", "{query} ", "{document}", "<|im_end|>"], "true": "yes"}
WHITESPACE = "sentence_transformers.models.tokenizer.WhitespaceTokenizer.WhitespaceTokenizer"
GTE = ["tokenization_qwen.Qwen2Tokenizer", "tokenization_qwen.Qwen2TokenizerFast"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A BERT."""
    return write_bert(tmp_path / "model")


def old(folder: Path, name: str, **settings: Any) -> Path:
    """A BERT with a tokenizer of the time before tokenizer.json."""
    config = CONFIG | {"vocab_size": 600}
    write_bert(folder, config, bert_weights(config))
    (folder / "tokenizer.json").unlink()
    return write_old(folder, name, **settings)


@pytest.mark.parametrize(
    ("name", "file", "wrong", "message", "rights"),
    [
        (
            "tokenizer_config.py: tokenizer_config.json",
            "tokenizer_config.json",
            {"padding_side": "Left"},
            "tokenizer_config.json: padding_side: .*found 'Left'; correct it",
            [{"padding_side": "left"}],
        ),
        (
            "tokenizer_config.py: special_tokens_map.json",
            "special_tokens_map.json",
            {"pad_token": 1},
            "special_tokens_map.json: pad_token: .*found 1; correct it",
            [{"pad_token": "[PAD]"}],
        ),
        (
            "tokenizer_json.py: model.dropout",
            "tokenizer.json",
            {"dropout": 0.1},
            "model.dropout = 0.1 gives .*; set it to null",
            [{"dropout": None}],
        ),
        (
            "tokenizer_json.py: drop it",
            "tokenizer.json",
            {"added": "a" * 1025},
            r"added_tokens\[5\] has 1025 characters, expected at most 1024; drop it",
            [{}],
        ),
        (
            "tokenizer_json.py: takes too long",
            "tokenizer.json",
            {"pattern": "(a+)+$"},
            r"the pattern '\(a\+\)\+\$' takes .*; write it without repetitions of repetitions",
            [{"pattern": "a+$"}],
        ),
        (
            "added_edges.py: {_REMEDY",
            "tokenizer_config.json",
            {"add_bos_token": True, "bos_token": "[MASK]"},
            "add_bos_token = true, expected false, .*, or set add_bos_token to false",
            [{"add_bos_token": False}],
        ),
        (
            "tokenization/tokenizer.py: is below the tokenizer's",
            "sentence_bert_config.json",
            {"max_seq_length": 1},
            "max length 1 is below .* 2 special tokens; set max_seq_length .* to 3 or more",
            [{"max_seq_length": 3}],
        ),
        (
            "tokenization/tokenizer.py: exceeds max_position_embeddings",
            "sentence_bert_config.json",
            {"max_seq_length": 41},
            "max length 41 exceeds max_position_embeddings 40; lower max_seq_length",
            [{"max_seq_length": 40}],
        ),
        (
            "qwen_of_gte.py: or leave auto_map out",
            "tokenizer_config.json",
            {
                "auto_map": {"AutoTokenizer": GTE},
                "tokenizer_class": "PreTrainedTokenizerFast",
                "eos_token": "[MASK]",
                "add_eos_token": False,
            },
            "add_eos_token = false, expected true, .*; correct it, or leave auto_map out",
            [{"add_eos_token": True}, {"auto_map": None}],
        ),
    ],
)
def test_a_setting_is_changed(
    tmp_path: Path,
    name: str,
    file: str,
    wrong: dict[str, Any],
    message: str,
    rights: list[dict[str, Any]],
) -> None:
    """In the file that the message names."""
    folder = write_sentence_transformers(tmp_path / "model", ("Pooling", {"pooling_mode": "mean"}))
    path = folder / file
    before = path.read_text("utf-8") if path.exists() else "{}"
    path.write_text(before, encoding="utf-8")
    change(path, **wrong)
    with refused(name, message):
        bake(folder)
    for right in rights:
        path.write_text(before, encoding="utf-8")
        change(path, **wrong | right if "tokenizer.json" != file else right)
        bake(folder)


def change(path: Path, **changes: Any) -> None:
    """Set keys of a file; those of tokenizer.json lie deeper."""
    if path.name != "tokenizer.json":
        change_json(path, **changes)
        return
    data = json.loads(path.read_text("utf-8"))
    if "dropout" in changes:
        merges = {"type": "BPE", "merges": [], "unk_token": "[UNK]", "dropout": changes["dropout"]}
        data["model"] = merges | {"vocab": data["model"]["vocab"]}
    if "added" in changes:
        data["added_tokens"].append(
            data["added_tokens"][0] | {"id": 68, "content": changes["added"]}
        )
    if "pattern" in changes:
        split = {"type": "Split", "behavior": "Isolated", "invert": False}
        data["pre_tokenizer"] = split | {"pattern": {"Regex": changes["pattern"]}}
    write_json(path, data)


def test_code_of_a_tokenizer_is_allowed(folder: Path) -> None:
    """Where tokenizer.json gives the same ids."""
    code = {"AutoTokenizer": ["own.Tokenizer", None]}
    change_json(folder / "tokenizer_config.json", auto_map=code)
    name = "known_keys.py: or, if vectors are right without"
    with refused(name, r'say allow_unknown = \["auto_map.AutoTokenizer"\] .*same ids, allow it'):
        bake(folder, steps=MEAN)
    bake(folder, steps=MEAN, allow_unknown=["auto_map.AutoTokenizer"])


@pytest.mark.parametrize(
    ("name", "kind", "wrong", "message", "rights"),
    [
        (
            "asked.py: name one, or leave the key out",
            "BertTokenizer",
            {"cls_token": None},
            "cls_token = null, expected a token; name one, or leave the key out",
            [{"cls_token": "[CLS]"}, {}],
        ),
        (
            "byte_fallback.py: no add_bos_token",
            "LlamaTokenizer",
            {"add_bos_token": None},
            "no add_bos_token, which .*; set it to what the model was trained with",
            [{"add_bos_token": True}, {"add_bos_token": False}],
        ),
        (
            "pieces.py: name the class",
            "T5Tokenizer",
            {"tokenizer_class": "AlbertTokenizer"},
            "spiece.model: .*the id 1 to '</s>', .*; name the class .* as tokenizer_class in",
            [{"tokenizer_class": "T5Tokenizer"}],
        ),
    ],
)
def test_files_of_a_class(
    tmp_path: Path,
    name: str,
    kind: str,
    wrong: dict[str, Any],
    message: str,
    rights: list[dict[str, Any]],
) -> None:
    """The settings are those of the class that made the files."""
    folder = old(tmp_path / "model", kind, **wrong)
    with refused(name, message):
        bake(folder, steps=MEAN)
    for right in rights:
        bake(old(folder, kind, **right), steps=MEAN)


def test_an_added_token_is_dropped(tmp_path: Path) -> None:
    """From the file that lists it."""
    folder = old(tmp_path / "model", "BertTokenizer")
    write_json(folder / "added_tokens.json", {"x" * 1025: 500})
    with refused("sources/tokenizer_files/asked.py: drop it", "1025 characters, .*drop it"):
        bake(folder, steps=MEAN)
    write_json(folder / "added_tokens.json", {})
    bake(folder, steps=MEAN)


def test_one_of_two_vocabularies_is_removed(tmp_path: Path) -> None:
    """The other one is left."""
    folder = old(tmp_path / "model", "T5Tokenizer")
    OLD["LlamaTokenizer"].write(folder)
    name = "sources/tokenizer_files/made_tokenizer.py: remove the one"
    with refused(name, "has tokenizer.model beside spiece.model, .*; remove the one that the"):
        bake(folder, steps=MEAN)
    (folder / "tokenizer.model").unlink()
    bake(folder, steps=MEAN)


@pytest.mark.parametrize(
    ("name", "wrong", "message", "right"),
    [
        (
            "tokenization/pair_prompt.py: each once and in this order",
            {"prompt": ["{document} ", "{query}"]},
            "holds document, query; expected the query and the document",
            {},
        ),
        (
            "tokenization/pair_prompt.py: or raise max_length",
            {"max_length": 2},
            "2 tokens beside its texts, and a row has 2; shorten the prompt, or raise max_length",
            {"max_length": 9},
        ),
        (
            "tokenization/bare_tokenizer.py: expected a special token there",
            {"prompt": ["{query}\n", "{document}\nAnswer:"]},
            r"'\\nAnswer:' shares tokens .*; expected a special token there, or a part of its own",
            {"prompt": ["{query}\n", "{document}", "\nAnswer:"]},
        ),
        (
            "sources/causal_reranker.py: expected a word of one token",
            {"true": "river"},
            "rerank.true: .* makes [2-9] tokens of 'river'; expected a word of one token",
            {"true": "yes"},
        ),
    ],
)
def test_how_a_pair_is_asked(
    tmp_path: Path, name: str, wrong: dict[str, Any], message: str, right: dict[str, Any]
) -> None:
    """The table says it otherwise."""
    folder = write_language_model(tmp_path / "model")
    with refused(name, message):
        bake(folder, rerank=RERANK | wrong)
    bake(folder, rerank=RERANK | right)


@pytest.mark.parametrize(
    ("name", "write", "tables"),
    [
        ("bare_tokenizer.py: and so the prompt", write_language_model, {"rerank": RERANK}),
        ("label_prompt.py: and so the labels", write_gliner, {}),
    ],
)
def test_long_texts_lose_their_end(
    tmp_path: Path, name: str, write: Callable[[Path], Path], tables: dict[str, Any]
) -> None:
    """What stands before a text is kept."""
    folder = write(tmp_path / "model")
    change_json(folder / "tokenizer_config.json", truncation_side="left")
    with refused(name, 'expected truncation_side = "right" in .*correct'):
        bake(folder, **tables)
    change_json(folder / "tokenizer_config.json", truncation_side="right")
    bake(folder, **tables)


def test_what_stands_behind_a_text_has_room(tmp_path: Path) -> None:
    """The limit is raised."""
    folder = write_messages(tmp_path / "model")
    change_json(folder / "sentence_bert_config.json", max_seq_length=2)
    with refused("tokenization/suffix.py: raise", "a row has 2; raise max_seq_length in"):
        bake(folder)
    change_json(folder / "sentence_bert_config.json", max_seq_length=60)
    bake(folder)


def write_words(folder: Path, *words: str, **settings: Any) -> Path:
    """A model of words."""
    folder.mkdir(exist_ok=True)
    module = {
        "idx": 0,
        "name": "0",
        "path": "",
        "type": "sentence_transformers.models.WordEmbeddings",
    }
    write_json(folder / "modules.json", [module])
    write_json(folder / "wordembedding_config.json", {"tokenizer_class": WHITESPACE})
    given = {"vocab": words, "stop_words": [], **settings}
    write_json(folder / "whitespacetokenizer_config.json", given)
    rows = np.random.default_rng(1).normal(size=(len(words), 3)).astype(np.float32)
    save_file({"emb_layer.weight": rows}, folder / "model.safetensors")
    return folder


def test_words(tmp_path: Path) -> None:
    """The empty one gets a name."""
    folder = write_words(tmp_path / "model", "", "boat")
    with refused("tokenization/word_tokenizer.py: empty word", "; give it another name"):
        bake(folder, steps=MEAN)
    bake(write_words(folder, "nothing", "boat"), steps=MEAN)


def test_words_in_capital_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the same words without."""
    monkeypatch.setattr("polybake.runtime.tokenization.word_tokenizer._MOST_MARKED", 3)
    words = [f"Word{number}" for number in range(4)]
    folder = write_words(tmp_path / "model", *words)
    name = "tokenization/word_tokenizer.py: save it with do_lower_case"
    with refused(name, "4 words .* such as 'Word0'; at most .*; save it with do_lower_case"):
        bake(folder, steps=MEAN)
    bake(write_words(folder, *map(str.lower, words), do_lower_case=True), steps=MEAN)


def test_a_class_of_words(tmp_path: Path) -> None:
    """It is the library's own."""
    folder = write_words(tmp_path / "model", "river", "boat")
    settings = folder / "wordembedding_config.json"
    change_json(settings, tokenizer_class="own.WhitespaceTokenizer")
    name = "sources/sentence_transformers/word_modules.py: wordembedding_config.json"
    with refused(name, "found 'own.WhitespaceTokenizer'; correct it, or save it with a Whitespace"):
        bake(folder, steps=MEAN)
    change_json(settings, tokenizer_class=WHITESPACE)
    bake(folder, steps=MEAN)
