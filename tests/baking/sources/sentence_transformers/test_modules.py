"""The modules that sentence-transformers saved beside an encoder: types, settings, weights."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from models.folders.recorded_keys import recorded_keys
from models.folders.tiny_folders import write_json, write_router
from polybake.baking.sources.sentence_transformers.module import Module
from polybake.baking.sources.sentence_transformers.module_recipe import module_recipe
from polybake.baking.sources.sentence_transformers.modules_json import read_modules
from polybake.baking.sources.sentence_transformers.saved_modules import FOLLOWING
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

RANDOM = np.random.default_rng(1)
WEIGHT = RANDOM.normal(size=(5, 7)).astype(np.float32)
BIAS = RANDOM.normal(size=5).astype(np.float32)
LAYER = {"linear.weight": WEIGHT, "linear.bias": BIAS}
CONFIG = {"in_features": 7, "out_features": 5, "activation_function": "torch.nn.ReLU"}


def listed(folder: Path, kind: str) -> list[Module]:
    """A module of a type in modules.json."""
    write_json(folder / "modules.json", [{"type": kind, "path": "1_Pooling"}])
    return read_modules(ModelFolder.at(folder), {})


def test_code_that_is_known(tmp_path: Path) -> None:
    """Perplexity's quantizer lies beside its models; it gives int8 unless a call asks otherwise."""
    modules = listed(tmp_path, "st_quantize.FlexibleQuantizer")
    assert modules == [Module("FlexibleQuantizer", "1_Pooling")]
    (step,) = module_recipe(ModelFolder.at(tmp_path), modules)
    assert step == {"step": "quantize", "precision": "int8", "function": "tanh"}


def test_code_of_a_known_encoder(tmp_path: Path) -> None:
    """Only before the weights that its code is known for; others name their modules alike."""
    (tmp_path / "1_Pooling").mkdir()
    config = {"model_type": "xlm-roberta", "position_embedding_type": "rotary"}
    write_json(tmp_path / "1_Pooling" / "config.json", config)
    assert listed(tmp_path, "custom_st.Transformer") == [Module("Transformer", "1_Pooling")]
    write_json(tmp_path / "1_Pooling" / "config.json", {"model_type": "xlm-roberta"})
    with pytest.raises(InputError, match=r"'custom_st\.Transformer' is none of"):
        listed(tmp_path, "custom_st.Transformer")


@pytest.mark.parametrize(
    "kind",
    [
        *("mine.FlexibleQuantizer", "st_quantize.Pooling", "custom_st.Transformer", "Transformer"),
        *("custom.Pooling", "mine.Router", "pylate.models.Dense"),
    ],
)
def test_code_of_others_is_refused(kind: str, tmp_path: Path) -> None:
    """A class of the same last name would run other code, in a route, too."""
    with pytest.raises(InputError, match=f"'{kind}' is none of sentence-transformers.*expected"):
        listed(tmp_path, kind)
    write_router(tmp_path / "1_Pooling", {"query": ["one"]}, {"one": kind})
    with pytest.raises(InputError, match=f"'{kind}' is none of sentence-transformers"):
        listed(tmp_path, "sentence_transformers.models.Router")


@pytest.mark.parametrize("package", ["models", "sentence_transformer.modules"])
@pytest.mark.parametrize("kind", ["WordEmbeddings", "BoW", "CNN", "LSTM", "WordWeights"])
def test_modules_of_words_are_refused(package: str, kind: str, tmp_path: Path) -> None:
    """By their name, with what helps; tests/remedies follows that."""
    with pytest.raises(InputError, match=f"{kind} is a module that is not baked; (save|export) "):
        listed(tmp_path, f"sentence_transformers.{package}.{kind}")


@pytest.mark.parametrize("kind", sorted(FOLLOWING.keys() - {"FlexibleQuantizer"}))
def test_every_key_of_a_module_is_known(kind: str, tmp_path: Path) -> None:
    """A module that sentence-transformers saves is refused for no key that its class has."""
    (recorded,) = recorded_keys("sentence-transformers ")
    activation = "relu" if kind == "SpladePooling" else "torch.nn.modules.activation.Tanh"
    said = {"pooling_mode": "mean", "pooling_strategy": "sum", "activation_function": activation}
    config = {key: said.get(key, 1) for key in recorded["modules"][kind]}
    if kind in ("Dense", "LayerNorm", "WeightedLayerPooling"):
        with pytest.raises(InputError, match="holds no tensor"):
            read(kind, tmp_path, config, {})
    else:
        read(kind, tmp_path, config, {})


