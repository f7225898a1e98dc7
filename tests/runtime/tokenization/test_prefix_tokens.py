"""Prefixes that become one token."""

from __future__ import annotations

from pathlib import Path

from tokenizers import AddedToken, Tokenizer

from models.folders.tiny_folders import write_bert
from polybake.base.files.model_folder import ModelFolder
from polybake.runtime.tokenization.prefix_tokens import with_prefix_tokens
from polybake.runtime.tokenization.tokenizer import BakedTokenizer, bake_tokenizer


def baked(folder: Path, *added: AddedToken) -> BakedTokenizer:
    write_bert(folder)
    if added:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.add_tokens([*added])
        tokenizer.save(str(folder / "tokenizer.json"))
    return bake_tokenizer(ModelFolder.at(folder))


def test_a_token_that_texts_cannot_hold_becomes_one(tmp_path: Path) -> None:
    """The prefix keeps its id as a token, and nothing else changes."""
    before = baked(tmp_path, AddedToken("[Q] ", normalized=True))
    after = with_prefix_tokens(before, ["[Q] "])
    number = after.id_of("[Q] ")
    assert number == before.id_of("[Q] ")
    (plain,) = before.encode(["the boat"])
    assert after.encode(["[Q] the boat"]) == [[plain[0], number, *plain[1:]]]
    assert after.encode(["the boat"]) == [plain]


def test_an_unknown_prefix_stays_text(tmp_path: Path) -> None:
    """A prefix without an id stays text, as no table has a row for it."""
    before = baked(tmp_path)
    after = with_prefix_tokens(before, ["[unused0] ", "query: ", ""])
    texts = ["[unused0] the boat", "query: the boat"]
    assert after.encode(texts) == before.encode(texts)
