"""Cases that are written in the folder ``cases``: what is refused, its message, and what helps.

The blocks of a file are apart by an empty line. A block begins with a model of
`remedies.models` and the name of a refusal. A line with ``-`` is what is wrong, one with ``?`` the
regular expression of the message, and each with ``+`` one way that the remedy names. Such a line
sets keys of polybake.toml, or keys of the model's files, of which null removes one; ``TO < FROM``
copies a file, and pickles safetensors. An .onnx file is ONNX's text, or an object of arguments of
`models.onnx.tiny_onnx.encoder`. Words in capitals stand for `_MEANT`, or are `_DONE`. What is wrong
in a file stays there until a way changes it. The key ``source`` is a path beside the model's
folder. Cases of ``cases/oracle`` need transformers.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
from safetensors.numpy import load_file

from models.folders.messages import CHATML
from models.folders.torch_saved import write_torch
from models.onnx.tiny_onnx import BODY, INPUTS, POOLED, TOKENS, encoder

FOLDER = Path(__file__).parent / "cases"

#: Two numbers of a head, and a weight for each word of the vocabulary.
_HEAD = """
    first = Constant <value_ints = [0]> ()  end = Constant <value_ints = [2]> ()
    axis = Constant <value_ints = [1]> ()  logits = Slice (pooler_output, first, end, axis)
"""
_SPLADE = """
    columns = Transpose <perm = [1, 0]> (table)  numbers = MatMul (weighted, columns)
    kept_numbers = Relu (numbers)
    sentence_embedding = ReduceMax <axes = [1], keepdims = 0> (kept_numbers)
"""

#: A tokenizer.json of two words.
WORD_LEVEL = {
    "version": "1.0",
    "added_tokens": [],
    "normalizer": {"type": "Lowercase"},
    "pre_tokenizer": {"type": "Whitespace"},
    "model": {"type": "WordLevel", "vocab": {"river": 0, "boat": 1}, "unk_token": "river"},
}

#: What a line may hold in capitals.
_MEANT = {
    "OWN": "../own/model.onnx: ENCODER | ../own/tokenizer.json < tokenizer.json"
    " | ../own/tokenizer_config.json < tokenizer_config.json",
    "ENCODER": "{}",
    "LOGITS": '{"outputs": "float[batch_size, 2] logits", "body": "BODY HEAD"}',
    "SENTENCE": '{"outputs": "float[batch_size, 6] sentence_embedding", "body": "NAMED"}',
    "TANH": "rows = Gather (table, input_ids)  last_hidden_state = Tanh (rows)",
    "BODY": json.dumps(BODY)[1:-1],
    "NAMED": json.dumps(BODY.replace("pooler_output", "sentence_embedding"))[1:-1],
    "HEAD": json.dumps(_HEAD)[1:-1],
    "SPLADE": json.dumps(_SPLADE)[1:-1],
    "INPUTS": INPUTS,
    "TOKENS": TOKENS,
    "POOLED": POOLED,
    "GOOD": '../head.onnx: "START 18]> head (SIZES {y = Tanh (x)}" | FRAGMENT',
    "FRAGMENT": 'steps = [MEAN, {step = "onnx", file = "head.onnx"}]',
    "START": r"<ir_version: 8, opset_import: [\"\" :",
    "SIZES": "float[N, 12] x) => (float[N, 12] y)",
    "LIBRARY": "sentence_transformers.models",
    "LONGEST": "a" * 300_000,
    "LONG": "a" * 32_768,
    "CHATML": json.dumps(CHATML),
    "WORD_LEVEL": json.dumps(WORD_LEVEL),
    "ROUTES": '{query = [{step = "pool", mode = "cls"}], document = [MEAN]}',
    "MEAN": '{step = "pool", mode = "mean"}',
}


@dataclass(frozen=True)
class Case:
    """A block of a file.

    Attributes:
        model: The name of its model.
        name: The name of the refusal.
        wrong: The line with ``-``.
        message: The line with ``?``.
        rights: The lines with ``+``.
        oracle: Whether a way needs transformers.
    """

    model: str
    name: str
    wrong: str
    message: str
    rights: tuple[str, ...]
    oracle: bool

    def __str__(self) -> str:
        return self.name


def cases() -> Iterator[Case]:
    """Every case of the folder."""
    for path in sorted(FOLDER.rglob("*.txt")):
        for block in path.read_text("utf-8").strip().split("\n\n"):
            first, *lines = block.split("\n")
            model, _, name = first.partition(": ")
            said = [(line[0], line[2:]) for line in lines]
            assert [sign for sign, _ in said[:2]] == ["-", "?"], block
            rights = tuple(line for sign, line in said[2:] if sign == "+")
            assert len(rights) == len(said) - 2 > 0, block
            yield Case(model, name, said[0][1], said[1][1], rights, path.parent.name == "oracle")


def done(line: str, folder: Path) -> dict[str, Any]:
    """Change the files of a folder as a line says; return the keys of polybake.toml."""
    settings: dict[str, Any] = {}
    for word, meant in _MEANT.items():
        line = re.sub(rf"\b{word}\b", lambda _, meant=meant: meant, line)  # type: ignore[misc]
    for part in filter(None, line.split(" | ")):
        if copied := re.fullmatch(r"([\w./]+) < ([\w./]+)", part):
            _copy(folder / copied[2], folder / copied[1])
        elif named := re.match(r"([\w./]+): ", part):
            _change(folder / named[1], json.loads(part[named.end() :]))
        elif part in _DONE:
            _DONE[part](folder)
        else:
            settings |= tomllib.loads(part)
    return settings


def _copy(old: Path, new: Path) -> None:
    new.parent.mkdir(exist_ok=True)
    if old.suffix == ".safetensors" and new.suffix in (".bin", ".pt"):
        write_torch(new, load_file(old))
    else:
        shutil.copy(old, new)


def _change(path: Path, value: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    if value is None:
        path.unlink()
    elif path.suffix == ".onnx" and value != "mine":
        onnx.save(
            encoder(**value) if isinstance(value, dict) else onnx.parser.parse_model(value), path
        )
    elif isinstance(value, str):
        path.write_text(value, encoding="utf-8")
    else:
        before = json.loads(path.read_text("utf-8")) if path.exists() else {}
        path.write_text(json.dumps(_merged(before, value)), encoding="utf-8")


def _save_again(folder: Path) -> None:
    """What the remedies of tokenizers say."""
    from transformers import AutoTokenizer

    AutoTokenizer.from_pretrained(folder).save_pretrained(folder)


def _reload(folder: Path) -> None:
    """What the remedies of weights say."""
    from transformers import AutoModel

    AutoModel.from_pretrained(folder).save_pretrained(folder, safe_serialization=True)


def _save_new(folder: Path) -> None:
    """What the remedies of sentence-transformers' folders say."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    model.save_pretrained(str(folder.parent / "new"))


#: What a library does with the folder.
_DONE = {"AGAIN": _save_again, "RELOADED": _reload, "SAVED": _save_new}


def _merged(before: Any, changes: Any) -> Any:
    """Objects keep their other keys; null removes one, and ``"NULL"`` is null."""
    if not isinstance(changes, dict) or not isinstance(before, dict):
        return None if changes == "NULL" else changes
    merged = before | {key: _merged(before.get(key), one) for key, one in changes.items()}
    return {key: one for key, one in merged.items() if changes.get(key, one) is not None}
