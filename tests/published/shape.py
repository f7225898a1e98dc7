"""The shapes of published models' folders, and how a folder of each is written in small."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, model_validator
from safetensors.numpy import save_file

from models.folders.old_tokenizers import OLD
from models.folders.tiny_folders import write_json
from models.folders.torch_saved import write_torch
from published.tensors import Sizes, encoder
from published.tokenizers_json import KINDS

_HERE = Path(__file__).parent
_KNOWN = {
    name: json.loads((_HERE / f"{name}.json").read_text("utf-8"))
    for name in ("configs", "tokenizer_configs")
}
#: The rows of a table for any tokenizer that is not counted.
_ROWS = 400
#: What published sizes become; no two that meet in a product are equal.
_SMALL = {
    **dict.fromkeys(("hidden_size", "dim", "n_embd", "d_model", "pooler_hidden_size"), 24),
    **dict.fromkeys(("intermediate_size", "hidden_dim", "n_inner", "d_ff"), 40),
    **dict.fromkeys(("num_hidden_layers", "n_layers", "n_layer", "num_layers"), 3),
    **dict.fromkeys(("num_attention_heads", "n_heads", "n_head", "num_heads"), 4),
    **dict.fromkeys(("head_dim", "d_kv"), 10),
    "num_decoder_layers": 3,
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 3),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 40),
    "projection_dim": 16,
    "num_key_value_heads": 2,
}
_MODULES = "sentence_transformers.models."

Json = dict[str, Any]


class Module(BaseModel, extra="forbid"):
    """A module of modules.json.

    Attributes:
        type: Its type in modules.json, or the last name of one of sentence-transformers.
        path: Its folder.
        config: Its config.json; None where it has none.
        weights: Their sizes by name.
    """

    type: str
    path: str
    config: Json | None = None
    weights: Sizes = {}


class Shape(BaseModel, extra="forbid"):
    """What lies in the repository of a published model, and what becomes of it.

    Sizes of weights are those of the small folder, where 0 is the vocabulary's. A configuration
    with the key ``like`` is one of configs.json or tokenizer_configs.json with other values, and
    without the keys that ``without`` lists.

    Attributes:
        repository: ``owner/name`` on the hub.
        also: Others of the same shape.
        config: config.json as published; its sizes are made small where the folder is written.
        tokenizer: A key of `KINDS`; empty where the repository has no tokenizer.json.
        older: A key of `OLD` where it has the files of before in its place.
        tokenizer_in: The folders of tokenizer.json.
        prefix: What stands before the names of the encoder's weights, such as ``bert.``.
        weights: The weights besides the encoder's.
        pickle: Whether all of them lie in files pytorch_model.bin alone.
        modules: The entries of modules.json; None where there is no such file.
        files: Other files by name: JSON, a text, or sizes of weights, also as a pickle (.pt).
        table: Keys of ``[model]`` in polybake.toml that it is baked with.
        bakes: The task that it is baked for; empty where it is refused.
        dimension: Numbers of a row; 0 is not asked.
        refused: Words of the message.
    """

    repository: str
    also: list[str] = []
    config: Json | None = None
    tokenizer: str = ""
    older: str = ""
    tokenizer_in: list[str] = [""]
    prefix: str = ""
    weights: Sizes = {}
    pickle: bool = False
    modules: list[Module] | None = None
    files: dict[str, Any] = {}
    table: dict[str, Any] = {}
    bakes: str = ""
    dimension: int = 0
    refused: str = ""

    @model_validator(mode="after")
    def _has_one_end(self) -> Self:
        if bool(self.bakes) == bool(self.refused):
            raise ValueError(f"{self.repository}: expected either bakes or refused")
        return self

    def write(self, folder: Path) -> Path:
        """Write it below ``folder`` as the hub's cache does, and return it."""
        place = folder / f"models--{self.repository.replace('/', '--')}" / "snapshots" / ("a" * 40)
        place.mkdir(parents=True)
        made = KINDS[self.tokenizer]() if self.tokenizer else None
        rows = made.get_vocab_size() if made is not None else _ROWS
        if self.older:
            OLD[self.older].write(place)
        for name in self.tokenizer_in if made is not None else ():
            (place / name).mkdir(exist_ok=True)
            made.save(str(place / name / "tokenizer.json"))
        if self.config is not None:
            config = _small(_as_published(self.config, "configs"), rows)
            write_json(place / "config.json", config)
            own = {f"{self.prefix}{name}": size for name, size in encoder(config).items()}
            self._write_weights(place, own | self.weights, rows)
        for name, content in self.files.items():
            _write_file(place / name, content, rows)
        if self.modules is not None:
            self._write_modules(place, rows)
        return place

    def _write_modules(self, place: Path, rows: int) -> None:
        listed = []
        for number, module in enumerate(self.modules or ()):
            kind = module.type if "." in module.type else f"{_MODULES}{module.type}"
            entry = {"idx": number, "name": str(number), "path": module.path, "type": kind}
            listed.append(entry)
            inner = place / module.path
            inner.mkdir(exist_ok=True)
            if module.config is not None:
                write_json(inner / "config.json", module.config)
            if module.weights:
                self._write_weights(inner, module.weights, rows)
        write_json(place / "modules.json", listed)

    def _write_weights(self, folder: Path, sizes: Sizes, rows: int) -> None:
        if self.pickle:
            write_torch(folder / "pytorch_model.bin", _random(folder, sizes, rows))
        else:
            _write_weights(folder, sizes, rows)


