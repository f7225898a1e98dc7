"""Encoders that PyTorch exports, against sentence-transformers on PyTorch."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from models.folders.saved import MAX_LENGTH
from models.folders.seeded import randomise
from models.folders.tiny_folders import change_json, write_json
from models.folders.torch_exported import (
    KINDS,
    SIZES,
    VOCABULARY,
    bart,
    big_bird,
    convbert,
    ernie,
    gpt_neox,
    reformer,
    saved,
    xlnet,
)
from polybake.baking.encoders import ENCODERS
from polybake.baking.sources import open_source
from polybake.baking.sources.torch.export import TorchExport
from polybake.baking.sources.torch.model import TorchModel
from polybake.baking.sources.torch.proof import expectations
from polybake.base.files.model_folder import SourceSettings
from polybake.errors import CheckFailed, InputError
from support.oracle.agreement import agreement_with_folder, bake_source
from support.oracle.proven import Proven

SOURCE = "torch export"


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Ids are equal and mean-pooled vectors agree, for every built-in case."""
    assert kind.split(",")[0] not in ENCODERS
    folder = saved(tmp_path, KINDS[kind]())
    found = agreement_with_folder(folder, tmp_path / "tiny.onnx", encoder="torch")
    proven(kind, found, source=SOURCE)


def test_padding_on_the_left(tmp_path: Path, proven: Proven) -> None:
    """A decoder whose positions count padding agrees where its tokenizer pads on the left."""
    folder = saved(tmp_path, gpt_neox(), padding_side="left")
    found = agreement_with_folder(folder, tmp_path / "tiny.onnx", encoder="torch")
    proven("gpt_neox, left padding", found, source=SOURCE)


def test_a_head_is_left_out(tmp_path: Path, proven: Proven) -> None:
    """A folder of transformers alone agrees: it holds a head, is in shards, and lacks a pooler."""
    from transformers import BertTokenizer, ErnieConfig, ErnieForMaskedLM

    model = randomise(ErnieForMaskedLM(ErnieConfig(**SIZES)))
    model.save_pretrained(tmp_path / "model", max_shard_size="20KB")
    tokenizer = BertTokenizer(vocab=VOCABULARY, model_max_length=MAX_LENGTH)
    tokenizer.save_pretrained(tmp_path / "model")
    assert len(list((tmp_path / "model").glob("model-*.safetensors"))) > 2
    found = agreement_with_folder(tmp_path / "model", tmp_path / "tiny.onnx", encoder="torch")
    source = "torch export, Hugging Face folder with a head, in shards"
    proven("ernie", found, source=source)


def test_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    """An encoder that is exported twice gives the same file."""
    folder = saved(tmp_path, ernie())
    for name in ("first.onnx", "second.onnx"):
        bake_source(folder, tmp_path / name, "torch")
    assert (tmp_path / "first.onnx").read_bytes() == (tmp_path / "second.onnx").read_bytes()


def test_old_runtimes_load_it(tmp_path: Path) -> None:
    """The opset is that of our own encoders, and no input or output has a fixed axis."""
    source = open_source(saved(tmp_path, ernie()), SourceSettings(encoder="torch"))
    graph = source.encoder.place()
    assert source.encoder.name == "torch:ernie"
    assert graph.model.opset_imports[""] == 18
    assert [one.feed for one in graph.inputs] == ["input_ids", "attention_mask", "token_type_ids"]
    assert str(graph.state.x.shape) == "[batch,sequence,24]"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (xlnet, r"xlnet: PyTorch [\d.]+.* cannot export it \(.*aten\.sub .*; try another version"),
        (bart, r"bart: has a decoder, which transformers does not leave out; give an \.onnx"),
    ],
)
def test_what_cannot_be_exported_is_named(
    model: Callable[[], Any], message: str, tmp_path: Path
) -> None:
    """The message says which operator or part it is, and what to do."""
    with pytest.raises(InputError, match=message) as caught:
        bake_source(saved(tmp_path, model()), tmp_path / "tiny.onnx", "torch")
    print(f"\n{caught.value}")  # noqa: T201
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "tiny.onnx").exists()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (reformer, r"reformer: PyTorch's export differs from PyTorch by .*, for texts of "),
        (
            lambda: big_bird("block_sparse"),
            r"big_bird: PyTorch's export differs .* texts of 60 tok",
        ),
        (convbert, r"differs from each text alone, in a batch by "),
    ],
    ids=["a rounded length", "another attention for long texts", "a convolution over padding"],
)
def test_a_wrong_export_is_refused(model: Callable[[], Any], message: str, tmp_path: Path) -> None:
    """An export that is right for the traced shape alone is found out, and nothing is written."""
    with pytest.raises(CheckFailed, match=message) as caught:
        bake_source(saved(tmp_path, model()), tmp_path / "tiny.onnx", "torch")
    print(f"\n{caught.value}")  # noqa: T201
    assert not (tmp_path / "tiny.onnx").exists()


