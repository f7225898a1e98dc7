"""An encoder built from config.json and its weights, without PyTorch."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Self

from onnxscript import GraphBuilder, ir
from pydantic import Field

from polybake.baking.encoders import ENCODERS
from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.encoder_config import EncoderConfig
from polybake.baking.encoders.layer import keys_values
from polybake.baking.encoders.options import Options
from polybake.baking.layers.network import check_every_parameter_is_placed
from polybake.baking.layers.prefix_cache import Past
from polybake.baking.layers.stored_tensor import stored_tensors
from polybake.baking.layers.weights import load_weights
from polybake.baking.sources.built_encoder import BuiltEncoder, named
from polybake.baking.sources.module_weights import INDEX, or_read_it, pickled_file
from polybake.baking.sources.source import HeadKind
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.base.modelfile.manifest import Feed
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

#: The architecture of Stanford's ColBERT, whose checkpoints hold its projection, too.
STANFORD_COLBERT: HeadKind = "HF_ColBERT"


@dataclass(frozen=True)
class Checkpoint(BuiltEncoder):
    """An encoder of a known architecture and the files that hold its weights.

    Attributes:
        typed: Whether it takes the types of tokens; else all tokens have type 0.
        ignored: Prefixes of the names of the weights of the checkpoint's head, beside those that
            the architecture ignores.
    """

    name: str
    architecture: Architecture
    options: Options
    files: tuple[Path, ...]
    typed: bool | None = None
    ignored: tuple[str, ...] = ()

    @property
    def feeds(self) -> tuple[Feed, ...]:
        """The encoder's inputs, with the types of tokens if it takes them."""
        types: tuple[Feed, ...] = ("token_type_ids",) if self.typed else ()
        return (*super().feeds, *types)

    def for_pairs(self, gives_types: Callable[[], bool]) -> Self:
        """Return the encoder that takes the types of tokens, if there are any."""
        several = self.options.takes_types and self.options.token_types > 1
        return replace(self, typed=gives_types()) if several else self

    @property
    def pooled(self) -> bool:
        """Whether it gives one embedding a text."""
        return self.architecture.network.pooled

    @property
    def caches(self) -> bool:
        """Whether the keys and values of prompts may be computed once.

        They may where each token attends to itself and those before it alone.
        """
        return self.options.cached and self.options.causal

    def further(self, model: ir.Model) -> list[ir.Value]:
        """Return the keys and values of each layer, if tokens behind others do not change them."""
        layers = range(self.options.num_layers) if self.caches else ()
        return [named(model, name) for layer in layers for name in keys_values(layer)]

    def build(
        self, builder: GraphBuilder, values: Mapping[Feed, ir.Value], past: Past | None = None
    ) -> tuple[ir.Value, Sequence[ir.Value]]:
        """Add the encoder to a graph; return its token embeddings and its hidden states.

        ``past`` is the prefix of the rows, behind which a causal encoder begins.

        Raises:
            InputError: the weights do not fit the configuration.
        """
        architecture, options = self.architecture, self.options
        encoder = architecture.network(options, architecture.names)
        begun = {} if past is None else {"past": past}
        fed = {feed: values[feed] for feed in self.feeds}
        embeddings: ir.Value = encoder(builder.op, **fed, **begun)
        sequence = [] if self.pooled else ["sequence" if past is None else "rest"]
        embeddings.shape = ir.Shape(["batch", *sequence, options.output_size])
        scope = str(encoder.tokens.weight.name).removesuffix(
            f"{architecture.names['tokens']}.weight"
        )
        load_weights(
            encoder,
            self.files,
            prefix=architecture.prefix,
            ignored=(*architecture.ignored, *self.ignored),
            arranged=partial(architecture.arranged, options),
            scope=scope,
        )
        check_every_parameter_is_placed(encoder, builder.graph)
        return embeddings, encoder.hidden_states


def open_checkpoint(
    folder: ModelFolder,
    tokenizer: BakedTokenizer,  # noqa: ARG001 - as open_torch
) -> Checkpoint:
    """Recognise the architecture and find the weights of a folder."""
    refuse_adapter(folder)
    name = architecture_name(folder)
    if name not in ENCODERS:
        raise InputError(
            f"{folder.path / 'config.json'}: unknown architecture {name!r}; known are: "
            f"{', '.join(ENCODERS)}; let PyTorch export others: encoder = "
            '"torch" below [model] in polybake.toml (--set model.encoder=torch); or give an .onnx '
            "file"
        )
    architecture = ENCODERS[name]
    options = _options(folder, architecture)
    architectures = ModelConfig.of(folder).architectures or ()
    projection = ("linear.",) if STANFORD_COLBERT in architectures else ()
    return Checkpoint(name, architecture, options, checkpoint_files(folder), ignored=projection)