def shapes() -> Iterator[Shape]:
    """All shapes, in the order of the files below shapes/."""
    for path in sorted((_HERE / "shapes").glob("*.json")):
        for entry in json.loads(path.read_text("utf-8")):
            yield Shape.model_validate(entry)


def _as_published(given: Json, bases: str) -> Json:
    """What a configuration says that may be like a known one."""
    if "like" not in given:
        return given
    base = {**_KNOWN[bases][given["like"]], **given}
    without = {"like", "without", *given.get("without", ())}
    return {key: value for key, value in base.items() if key not in without}


def _small(config: Json, rows: int) -> Json:
    """A published config.json with small sizes and a vocabulary of so many tokens."""
    made = {key: _SMALL[key] if key in _SMALL and value else value for key, value in config.items()}
    if isinstance(made.get("text_config"), dict):
        made["text_config"] = _small(made["text_config"], rows)
    if "layer_types" in made:
        made["layer_types"] = made["layer_types"][:3]
    return made | ({"vocab_size": rows} if "vocab_size" in made else {})


def _write_file(path: Path, content: Any, rows: int) -> None:
    path.parent.mkdir(exist_ok=True)
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    elif path.suffix == ".safetensors":
        _write_weights(path.parent, content, rows)
    elif path.suffix == ".pt":
        write_torch(path, _random(path.parent, content, rows))
    else:
        is_tokenizers = path.name == "tokenizer_config.json"
        write_json(path, _as_published(content, "tokenizer_configs") if is_tokenizers else content)


def _write_weights(folder: Path, sizes: Mapping[str, tuple[int, ...]], rows: int) -> None:
    """Write model.safetensors with random weights."""
    arrays = _random(folder, sizes, rows)
    save_file(arrays, folder / "model.safetensors", metadata={"format": "pt"})


def _random(
    folder: Path, sizes: Mapping[str, tuple[int, ...]], rows: int
) -> dict[str, NDArray[np.generic]]:
    """Weights with a standard deviation of 0.2."""
    random = np.random.default_rng(zlib.crc32(str(folder.parts[-3:]).encode()))
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, size in sizes.items():
        shape = tuple(one or rows for one in size)
        if name.endswith("position_ids"):
            arrays[name] = np.arange(shape[-1], dtype=np.int64)[None]
        else:
            arrays[name] = random.normal(0.0, 0.2, shape).astype(np.float32)
    return arrays
