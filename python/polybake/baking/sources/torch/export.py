"""An encoder of any architecture that transformers has, exported by PyTorch.

Source: ``torch.onnx.export`` with ``dynamo=True``.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

from polybake.baking.layers.stored_tensor import PICKLED
from polybake.baking.sources.checkpoint import checkpoint_files
from polybake.baking.sources.onnx.file import OnnxFile
from polybake.baking.sources.source import EncoderGraph, SourceReference
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.scratch import Scratch, show_in
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError, RequirementMissing, install
from polybake.runtime.tokenizer import BakedTokenizer

_TOKENIZER = "tokenizer.json"
_FILES = ("config.json", "model.safetensors.index.json", _TOKENIZER)


class _ModelConfig(JsonModel):
    """config.json, without a model's own code, and without other numbers than the files hold."""

    model_type: str
    auto_map: None = None
    quantization_config: None = None
    type_vocab_size: int = 0


class _TokenizerSettings(JsonModel):
    """The inputs that a tokenizer gives; its other settings may name files."""

    tokenizer_class: str | None = None
    model_input_names: list[str] | None = None


@dataclass(frozen=True)
class TorchExport:
    """An encoder that PyTorch exports when it is first placed in a graph.

    Attributes:
        name: ``torch:`` and the architecture.
        files: All files of the model's folder that transformers sees, by name.
        tokenizer_settings: The part of tokenizer_config.json that it sees.
        tokenizer: The tokenizer; the export is proven with its limit and padding.
        several_types: Whether the model tells types of tokens apart.
        typed: Whether the tokens of a pair have types; None where it makes no difference.
    """

    name: str
    files: Mapping[str, Path]
    tokenizer_settings: _TokenizerSettings
    tokenizer: BakedTokenizer
    several_types: bool
    typed: bool | None = None
    proves: Literal["source"] = "source"

    def for_pairs(self, gives_types: Callable[[], bool]) -> Self:
        """Return the encoder, which takes the types that its tokenizer gives."""
        return dataclasses.replace(self, typed=gives_types()) if self.several_types else self

    def place(self) -> EncoderGraph:
        """Load the exported graph."""
        return dataclasses.replace(self._exported.place(), typed=self.typed)

    def reference(self, folder: Path) -> SourceReference:  # noqa: ARG002 - it is written already
        """Give the exported file, which was compared with PyTorch."""
        return SourceReference(self._exported.path, self._exported.output)

    @cached_property
    def _exported(self) -> OnnxFile:
        try:
            from polybake.baking.sources.torch.model import load
            from polybake.baking.sources.torch.proof import expectations, prove
        except ModuleNotFoundError as error:
            raise RequirementMissing(
                f"exporting needs the package {error.name}; {install('torch')}"
            ) from error
        folder = Path(self._scratch.name)
        for name, file in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            show_in(folder / name, file)
        if _TOKENIZER not in self.files:
            (folder / _TOKENIZER).write_text(self.tokenizer.json, encoding="ascii")
        settings = self.tokenizer_settings.model_dump_json(exclude_unset=True)
        (folder / "tokenizer_config.json").write_text(settings, encoding="utf-8")
        model = load(folder)
        path = folder / "encoder.onnx"
        expected = expectations(model, self.tokenizer)
        model.export(path)
        prove(model, path, expected)
        return OnnxFile(path, model.output)

    @cached_property
    def _scratch(self) -> Scratch:
        """Holds the exported file while this encoder is in use."""
        return Scratch()


def open_torch(folder: ModelFolder, tokenizer: BakedTokenizer) -> TorchExport:
    """Find the files that PyTorch needs to export an encoder; nothing is loaded yet."""
    if folder.settings.attention is not None:
        raise InputError(
            f"{folder.path}: PyTorch runs the model's class as it is; leave out attention = "
            f'"{folder.settings.attention}", or encoder = "torch"'
        )
    if folder.settings.adapter is not None:
        raise InputError(
            f"{folder.path}: PyTorch runs the model's class as it is; leave out adapter = "
            f'"{folder.settings.adapter}", or encoder = "torch"'
        )
    remedy = "no code of a model is run; export it yourself and give the .onnx file"
    config = folder.read("config.json", _ModelConfig, needed=True, remedy=remedy)
    paths = {name: folder.file(name) for name in _FILES}
    files = {name: file for name, file in paths.items() if file is not None}
    weights = {file.relative_to(folder.path).as_posix(): file for file in checkpoint_files(folder)}
    for file in weights.values():
        if file.suffix in PICKLED:
            raise InputError(
                f'{file}: is a pickle, which PyTorch would run; leave out encoder = "torch", or '
                "write the weights with transformers: save_pretrained(…, safe_serialization=True)"
            )
    settings = folder.read("tokenizer_config.json", _TokenizerSettings)
    several = config.type_vocab_size > 1
    return TorchExport(f"torch:{config.model_type}", files | weights, settings, tokenizer, several)
