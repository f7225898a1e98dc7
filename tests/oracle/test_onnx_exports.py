"""Encoders that torch.onnx exported, against sentence-transformers on PyTorch."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch

from models.folders.heads import reranker_of_modules
from models.folders.saved import (
    MERGES,
    byte_vocabulary,
    save,
    wordpiece_vocabulary,
)
from models.folders.tiny_folders import change_json
from polybake.base.modelfile.container import read_head
from support.oracle.agreement import (
    agreement_with_cross_encoder,
    agreement_with_source,
    bake_source,
)
from support.oracle.proven import Judged, Proven

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch's own, of its exporters

#: No two sizes are equal, and as many positions as a RoBERTa of 60 tokens needs.
SIZES: dict[str, Any] = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 40,
    "max_position_embeddings": 67,
}

BATCH, LENGTH = 2, 5
AXES = {0: "batch", 1: "sequence"}


def bert() -> tuple[Any, Any]:
    from transformers import BertConfig, BertModel, BertTokenizer

    vocabulary = wordpiece_vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    config = BertConfig(vocab_size=len(vocabulary), **SIZES)
    return BertModel(config, add_pooling_layer=False), BertTokenizer(vocab=vocabulary)


def roberta() -> tuple[Any, Any]:
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    vocabulary = byte_vocabulary("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    config = RobertaConfig(vocab_size=len(vocabulary), **SIZES)
    tokenizer = RobertaTokenizer(vocab=vocabulary, merges=MERGES)
    return RobertaModel(config, add_pooling_layer=False), tokenizer


def qwen2() -> tuple[Any, Any]:
    from tokenizers import processors
    from transformers import Qwen2Config, Qwen2Model, Qwen2Tokenizer

    vocabulary = byte_vocabulary("<|endoftext|>")
    config = Qwen2Config(vocab_size=len(vocabulary), num_key_value_heads=1, **SIZES)
    tokenizer = Qwen2Tokenizer(vocab=vocabulary, merges=MERGES, padding_side="left")
    end = ("<|endoftext|>", vocabulary["<|endoftext|>"])
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A <|endoftext|>", special_tokens=[end]
    )
    return Qwen2Model(config), tokenizer


KINDS: dict[str, Callable[[], tuple[Any, Any]]] = {"bert": bert, "roberta": roberta, "qwen2": qwen2}

IDS = ("input_ids", "attention_mask")
TYPES = (*IDS, "token_type_ids")
POSITIONS = (*IDS, "position_ids")


def export(
    folder: Path,
    names: tuple[str, ...] = IDS,
    *,
    dtype: Any = None,
    integers: Any = None,
    **options: Any,
) -> Path:
    """Export the encoder of a sentence-transformers folder to ``onnx/model.onnx`` in it.

    Args:
        folder: What `save` wrote.
        names: The inputs.
        dtype: The type of the weights, where not float32.
        integers: The inputs' type, where not int64.
        options: Further arguments of ``torch.onnx.export``.
    """
    from transformers import AutoModel

    body = AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=dtype).eval()

    class Encoder(torch.nn.Module):  # type: ignore[misc, name-defined]
        """A wrapper with positional inputs and one output."""

        def __init__(self) -> None:
            super().__init__()
            self.body = body

        def forward(self, *values: Any) -> Any:
            fed = dict(zip(names, values, strict=True))
            if "use_cache" in vars(body.config):
                fed["use_cache"] = False
            return self.body(**fed).last_hidden_state

    # Every input is a tensor of its own: one given twice would be exported as one input.
    row = torch.arange(LENGTH, dtype=integers or torch.int64)
    values = tuple(
        (row if name == "position_ids" else row * 0 + 1).expand(BATCH, -1).clone() for name in names
    )
    path = folder / "onnx" / "model.onnx"
    path.parent.mkdir()
    if options.get("dynamo"):
        dynamic = torch.export.Dim.DYNAMIC
        options["dynamic_shapes"] = {"values": ({0: dynamic, 1: dynamic},) * len(names)}
    else:
        options["dynamic_axes"] = dict.fromkeys((*names, "last_hidden_state"), AXES)
    torch.onnx.export(
        Encoder(),
        values,
        str(path),
        input_names=list(names),
        output_names=["last_hidden_state"],
        **options,
    )
    return path


def assert_agreement(folder: Path, path: Path, proven: Proven, kind: str, source: str) -> None:
    """Bake the export, and compare it with the folder on PyTorch."""
    baked = bake_source(path, folder.parent / "tiny.onnx")
    proven(kind, agreement_with_source(folder, baked), source=source)


@pytest.mark.parametrize("opset", range(11, 21))
def test_torchscript(opset: int, tmp_path: Path, proven: Proven) -> None:
    """Every opset of the older exporter bakes, with token types as an input."""
    folder = save(tmp_path, *bert())
    path = export(folder, TYPES, dynamo=False, opset_version=opset)
    assert_agreement(folder, path, proven, "bert", f"torch.onnx TorchScript export, opset {opset}")


@pytest.mark.parametrize("opset", [18, 20, 25])
def test_dynamo(opset: int, tmp_path: Path, proven: Proven) -> None:
    """The newer exporter's files bake at every opset, with their weights in another file."""
    folder = save(tmp_path, *bert())
    path = export(folder, TYPES, dynamo=True, opset_version=opset, external_data=True)
    assert (path.parent / "model.onnx.data").is_file()
    assert {one.version for one in onnx.load(path, load_external_data=False).opset_import} == {
        opset
    }
    assert_agreement(folder, path, proven, "bert", f"torch.onnx dynamo export, opset {opset}")


