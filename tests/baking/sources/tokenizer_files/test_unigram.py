"""Tokenizers of SentencePiece's Unigram; tests/oracle compares them with transformers'."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.old_tokenizers import made, write_old
from models.folders.sentencepiece_files import CONTROL, UNKNOWN, model
from polybake.baking.sources.tokenizer_files.made_tokenizer import make_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

THE, S = "\u2581the", "\u2581"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("XLMRobertaTokenizer", ["<s>", THE, S, "A", "</s>"]),
        ("CamembertTokenizer", ["<s>", THE, S, "A", "</s>"]),
        ("AlbertTokenizer", ["[CLS]", THE, S, "a", "[SEP]"]),
        ("T5Tokenizer", [THE, S, "A", "</s>"]),
        ("DebertaV2Tokenizer", ["[CLS]", THE, S, "[UNK]", "[SEP]"]),
    ],
)
def test_replacements_of_characters_are_the_class_s(
    name: str, expected: list[str], tmp_path: Path
) -> None:
    """A wide letter is replaced, lowered as well, or not known to DeBERTa's own normalizer."""
    tokenizer = made(tmp_path, name)
    found = tokenizer.encode("the \uff21")
    assert [tokenizer.id_to_token(number) for number in found.ids] == expected


@pytest.mark.parametrize(
    ("name", "between", "types"),
    [
        ("XLMRobertaTokenizer", ["</s>", "</s>"], 0),
        ("CamembertTokenizer", ["</s>", "</s>"], 0),
        ("AlbertTokenizer", ["[SEP]"], 1),
        ("T5Tokenizer", ["</s>"], 0),
        ("DebertaV2Tokenizer", ["[SEP]"], 1),
    ],
)
def test_two_texts_are_joined(name: str, between: list[str], types: int, tmp_path: Path) -> None:
    """With one token between them or two, and types."""
    found = made(tmp_path, name).encode("the", "the")
    assert found.tokens[found.tokens.index(THE) + 1 :][: len(between) + 1] == [*between, THE]
    assert found.type_ids[-1] == types


def test_ids_are_moved_as_in_fairseq(tmp_path: Path) -> None:
    """XLM-R's and CamemBERT's own tokens come first, and a mask last."""
    xlm = made(tmp_path / "xlm", "XLMRobertaTokenizer")
    assert [xlm.id_to_token(number) for number in range(5)] == ["<s>", "<pad>", "</s>", "<unk>", S]
    assert xlm.token_to_id("<mask>") == xlm.get_vocab_size() - 1
    camembert = made(tmp_path / "camembert", "CamembertTokenizer")
    first = ["<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED", "<s>", "</s>", S]
    assert [camembert.id_to_token(number) for number in range(8)] == first


def test_t5_counts_its_extra_ids_down(tmp_path: Path) -> None:
    """As many as its settings say, behind the file's pieces."""
    tokenizer = made(tmp_path, "T5Tokenizer", extra_ids=3)
    count = tokenizer.get_vocab_size()
    last = [tokenizer.id_to_token(number) for number in range(count - 3, count)]
    assert last == ["<extra_id_2>", "<extra_id_1>", "<extra_id_0>"]


@pytest.mark.parametrize(
    ("name", "pieces", "shown"),
    [
        ("XLMRobertaTokenizer", ["<unk>", "<s>", "the"], "the id 2 to 'the', expected a special"),
        ("CamembertTokenizer", ["the"], "the id 0 to 'the', expected a special token"),
        ("AlbertTokenizer", ["<unk>", "<pad>"], "the id 1 to '<pad>', expected '<unk>'"),
        ("T5Tokenizer", ["<unk>", "<s>", "</s>"], "the id 2 to '</s>', expected '<unk>'"),
        ("T5Tokenizer", ["<pad>", "</s>"], "the id 2 to '<extra_id_99>', expected '<unk>'"),
        ("DebertaV2Tokenizer", ["<unk>"], r"the id 0 to '<unk>', expected '\[UNK\]'"),
        (
            "XLMRobertaTokenizer",
            ["<unk>", "<s>", "</s>", "<mask>"],
            "the id 5 to '<mask>', expected a token without the id 4",
        ),
    ],
)
def test_pieces_that_are_not_the_class_s_are_refused(
    name: str, pieces: list[str], shown: str, tmp_path: Path
) -> None:
    """Transformers would move ids in silence, or take another piece for the unknown one."""
    kinds = {"<unk>": UNKNOWN, "the": 1, "<mask>": 1}
    folder = write_old(tmp_path, name)
    (file,) = folder.glob("*.model")
    file.write_bytes(model([(piece, 0.0, kinds.get(piece, CONTROL)) for piece in pieces]))
    with pytest.raises(InputError, match=rf"\.model: .*{shown}.*tokenizer_class"):
        make_tokenizer(ModelFolder.at(folder))
