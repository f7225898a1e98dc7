"""Tokenizers as they were saved before tokenizer.json: a vocabulary and settings."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from models.folders.saved import (
    MERGES,
    byte_vocabulary,
    unigram_vocabulary,
    wordpiece_vocabulary,
)
from models.folders.sentencepiece_files import (
    BPE,
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    Piece,
    characters_map,
    model,
)
from models.folders.tiny_folders import write_json
from polybake.baking.tokenizer.older_vocabularies_program import convert

BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
SPACE = "\u2581"


def _write(path: Path, content: str | bytes) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def words(*special: str) -> Callable[[Path], None]:
    """Write vocab.txt."""
    tokens = [*wordpiece_vocabulary(*special), "\u4e2d", "\u00e9", "caf\u00e9", "cafe"]
    text = "".join(f"{token}\n" for token in tokens)
    return lambda folder: _write(folder / "vocab.txt", text)


def in_bytes(*special: str, behind: tuple[str, ...] = ()) -> Callable[[Path], None]:
    """Write vocab.json and merges.txt."""
    ids = byte_vocabulary(*special)
    ids |= {token: len(ids) + number for number, token in enumerate(behind)}
    merges = "".join(f"{first} {second}\n" for first, second in MERGES)

    def write(folder: Path) -> None:
        _write(folder / "vocab.json", json.dumps(ids))
        _write(folder / "merges.txt", f"#version: 0.2\n{merges}")

    return write


def pieces(name: str, *first: Piece, unknown: int = 0) -> Callable[[Path], None]:
    """Write a file of Unigram, with replacements of characters."""
    listed = [(text, score, NORMAL) for text, score in unigram_vocabulary()]
    listed += [(text, -7.0, NORMAL) for text in ("A", "B", "1", "\u00e9", "\u4e2d", '"')]
    content = model([*first, *listed], characters=characters_map(), unknown=unknown)
    return lambda folder: _write(folder / name, content)


def merged(name: str, *first: Piece) -> Callable[[Path], None]:
    """Write a file of BPE with bytes for unknown characters."""
    bytes_ = [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    whole = ["th", "he", "the", f"{SPACE}t", f"{SPACE}the", "er", "in", "ing", f"{SPACE}{SPACE}"]
    letters = [SPACE, *"etaoinshrdlucmwfgypbvk.,", "\u00e9"]
    listed = [(text, -float(rank), NORMAL) for rank, text in enumerate([*whole, *letters])]
    content = model([*first, *bytes_, *listed], BPE)
    return lambda folder: _write(folder / name, content)


@dataclass(frozen=True)
class OldTokenizer:
    """A class of transformers with its files.

    Attributes:
        write: Writes the files into a folder.
        settings: What its tokenizer_config.json has at least.
    """

    write: Callable[[Path], None]
    settings: dict[str, Any]


UNK = ("<unk>", 0.0, UNKNOWN)
BOS, EOS = ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)
PAD = ("<pad>", 0.0, CONTROL)
CLS, SEP = ("[CLS]", 0.0, CONTROL), ("[SEP]", 0.0, CONTROL)

#: By the class's name.
OLD: dict[str, OldTokenizer] = {
    **{
        name: OldTokenizer(words(*BERT), {})
        for name in (
            *("BertTokenizer", "ConvBertTokenizer", "DistilBertTokenizer", "ElectraTokenizer"),
            *("DPRContextEncoderTokenizer", "DPRQuestionEncoderTokenizer", "LayoutLMTokenizer"),
            *("LxmertTokenizer", "MobileBertTokenizer", "SqueezeBertTokenizer"),
        )
    },
    "MPNetTokenizer": OldTokenizer(words(*ROBERTA[:4], "[UNK]", "<mask>"), {}),
    **{
        name: OldTokenizer(in_bytes(*ROBERTA), {})
        for name in ("BartTokenizer", "LEDTokenizer", "LongformerTokenizer", "RobertaTokenizer")
    },
    "DebertaTokenizer": OldTokenizer(in_bytes("[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"), {}),
    "GPT2Tokenizer": OldTokenizer(
        in_bytes(behind=("<|endoftext|>",)), {"pad_token": "<|endoftext|>"}
    ),
    "Qwen2Tokenizer": OldTokenizer(in_bytes(), {}),
    "XLMRobertaTokenizer": OldTokenizer(pieces("sentencepiece.bpe.model", UNK, BOS, EOS), {}),
    "CamembertTokenizer": OldTokenizer(pieces("sentencepiece.bpe.model", UNK, BOS, EOS), {}),
    "AlbertTokenizer": OldTokenizer(
        pieces("spiece.model", PAD, UNK, CLS, SEP, ("[MASK]", 0.0, CONTROL), unknown=1), {}
    ),
    "T5Tokenizer": OldTokenizer(pieces("spiece.model", PAD, EOS, UNK, unknown=2), {}),
    "DebertaV2Tokenizer": OldTokenizer(
        pieces(
            "spm.model",
            *(("[PAD]", 0.0, CONTROL), CLS, SEP, ("[UNK]", 0.0, UNKNOWN)),
            ("<s2>", 0.0, USER_DEFINED),
            unknown=3,
        ),
        {},
    ),
    "LlamaTokenizer": OldTokenizer(
        merged("tokenizer.model", UNK, BOS, EOS),
        {"add_bos_token": True, "add_eos_token": False, "pad_token": "</s>"},
    ),
    "GemmaTokenizer": OldTokenizer(
        merged(
            "tokenizer.model",
            *(PAD, ("<eos>", 0.0, CONTROL), ("<bos>", 0.0, CONTROL), UNK),
            ("<mask>", 0.0, USER_DEFINED),
            ("<start_of_turn>", 0.0, USER_DEFINED),
        ),
        {"add_bos_token": True},
    ),
}


def write_old(folder: Path, name: str, **settings: Any) -> Path:
    """Write the folder of a class, with more settings than it needs; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    old = OLD[name]
    old.write(folder)
    config = {"tokenizer_class": name, "model_max_length": 60, **old.settings, **settings}
    write_json(folder / "tokenizer_config.json", config)
    return folder


def made(folder: Path, name: str, **settings: Any) -> Tokenizer:
    """The tokenizer that transformers makes of a class's files."""
    return Tokenizer.from_str(
        str(convert(str(write_old(folder, name, **settings)), [])["tokenizer"])
    )
