"""A model of transformers, as PyTorch runs it and as PyTorch exports it."""

from __future__ import annotations

import inspect
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from transformers import (
    MODEL_FOR_TEXT_ENCODING_MAPPING,
    AutoConfig,
    AutoModel,
    AutoModelForTextEncoding,
    AutoTokenizer,
)

from polybake.base.modelfile.manifest import Feed
from polybake.errors import InputError

#: The opset of our own encoders, so that runtimes that are years old load the file.
_OPSET = 18

#: The inputs, in the graph's order.
_FEEDS: tuple[Feed, ...] = ("input_ids", "attention_mask", "token_type_ids")

_LONGEST_REASON = 300

#: Nothing is downloaded, and no code of the folder is run.
_LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


class TorchModel(torch.nn.Module):  # type: ignore[misc] # torch is not here to be checked
    """Calls a model like sentence-transformers: from token ids to token embeddings."""

    output = "last_hidden_state"

    def __init__(self, model: Any, feeds: Sequence[Feed]) -> None:
        super().__init__()
        self.model = model
        self.feeds = tuple(feeds)
        self.kind: str = model.config.model_type
        self.vocabulary: int = model.get_input_embeddings().num_embeddings
        caches = "use_cache" in inspect.signature(model.forward).parameters
        self.options = {"use_cache": False} if caches else {}

    def forward(self, *values: torch.Tensor) -> torch.Tensor:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        fed = dict(zip(self.feeds, values, strict=True))
        output: torch.Tensor = self.model(**fed, **self.options, return_dict=True)[self.output]
        return output

    def run(self, fed: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        """Run the model in PyTorch on the inputs of `forward`, by name."""
        with torch.no_grad(), _quiet():
            values = [torch.from_numpy(fed[name]) for name in self.feeds]
            result: NDArray[np.float32] = self(*values).numpy()
        return result

    def export(self, path: Path) -> None:
        """Write the model as ONNX with dynamic batch and sequence axes, its weights beside it."""
        axis = torch.export.Dim.DYNAMIC
        example = {name: torch.ones(2, 7, dtype=torch.int64) for name in self.feeds}
        if "token_type_ids" in example:
            example["token_type_ids"] *= 0
        try:
            with torch.no_grad(), _quiet():
                torch.onnx.export(
                    self,
                    tuple(example.values()),
                    path,
                    dynamo=True,
                    input_names=list(self.feeds),
                    output_names=[self.output],
                    dynamic_shapes=(tuple({0: axis, 1: axis} for _ in self.feeds),),
                    opset_version=_OPSET,
                    external_data=True,
                    verbose=False,
                )
        except Exception as error:  # the exporter's errors share no base class
            raise InputError(
                f"{self.kind}: PyTorch {torch.__version__} cannot export it "
                f"({_reason(error)}); try another version, or give an .onnx file made elsewhere"
            ) from error


def load(folder: Path) -> TorchModel:
    """Load the encoder of a folder in float32, for evaluation."""
    try:
        with _quiet():
            config = AutoConfig.from_pretrained(folder, **_LOCAL)
            # For models like mT5 this loads only the encoder.
            encoders = type(config) in MODEL_FOR_TEXT_ENCODING_MAPPING
            model, report = (AutoModelForTextEncoding if encoders else AutoModel).from_pretrained(
                folder,
                config=config,
                dtype=torch.float32,
                attn_implementation="eager",
                use_safetensors=True,
                output_loading_info=True,
                **_LOCAL,
            )
            tokens = AutoTokenizer.from_pretrained(folder, **_LOCAL)("a")
    except Exception as error:  # transformers' exceptions share no base class
        raise InputError(
            f"transformers {transformers.__version__} does not load the encoder "
            f"({_reason(error)}); give an .onnx file made elsewhere"
        ) from error
    if config.is_encoder_decoder and not encoders:
        raise InputError(
            f"{config.model_type}: has a decoder, which transformers does not leave out; "
            "give an .onnx file of its encoder"
        )
    parameters = inspect.signature(model.forward).parameters
    feeds = [name for name in _FEEDS if name in parameters and name in tokens]
    if "attention_mask" not in feeds:
        raise InputError(
            f"{config.model_type}: takes no attention_mask, so that its vectors depend on padding; "
            "use another model"
        )
    if "token_type_ids" in feeds and any(tokens["token_type_ids"]):
        raise InputError(
            f"{config.model_type}: its tokenizer gives token_type_ids {tokens['token_type_ids']}, "
            "where clients feed zeros; use another model"
        )
    loaded = TorchModel(model.eval(), feeds)
    _check_no_weight_is_missing(loaded, report["missing_keys"])
    return loaded


def _check_no_weight_is_missing(model: TorchModel, missing: set[str]) -> None:
    """Set missing weights to NaN to see whether they matter; a pooler's weights do not."""
    state = model.model.state_dict()
    for name in missing:
        state[name].fill_(torch.nan)
    ones = np.ones((1, 3), np.int64)
    fed = {"input_ids": ones, "attention_mask": ones, "token_type_ids": 0 * ones}
    if missing and np.isnan(model.run(fed)).any():
        raise InputError(
            f"{model.kind}: the safetensors files lack weights that are needed (missing: "
            f"{len(missing)}, such as {sorted(missing)[0]}); use those that go with config.json"
        )


def _reason(error: BaseException) -> str:
    """The beginning of the error behind all others, which names the operator if any does."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST_REASON]


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress messages of PyTorch and transformers that are for their developers."""
    bars, disabled = transformers.logging.is_progress_bar_enabled(), logging.root.manager.disable
    transformers.logging.disable_progress_bar()
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
        if bars:
            transformers.logging.enable_progress_bar()
