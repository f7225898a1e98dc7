"""Checkpoints in the forms that they are found in, and broken ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from models.folders.tiny_folders import CONFIG, Arrays, bert_weights, write_bert, write_json
from polybake.baking.layers.low_rank import with_product
from polybake.baking.layers.stored_tensor import stored_tensors
from polybake.baking.sources import open_source
from polybake.errors import InputError

BIAS = "encoder.layer.0.output.dense.bias"
NORM = "embeddings.LayerNorm.weight"
OLD = (("LayerNorm.weight", "LayerNorm.gamma"), ("LayerNorm.bias", "LayerNorm.beta"))


def bytes_of(folder: Path, weights: Arrays | None = None) -> bytes:
    """The graph of a folder, or of one with these weights."""
    if weights is not None:
        write_bert(folder, CONFIG, weights)
    return open_source(folder).encoder.reference(folder).path.read_bytes()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return bytes_of(tmp_path_factory.mktemp("plain"), bert_weights())


def old_name(name: str) -> str:
    for new, old in OLD:
        name = name.replace(new, old)
    return f"bert.{name}"


@pytest.mark.parametrize(
    "weights",
    [
        {old_name(name): array for name, array in bert_weights().items()},
        bert_weights() | {f"bert.{BIAS}": bert_weights()[BIAS]},
        bert_weights() | {"pooler.dense.weight": np.ones((12, 12), np.float32)},
        bert_weights() | {"embeddings.position_ids": np.arange(40)[None]},
        bert_weights() | {"cls.predictions.bias": np.ones(7, np.float32)},
    ],
    ids=["old names", "twice", "pooler", "buffer", "head"],
)
def test_understands_other_forms(weights: Arrays, plain: bytes, tmp_path: Path) -> None:
    """The graph is that of today's names, whatever else a checkpoint holds."""
    assert bytes_of(tmp_path, weights) == plain


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_widens_half_precision(dtype: type, tmp_path: Path) -> None:
    """A checkpoint in 16 bits gives the graph of the same values in float32."""
    half = {name: array.astype(dtype) for name, array in bert_weights().items()}
    widened = {name: array.astype(np.float32) for name, array in half.items()}
    assert bytes_of(tmp_path / "half", half) == bytes_of(tmp_path / "widened", widened)


def test_reads_shards(plain: bytes, tmp_path: Path) -> None:
    """A checkpoint in several files is read through its index."""
    weights = bert_weights()
    write_bert(tmp_path, CONFIG, weights)
    (tmp_path / "model.safetensors").unlink()
    index = {name: f"{name.startswith('encoder')}.safetensors" for name in weights}
    for shard in set(index.values()):
        arrays = {name: array for name, array in weights.items() if index[name] == shard}
        save_file(arrays, tmp_path / shard)
    write_json(tmp_path / "model.safetensors.index.json", {"weight_map": index})
    assert bytes_of(tmp_path) == plain
    (tmp_path / "True.safetensors").unlink()
    with pytest.raises(InputError, match=r"has no True\.safetensors"):
        open_source(tmp_path)


@pytest.mark.parametrize(
    ("name", "other"), [(BIAS, f"bert.{BIAS}"), (NORM, "embeddings.LayerNorm.gamma")]
)
@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_refuses_two_values_of_one_weight(
    name: str, other: str, dtype: type, tmp_path: Path
) -> None:
    """Two tensors of different values or types that are one weight are both named."""
    weights = bert_weights()
    changed = (weights[name] + 1).astype(dtype)
    with pytest.raises(InputError, match=r" differs from .* of model\.safetensors, ") as raised:
        bytes_of(tmp_path, weights | {other: changed})
    assert {name, other} <= set(str(raised.value).split())


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_refuses_what_is_no_number(value: float, tmp_path: Path) -> None:
    """A weight that holds NaN or infinity is named when it is read."""
    weights = bert_weights()
    weights["encoder.layer.1.output.dense.weight"][3, 4] = value
    with pytest.raises(InputError, match=rf"layer\.1\.output\.dense\.weight holds {value}, "):
        bytes_of(tmp_path, weights)