@pytest.mark.parametrize("kind", FOLLOWING)
def test_keys_that_are_not_known_are_refused(kind: str, tmp_path: Path) -> None:
    """In the configuration of every module."""
    write_json(tmp_path / "config.json", {"scale": 2, "shift": 3})
    with pytest.raises(InputError, match=r"json: unknown keys scale = 2, shift = 3, which may"):
        FOLLOWING[kind].parameters(ModelFolder.at(tmp_path))


@pytest.mark.parametrize("kind", ["Normalize", "Dropout", "LayerNorm"])
def test_modules_saved_without_a_configuration(kind: str, tmp_path: Path) -> None:
    """Nothing of theirs stands in it that is computed."""
    assert module_recipe(ModelFolder.at(tmp_path), [Module(kind, "1_Module")], pooled=True)


@pytest.mark.parametrize("kind", ["Dense", "Pooling", "WeightedLayerPooling"])
def test_others_need_their_configuration(kind: str, tmp_path: Path) -> None:
    """No default stands in for it."""
    save_file(LAYER, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match=r"has no config\.json; download the whole mod"):
        FOLLOWING[kind].parameters(ModelFolder.at(tmp_path))


def read(
    kind: str, folder: Path, config: dict[str, object], tensors: dict[str, np.ndarray]
) -> dict[str, object]:
    """The parameters of a module with these files."""
    write_json(folder / "config.json", config)
    save_file(tensors, folder / "model.safetensors")
    return FOLLOWING[kind].parameters(ModelFolder.at(folder))


def test_half_precision_is_widened(tmp_path: Path) -> None:
    """bfloat16 weights become the same numbers in float32."""
    half = {"norm.weight": BIAS.astype(ml_dtypes.bfloat16), "norm.bias": BIAS.astype(np.float16)}
    found = read("LayerNorm", tmp_path, {"dimension": 5}, half)
    assert found.keys() == {"weight", "bias"}
    for key, value in found.items():
        np.testing.assert_array_equal(value, half[f"norm.{key}"].astype(np.float32), strict=True)


@pytest.mark.parametrize(
    ("kind", "config", "shown"),
    [
        ("Dense", {"activation_function": "os.system"}, "unknown class 'os.system'"),
        ("Dense", {"activation_function": "mine.Tanh"}, "'mine.Tanh'.*transformers passes over"),
        ("Dense", {"activation_function": "Sigmoid"}, "'Sigmoid'.*transformers passes over"),
        ("Dense", {"activation_function": "torch.nn.LeakyReLU"}, "class 'torch.nn.LeakyReLU'"),
        ("Dense", CONFIG | {"in_features": "7"}, "in_features: .*valid integer, found '7'"),
        ("Dense", CONFIG | {"in_features": 8}, "in_features = 8, but linear.weight has 7"),
        ("Dense", CONFIG | {"out_features": 6}, "out_features = 6, but linear.weight has 5"),
        ("Dense", CONFIG | {"use_residual": True}, "expected .*, linear.weight, residual.weight"),
        ("Dense", CONFIG | {"bias": False}, "holds linear.bias, .*; expected linear.weight"),
    ],
)
def test_what_is_not_computed_is_refused(
    kind: str, config: dict[str, object], shown: str, tmp_path: Path
) -> None:
    """By its key or its weights; no class is imported, and the last name alone says nothing."""
    with pytest.raises(InputError, match=shown):
        read(kind, tmp_path, config, LAYER)


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    """A cut-off file is named."""
    save_file(LAYER, tmp_path / "model.safetensors")
    whole = (tmp_path / "model.safetensors").read_bytes()
    write_json(tmp_path / "config.json", CONFIG)
    (tmp_path / "model.safetensors").write_bytes(whole[:-9])
    with pytest.raises(InputError, match=r"model\.safetensors: is not a whole safetensors file"):
        FOLLOWING["Dense"].parameters(ModelFolder.at(tmp_path))