def _options(folder: ModelFolder, architecture: Architecture) -> Options:
    """Read config.json, with what the user says of attention and adapters.

    Raises:
        InputError: It has an unknown key, or what the user says has no meaning for it.
    """
    config = folder.counted(
        "config.json", EncoderConfig, "export this model to ONNX and give the .onnx file"
    )
    options = architecture.read(config)
    for key, value in config.choices.items():
        raise InputError(
            f"{config.path}: has no {_CHOICES[key]}; leave out {key} = {json.dumps(value)}"
        )
    config.check(folder.allowed)
    return options


#: What an architecture has that the user may choose in.
_CHOICES = {
    "attention": "decoder whose attention polybake.toml could say",
    "adapter": "adapter that polybake.toml could choose",
}


def architecture_name(folder: ModelFolder) -> str | None:
    """Return the name of a folder's architecture: a key of `ENCODERS` if it is known.

    It is config.json's ``model_type``, except for models whose own code took that of another.
    """
    config = ModelConfig.of(folder)
    kind, positions = config.model_type, config.position_embedding_type
    if (kind, positions) == ("xlm-roberta", "rotary"):
        return "xlm_roberta_flash"
    if (kind, positions) != ("bert", "alibi"):
        return kind
    tensors = chain.from_iterable(map(stored_tensors, checkpoint_files(folder)))
    return "jina_bert_qk" if any("layer_norm_q" in entry.name for entry in tensors) else "jina_bert"


class _Index(JsonModel):
    """model.safetensors.index.json: the file of each weight."""

    weight_map: Annotated[
        dict[str, Annotated[str, Field(pattern=r"\.safetensors$")]], Field(min_length=1)
    ]


class _PickledIndex(JsonModel):
    """pytorch_model.bin.index.json, the same of pickles."""

    weight_map: Annotated[dict[str, Annotated[str, Field(pattern=r"\.bin$")]], Field(min_length=1)]


def checkpoint_files(folder: ModelFolder) -> tuple[Path, ...]:
    """Return the safetensors file of a folder, or the files that its index lists.

    If the user lets pickles be read and there are no safetensors, they are these.
    """
    refuse_adapter(folder)
    single = folder.file("model.safetensors")
    if single is not None:
        return (single,)
    if folder.file("model.safetensors.index.json") is not None:
        return _listed(folder, folder.read("model.safetensors.index.json", _Index).weight_map)
    single = pickled_file(folder)
    if single is not None:
        return (single,)
    if folder.settings.pickle == "tensors" and folder.file(INDEX) is not None:
        return _listed(folder, folder.read(INDEX, _PickledIndex).weight_map)
    exports = sorted([*folder.path.glob("*.onnx"), *folder.path.glob("onnx/*.onnx")])
    if exports:
        raise InputError(f"{folder.path}: has no model.safetensors; give its {exports[0]} instead")
    pickled = sorted(folder.path.glob("*.bin"))
    reason = f" ({pickled[0].name} is a pickle, which may run code)" if pickled else ""
    raise InputError(
        f"{folder.path}: has no model.safetensors{reason}; write it with transformers: "
        f"{_saver(folder)}.from_pretrained(…).save_pretrained(…, safe_serialization=True)"
        f"{or_read_it(folder)}"
    )


_ADAPTER = "adapter_config.json"


class _Adapter(JsonModel):
    """The key of adapter_config.json that PEFT writes, and no other library."""

    peft_type: object = None


def refuse_adapter(folder: ModelFolder) -> None:
    """Refuse an adapter that lies in a folder, with or without the model that it was made for."""
    file = folder.file(_ADAPTER)
    if file is not None:
        merged = (
            "merge it into the weights with PEFT's merge_and_unload, and save the model without it"
        )
        exported = "export the model with it to ONNX and give the .onnx file"
        peft = folder.read(_ADAPTER, _Adapter).peft_type is not None
        raise InputError(f"{file}: an adapter is not applied; {merged if peft else exported}")


def _listed(folder: ModelFolder, weight_map: Mapping[str, str]) -> tuple[Path, ...]:
    return tuple(folder.needed_file(name) for name in sorted({*weight_map.values()}))


#: The name of a class; its end is a head if transformers has an AutoModel for the head.
_CLASS = re.compile(
    r"[A-Za-z_]\w{0,79}?"
    r"(?P<head>For(?:SequenceClassification|TokenClassification|QuestionAnswering|MaskedLM))?",
    re.ASCII,
)


def _saver(folder: ModelFolder) -> str:
    """Return the class that saves a whole model: AutoModel would leave its head out."""
    (name, *_) = ModelConfig.of(folder).architectures or ("",)
    match = _CLASS.fullmatch(name)
    if match is None or name.endswith("Model"):
        return "AutoModel"
    return f"AutoModel{match['head']}" if match["head"] else name
