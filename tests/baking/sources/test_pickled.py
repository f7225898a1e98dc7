"""Folders whose weights are a pickle: refused, or the model that safetensors give."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import polybake
from models.files.task_models import masked_lm_weights
from models.folders.tiny_folders import (
    CONFIG,
    bert_weights,
    write_bert,
    write_json,
    write_sentence_transformers,
)
from models.folders.torch_saved import Storage, Tensor, entries_of, state_of, write_torch, write_zip
from models.onnx.tiny_onnx import write_encoder
from polybake.baking.sources import open_source
from polybake.baking.sources.module_weights import INDEX, NAME, exact_tensors, weight_file
from polybake.base.files.model_folder import ModelFolder, SourceSettings
from polybake.cli.main import app
from polybake.errors import InputError
from support.hub.hub_cache import write_cache

POOL = ("Pooling", {"pooling_mode": "mean"})
DENSE = ("Dense", {"in_features": 12, "out_features": 5, "bias": False})
LINEAR = {"linear.weight": np.random.default_rng(2).normal(size=(5, 12)).astype(np.float32)}

ASKED = r'or, to read the tensors of pytorch_model\.bin .* say pickle = "tensors" below \[model\]'


def pickle_it(folder: Path) -> Path:
    """Save the weights of a folder, and of those in it, as PyTorch does."""
    for file in [*folder.rglob("model.safetensors")]:
        write_torch(file.with_name(NAME), load_file(file))
        file.unlink()
    return folder


def layered(folder: Path) -> Path:
    """A BERT with a layer behind it."""
    write_sentence_transformers(folder, POOL, DENSE)
    save_file(LINEAR, folder / "2_Dense" / "model.safetensors")
    return folder


def masked(folder: Path) -> Path:
    """A BERT with the head of a masked language model."""
    config = CONFIG | {"architectures": ["BertForMaskedLM"]}
    return write_bert(folder, config, masked_lm_weights())


@pytest.mark.parametrize(("write", "asked"), [(layered, {}), (masked, {"task": "sparse"})])
def test_is_the_model_of_its_safetensors(
    write: Callable[[Path], Path], asked: dict[str, Any], tmp_path: Path
) -> None:
    """Each byte of the file, so the fingerprint, too."""
    folder = write(tmp_path / "m")
    polybake.bake(folder, tmp_path / "a.onnx", name="tiny", **asked)
    pickle_it(folder)
    polybake.bake(folder, tmp_path / "b.onnx", name="tiny", pickle="tensors", **asked)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def encoder_bytes(folder: Path, scratch: Path) -> bytes:
    scratch.mkdir()
    return (
        open_source(folder, SourceSettings(pickle="tensors"))
        .encoder.reference(scratch)
        .path.read_bytes()
    )


def test_several_files(tmp_path: Path) -> None:
    """An index names the file of each weight."""
    folder = write_bert(tmp_path / "m")
    whole = encoder_bytes(folder, tmp_path / "whole")
    (folder / "model.safetensors").unlink()
    names = {name: f"pytorch_model-{name.startswith('enc')}.bin" for name in bert_weights()}
    for shard in {*names.values()}:
        held = {name: one for name, one in bert_weights().items() if names[name] == shard}
        write_torch(folder / shard, held)
    write_json(folder / INDEX, {"metadata": {"total_size": 1}, "weight_map": names})
    assert encoder_bytes(folder, tmp_path / "out") == whole
    with pytest.raises(InputError, match=ASKED):
        open_source(folder)
    (folder / "pytorch_model-True.bin").unlink()
    with pytest.raises(InputError, match=r"has no pytorch_model-True\.bin; download"):
        open_source(folder, SourceSettings(pickle="tensors"))
    for name, shown in (("../m.bin", "outside the model's folder"), ("m.pkl", "pattern")):
        write_json(folder / INDEX, {"weight_map": {"a": name}})
        with pytest.raises(InputError, match=shown):
            open_source(folder, SourceSettings(pickle="tensors"))


def test_the_message_says_how_to_ask_where_that_helps(tmp_path: Path) -> None:
    """Of a repository a pickle is not fetched unasked, so one may be there."""
    folder = write_bert(tmp_path / "m")
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"has no model\.safetensors; write it((?!pickle).)*$"):
        open_source(folder)
    with pytest.raises(InputError, match=ASKED):
        open_source(write_cache(tmp_path / "cache", "owner/tiny", folder))


def test_safetensors_are_taken_first(tmp_path: Path) -> None:
    """A pickle beside them is not opened."""
    folder = layered(tmp_path / "m")
    for place in (folder, folder / "2_Dense"):
        (place / NAME).write_bytes(b"no")
    polybake.bake(folder, tmp_path / "a.onnx", name="tiny", pickle="tensors")


def test_modules_of_an_exported_encoder(tmp_path: Path) -> None:
    """The folder of an .onnx file has modules, too."""
    path = write_encoder(tmp_path / "m")
    folder = write_sentence_transformers(path.parent, POOL, ("Dense", {"bias": False}))
    write_torch(folder / "2_Dense" / NAME, {"linear.weight": LINEAR["linear.weight"][:, :6]})
    with pytest.raises(InputError, match=ASKED):
        polybake.bake(path, tmp_path / "a.onnx", name="tiny")
    polybake.bake(path, tmp_path / "a.onnx", name="tiny", pickle="tensors")


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("own", 1.0, "does not fit the network: unexpected own"),
        ("encoder.layer.1.output.dense.bias", np.nan, r"output\.dense\.bias holds nan"),
    ],
)
def test_tensors_are_those_of_safetensors(
    name: str, value: float, shown: str, tmp_path: Path
) -> None:
    """Each is known, and of numbers, or the bake ends."""
    weights = bert_weights() | {name: np.full(12, value, np.float32)}
    folder = pickle_it(write_bert(tmp_path / "m", weights=weights))
    with pytest.raises(InputError, match=f"{NAME}: .*{shown}"):
        encoder_bytes(folder, tmp_path / "out")


def test_tensors_of_a_module_are_known(tmp_path: Path) -> None:
    """Names of one storage cost nothing in a file, so it has no more numbers than bytes, too."""
    folder = ModelFolder.at(tmp_path, SourceSettings(pickle="tensors"))
    write_torch(tmp_path / NAME, {"a": LINEAR["linear.weight"]})
    with pytest.raises(InputError, match=rf"{NAME}: holds a; expected linear\.weight"):
        exact_tensors(folder, {"weight": "linear.weight"})
    shared = Storage(np.zeros(1000, np.float32))
    many = {f"a{number}": Tensor(shared, 0, (1000,), (1,)) for number in range(100)}
    write_zip(tmp_path / NAME, entries_of(state_of({}) | many))
    with pytest.raises(InputError, match=rf"{NAME}: its tensors have more numbers than its \d+ by"):
        exact_tensors(folder, {"weight": "linear.weight"})


@pytest.mark.parametrize(
    ("asked", "shown"), [("refused", "is a pickle"), ("tensors", "'os.mkdir'")]
)
def test_a_trap_is_not_run(asked: Any, shown: str, tmp_path: Path) -> None:
    """The name that it would call is in the message."""
    folder = write_bert(tmp_path / "m")
    (folder / "model.safetensors").unlink()
    entries = entries_of(state_of({}))
    entries["archive/data.pkl"] = b"\x80\2cos\nmkdir\nX\3\0\0\0ran\x85R."
    write_zip(folder / NAME, entries)
    with pytest.raises(InputError, match=shown):
        open_source(folder, SourceSettings(pickle=asked)).encoder.place()
    assert not Path("ran").exists()


def test_a_link_that_leads_out(tmp_path: Path) -> None:
    """A pickle lies in the model's folder, too."""
    folder = pickle_it(write_bert(tmp_path / "m"))
    (folder / NAME).rename(tmp_path / "m.bin")
    (folder / NAME).symlink_to(tmp_path / "m.bin")
    with pytest.raises(InputError, match="outside the model's folder"):
        weight_file(ModelFolder.at(folder, SourceSettings(pickle="tensors")))


def test_init_writes_what_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no way to let a pickle run."""
    pickle_it(write_bert(tmp_path / "tiny"))
    monkeypatch.chdir(tmp_path)
    app(["init", "tiny", "--set", "model.pickle=tensors"], standalone_mode=False)
    assert tomllib.loads(Path("polybake.toml").read_text())["model"]["pickle"] == "tensors"
    with pytest.raises(InputError, match=r"model\.pickle: .*'refused' or 'tensors', found 'all'"):
        polybake.bake(tmp_path / "tiny", tmp_path / "a.onnx", pickle="all")
