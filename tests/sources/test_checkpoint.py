"""Encoders built from config.json and safetensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.tiny_folders import CONFIG, bert_weights, write_bert
from polybake.errors import InputError
from polybake.graph.check import check_graph
from polybake.sources import open_source


def test_unknown_architecture_lists_the_known(tmp_path: Path) -> None:
    """An architecture that is not there is named beside those that are."""
    for name in ("mamba", None):
        folder = write_bert(tmp_path / f"{name}", CONFIG | {"model_type": name}, bert_weights())
        with pytest.raises(InputError, match=f"{name!r}; known are: albert, bert, "):
            open_source(folder)


def test_an_adapter_is_refused(tmp_path: Path) -> None:
    """Where PEFT is installed, transformers would load it over the weights."""
    folder = write_bert(tmp_path / "model")
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(InputError, match=r"adapter_config.json: an adapter is not applied; merge"):
        open_source(folder)


def test_names_an_export_in_the_place_of_weights(tmp_path: Path) -> None:
    """A folder that holds an ONNX export alone is refused with that file's path."""
    folder = write_bert(tmp_path / "model")
    (folder / "model.safetensors").unlink()
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").touch()
    with pytest.raises(InputError, match=r"safetensors; give its .*model/onnx/model\.onnx instead"):
        open_source(folder)


def test_graph_for_old_runtimes(tmp_path: Path) -> None:
    """The graph is valid ONNX of opset 18 and IR 8, which runtimes years old load."""
    graph = open_source(write_bert(tmp_path / "model")).encoder.place()
    graph.model.graph.outputs.append(graph.state.x)
    check_graph(graph.model)
    assert graph.model.opset_imports == {"": 18}
    assert graph.model.ir_version == 8