@pytest.mark.parametrize("dynamo", [False, True])
@pytest.mark.parametrize(
    ("kind", "names"), [("roberta", IDS), ("bert", POSITIONS), ("qwen2", POSITIONS)]
)
def test_inputs(
    kind: str, names: tuple[str, ...], dynamo: bool, tmp_path: Path, proven: Proven
) -> None:
    """Positions may be an input or computed, and are right under padding on either side."""
    folder = save(tmp_path, *KINDS[kind](), pooling="mean")
    path = export(folder, names, dynamo=dynamo, opset_version=18)
    exporter = "dynamo" if dynamo else "TorchScript"
    given = " with position_ids" if "position_ids" in names else ""
    assert_agreement(folder, path, proven, kind, f"torch.onnx {exporter} export{given}, opset 18")


def test_int32(tmp_path: Path, proven: Proven) -> None:
    """An export with int32 inputs is fed int64, as clients do."""
    folder = save(tmp_path, *bert())
    path = export(folder, integers=torch.int32, dynamo=False, opset_version=14)
    source = "torch.onnx TorchScript export with int32 inputs, opset 14"
    assert_agreement(folder, path, proven, "bert", source)


def test_weights_that_are_inputs(tmp_path: Path, proven: Proven) -> None:
    """Weights that are also inputs are not fed."""
    folder = save(tmp_path, *bert())
    options = {"keep_initializers_as_inputs": True}
    path = export(folder, dynamo=False, opset_version=11, **options)
    assert len(onnx.load(path).graph.input) > len(IDS)
    source = "torch.onnx TorchScript export, weights as inputs, opset 11"
    assert_agreement(folder, path, proven, "bert", source)


def test_one_file_a_weight(tmp_path: Path, proven: Proven) -> None:
    """Each weight may lie in a file of its own."""
    folder = save(tmp_path, *bert())
    path = export(folder, dynamo=False, opset_version=17)
    onnx.save(
        onnx.load(path),
        path,
        save_as_external_data=True,
        all_tensors_to_one_file=False,
        size_threshold=0,
    )
    assert len(list(path.parent.iterdir())) > 10
    source = "torch.onnx TorchScript export, a file a weight, opset 17"
    assert_agreement(folder, path, proven, "bert", source)


def test_half_precision(tmp_path: Path) -> None:
    """A float16 graph is computed in float32, so that only what its file rounded differs.

    It has no row in the support table: the exporter rounds constants such as the square root of 2.
    """
    model, tokenizer = bert()
    folder = save(tmp_path, model, tokenizer)
    halve(folder / "model.safetensors")
    path = export(folder, dtype=torch.float16, dynamo=False, opset_version=17)
    (output,) = onnx.load(path).graph.output
    assert output.type.tensor_type.elem_type == onnx.TensorProto.FLOAT16
    found = agreement_with_source(folder, bake_source(path, tmp_path / "tiny.onnx")).difference
    print(f"\nbert in float16: largest difference {found:.2e}")  # noqa: T201
    assert found <= 1e-4


@pytest.mark.parametrize(
    ("said", "activation"),
    [("task", "Sigmoid"), ("settings", "Sigmoid"), ("settings", "Identity")],
)
def test_a_reranker_of_modules(said: str, activation: str, tmp_path: Path, judged: Judged) -> None:
    """Its config.json names no head: the task does, or the CrossEncoder's own settings."""
    save(tmp_path / "base", *bert())
    library = reranker_of_modules(tmp_path / "base" / "body", activation)
    library.save_pretrained(str(tmp_path / "library"))
    path = export_reranker(library, tmp_path / "export")
    kept = ["config.json", "tokenizer.json", "tokenizer_config.json"]
    if said == "settings":
        kept.append("config_sentence_transformers.json")
    for name in kept:
        shutil.copy(tmp_path / "library" / name, path.parent)
    task = "rerank" if said == "task" else None
    judged(agreement_with_cross_encoder(path, tmp_path / "m.onnx", tmp_path / "library", task))


def test_an_input_of_types_without_types(tmp_path: Path, judged: Judged) -> None:
    """A class that gives none has the input fed zeros."""
    save(tmp_path / "base", *bert())
    base, library = tmp_path / "base" / "body", tmp_path / "library"
    change_json(base / "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    model = reranker_of_modules(base, "Sigmoid")
    model.save_pretrained(str(library))
    path = export_reranker(model, tmp_path / "export")
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(library / name, path.parent)
    found = agreement_with_cross_encoder(path, tmp_path / "m.onnx", library, "rerank")
    pair = read_head(tmp_path / "m.onnx").manifest.contract.pair
    assert pair is not None
    assert {piece.type_id for piece in pair.pieces} == {0}
    judged(found)


def export_reranker(model: Any, folder: Path) -> Path:
    """Export all modules of a CrossEncoder to a graph whose output is `logits`."""

    class Whole(torch.nn.Module):  # type: ignore[misc, name-defined]
        """A wrapper with positional inputs and one output."""

        def __init__(self) -> None:
            super().__init__()
            self.whole = model

        def forward(self, *values: Any) -> Any:
            features = dict(zip(TYPES, values, strict=True))
            for module in self.whole:
                features = module(features)
            return features["scores"]

    folder.mkdir()
    row = torch.ones((BATCH, LENGTH), dtype=torch.int64)
    torch.onnx.export(
        Whole(),
        tuple(row.clone() for _ in TYPES),
        str(folder / "model.onnx"),
        input_names=list(TYPES),
        output_names=["logits"],
        dynamic_axes=dict.fromkeys(TYPES, AXES) | {"logits": {0: "batch"}},
        dynamo=False,
    )
    return folder / "model.onnx"


def halve(file: Path) -> None:
    """Round every weight to float16."""
    from safetensors.torch import load_file, save_file

    weights = {name: weight.half().float() for name, weight in load_file(file).items()}
    save_file(weights, file, metadata={"format": "pt"})