def test_lists_problems_of_every_kind_at_once(tmp_path: Path) -> None:
    """Missing, unexpected, wrongly shaped and wrongly typed weights are one error."""
    weights = bert_weights()
    missing = "encoder.layer.1.output.dense.bias"
    del weights[missing], weights[NORM]
    wide = "encoder.layer.0.intermediate.dense.weight"
    weights["encoder.layer.2.output.dense.bias"] = np.zeros(12, np.float32)
    weights[wide] = weights[wide].T.copy()
    weights[BIAS] = np.zeros(12, np.int8)
    with pytest.raises(InputError) as raised:
        bytes_of(tmp_path, weights)
    for shown in (
        *(f"missing {missing}", f"missing {NORM}", f"{BIAS} is I8"),
        *("unexpected encoder.layer.2", f"{wide} has shape [12, 20], expected [20, 12]"),
    ):
        assert shown in str(raised.value)


def test_shows_the_first_problems_of_each_kind(tmp_path: Path) -> None:
    """A message names three of each kind, however large the network is."""
    weights = {f"other.{name}": array for name, array in bert_weights().items()}
    with pytest.raises(InputError) as raised:
        bytes_of(tmp_path, weights)
    problems = str(raised.value).split("; ")
    more = len(weights) - 3
    assert [problems[3], problems[7]] == [f"{more} more missing", f"{more} more unexpected"]


def test_names_a_damaged_file(tmp_path: Path) -> None:
    """A safetensors file that was cut off is named, with the remedy."""
    file = write_bert(tmp_path) / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"model\.safetensors: .*download it again"):
        bytes_of(tmp_path)


@pytest.mark.parametrize(
    ("architecture", "saver"),
    [
        (None, "AutoModel"),
        ("BertModel", "AutoModel"),
        ("XLMRobertaForTokenClassification", "AutoModelForTokenClassification"),
        ("BertForMaskedLM", "AutoModelForMaskedLM"),
        ("BertForOwnTask", "BertForOwnTask"),
        ("x; rm -rf /For\nMaskedLM", "AutoModel"),
        ("A" * 100, "AutoModel"),
    ],
)
def test_a_pickle_is_to_be_saved_with_its_head(
    architecture: str | None, saver: str, tmp_path: Path
) -> None:
    """The remedy names the class of the architecture, if it is a name; another drops the head."""
    write_bert(tmp_path, CONFIG | {"architectures": architecture and [architecture]})
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pytorch_model\.bin is a pickle") as caught:
        open_source(tmp_path)
    assert f"transformers: {saver}.from_pretrained(…).save_pretrained(…" in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_an_adapters_product_is_added(dtype: type, tmp_path: Path) -> None:
    """In float32, whatever the file holds, and not before it is asked for."""
    random = np.random.default_rng(3)
    sizes = {"weight": (5, 7), "left": (3, 5, 2), "right": (3, 2, 7)}
    arrays = {name: random.normal(size=size).astype(dtype) for name, size in sizes.items()}
    save_file(arrays, tmp_path / "model.safetensors")
    read: list[str] = []
    stored = {
        one.name: replace(one, array=lambda one=one: (read.append(one.name), one.array())[1])
        for one in stored_tensors(tmp_path / "model.safetensors")
    }
    made = with_product(**stored, number=1, scale=0.25)
    assert (made.name, made.shape, made.dtype, read) == ("weight", (5, 7), "F32", [])
    weight, left, right = (arrays[name].astype(np.float64) for name in sizes)
    found = made.array()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, weight + 0.25 * left[1] @ right[1], rtol=1e-5, atol=1e-6)
    for name, size in (("left", (5, 2)), ("left", (1, 5, 2)), ("right", (2, 2, 7))):
        other = stored | {name: replace(stored[name], shape=size)}
        with pytest.raises(InputError, match=r"do not fit: weight \[.*left \[.*right \["):
            with_product(**other, number=2, scale=1.0)
