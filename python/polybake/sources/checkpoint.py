"""An encoder built from config.json and safetensors, without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onnxscript import GraphBuilder, ir
from pydantic import ValidationError

from polybake.encoders import ENCODERS
from polybake.encoders.architecture import Architecture, EncoderConfig
from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.files.validation import first_fault
from polybake.layers.network import check_every_parameter_is_placed
from polybake.layers.weights import load_weights
from polybake.modelfile.manifest import Feed
from polybake.sources.encoder_graph import place, write_reference
from polybake.sources.source import EncoderGraph, Reference
from polybake.tokenization.tokenizer import BakedTokenizer

_ENCODER_OUTPUT = "token_embeddings"


@dataclass(frozen=True)
class Checkpoint:
    """An encoder of a known architecture and the files that hold its weights."""

    name: str
    architecture: type[Architecture]
    config: EncoderConfig
    files: tuple[Path, ...]
    proves: Literal["steps"] = "steps"

    def place(self) -> EncoderGraph:
        """Build the graph; the weights are read when it is written.

        Raises:
            InputError: the weights do not fit the configuration.
        """
        return place(self.build, self.feeds)

    @property
    def feeds(self) -> tuple[Feed, ...]:
        """What it takes."""
        return self.architecture.feeds

    def build(
        self, builder: GraphBuilder, values: Mapping[Feed, ir.Value]
    ) -> tuple[ir.Value, Sequence[ir.Value]]:
        """Add it to a graph that has its inputs; give its token embeddings and hidden states.

        Raises:
            InputError: the weights do not fit the configuration.
        """
        encoder = self.architecture(self.config)
        embeddings: ir.Value = encoder(builder.op, **{feed: values[feed] for feed in self.feeds})
        embeddings.shape = ir.Shape(["batch", "sequence", self.config.hidden_size])
        load_weights(encoder, self.files, prefix=encoder.prefix, ignored=encoder.ignored)
        check_every_parameter_is_placed(encoder, builder.graph)
        return embeddings, encoder.hidden_states

    def reference(self, folder: Path) -> Reference:
        """Write the encoder without any step."""
        return write_reference(self.place(), folder)


def open_checkpoint(
    folder: ModelFolder,
    tokenizer: BakedTokenizer,  # noqa: ARG001 - as open_torch
) -> Checkpoint:
    """Recognise the architecture and find the weights of a folder.

    Raises:
        InputError: an unknown architecture, a configuration that is not supported, or no
            safetensors file.
    """
    settings = folder.settings("config.json")
    path = folder.path / "config.json"
    name = settings.get("model_type")
    if not isinstance(name, str) or name not in ENCODERS:
        raise InputError(
            f"{path}: unknown architecture {name!r}; known are: {', '.join(ENCODERS)}; "
            "let PyTorch export others with --encoder torch (in polybake.toml: "
            'encoder = "torch"), or give an .onnx file'
        )
    architecture = ENCODERS[name]
    try:
        config = architecture.Config.model_validate(settings)
    except ValidationError as error:
        raise InputError(
            f"{path}: {first_fault(error)}; export this model to ONNX and give the .onnx file"
        ) from error
    return Checkpoint(name, architecture, config, weight_files(folder))


def weight_files(folder: ModelFolder) -> tuple[Path, ...]:
    """The safetensors file of a folder, or those that its index lists.

    Raises:
        InputError: there is none, one that is listed is missing, or an adapter lies beside them.
    """
    if folder.file("adapter_config.json") is not None:
        raise InputError(
            f"{folder.path / 'adapter_config.json'}: an adapter is not applied; merge it into the "
            "weights with PEFT's merge_and_unload, and save the model without it"
        )
    single = folder.file("model.safetensors")
    if single is not None:
        return (single,)
    index = folder.settings("model.safetensors.index.json").get("weight_map")
    if isinstance(index, dict):
        names = sorted({str(name) for name in index.values()})
        others = [name for name in names if not name.endswith(".safetensors")]
        if others:
            raise InputError(
                f"{folder.path}: model.safetensors.index.json lists {others[0]!r}, which is no "
                "safetensors file; download the model again"
            )
        found = {name: folder.file(name) for name in names}
        missing = [name for name, file in found.items() if file is None]
        if missing:
            raise InputError(f"{folder.path}: {missing[0]} is missing; download the model again")
        return tuple(file for file in found.values() if file is not None)
    exports = sorted([*folder.path.glob("*.onnx"), *folder.path.glob("onnx/*.onnx")])
    if exports:
        raise InputError(f"{folder.path}: has no model.safetensors; give its {exports[0]} instead")
    pickled = sorted(folder.path.glob("*.bin"))
    reason = f" ({pickled[0].name} is a pickle, which may run code)" if pickled else ""
    raise InputError(
        f"{folder.path}: has no model.safetensors{reason}; write it with transformers: "
        "AutoModel.from_pretrained(…).save_pretrained(…, safe_serialization=True)"
    )