def test_an_export_is_proven_at_every_shape(tmp_path: Path) -> None:
    """Batches of 1 to 3 texts of 1 token to the longest are run, padded on both sides."""
    source = open_source(saved(tmp_path, ernie()), SourceSettings(encoder="torch"))
    masks = [
        one.fed["attention_mask"]
        for one in expectations(TorchModel(ernie().eval(), ["input_ids"]), source.tokenizer)
    ]
    assert masks[0].shape == (1, MAX_LENGTH)
    assert {len(mask) for mask in masks} == {1, 2, 3}
    assert {int(mask.sum(axis=1).min()) for mask in masks} >= {1, 2, MAX_LENGTH}
    assert any((mask[:, 0] == 0).any() and (mask[:, -1] == 1).all() for mask in masks)
    assert any((mask[:, -1] == 0).any() and (mask[:, 0] == 1).all() for mask in masks)


def test_a_missing_weight_is_refused(tmp_path: Path) -> None:
    """Transformers would silently draw a missing weight at random."""
    from safetensors.numpy import load_file, save_file

    folder = saved(tmp_path, ernie())
    kept = load_file(folder / "model.safetensors")
    del kept["encoder.layer.1.output.dense.bias"]
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        InputError, match=r"ernie: .* lack weights.*: 1, such as .*layer\.1\.output\.dense\.bias"
    ):
        bake_source(folder, tmp_path / "tiny.onnx", "torch")


def test_other_token_types_are_refused(tmp_path: Path) -> None:
    """Clients feed zeros as types, so a tokenizer that gives others is refused."""
    folder = saved(tmp_path, ernie())
    change_json(
        folder / "tokenizer_config.json",
        tokenizer_class="PreTrainedTokenizerFast",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
    data = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    data["post_processor"]["single"][0]["SpecialToken"]["type_id"] = 2
    write_json(folder / "tokenizer.json", data)
    with pytest.raises(InputError, match=r"ernie: its tokenizer gives token_type_ids \[2, 0, 0\]"):
        bake_source(folder, tmp_path / "tiny.onnx", "torch")


def test_settings_name_no_files(tmp_path: Path) -> None:
    """PyTorch's side sees nothing of a tokenizer's settings that could lead out of the folder."""
    folder = saved(tmp_path, ernie())
    change_json(folder / "tokenizer_config.json", vocab_file="/etc/hostname", auto_map={"A": "b.C"})
    encoder = open_source(folder, SourceSettings(encoder="torch")).encoder
    assert isinstance(encoder, TorchExport)
    seen = encoder.tokenizer_settings.model_dump(exclude_unset=True)
    assert seen == {"tokenizer_class": "BertTokenizer"}
    assert [one.feed for one in encoder.place().inputs][-1] == "token_type_ids"


def test_an_architecture_that_transformers_does_not_know(tmp_path: Path) -> None:
    """The message holds the architecture's name and transformers' version."""
    folder = saved(tmp_path, ernie())
    change_json(folder / "config.json", model_type="nonesuch")
    with pytest.raises(InputError, match=r"transformers [\d.]+ does not load .*nonesuch"):
        bake_source(folder, tmp_path / "tiny.onnx", "torch")
