"""Checkpoints in the forms that they are found in, and broken ones."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from models.folders.tiny_folders import CONFIG, Arrays, bert_weights, write_bert, write_json
from polybake.baking.sources import open_source
from polybake.errors import InputError


def encoder_bytes(folder: Path, scratch: Path) -> bytes:
    scratch.mkdir()
    return open_source(folder).encoder.reference(scratch).path.read_bytes()


def bytes_of(weights: Arrays, tmp_path: Path, name: str) -> bytes:
    folder = write_bert(tmp_path / name, CONFIG, weights)
    return encoder_bytes(folder, tmp_path / f"{name}-out")


def test_understands_old_names_and_prefix(tmp_path: Path) -> None:
    """gamma, beta and the prefix bert. give the same graph as today's names."""
    old = {
        "bert."
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): array
        for name, array in bert_weights().items()
    }
    assert bytes_of(old, tmp_path, "old") == bytes_of(bert_weights(), tmp_path, "new")


def test_ignores_what_is_no_weight_of_the_encoder(tmp_path: Path) -> None:
    """The pooler, the language model's head and the position buffer change nothing."""
    extra: Arrays = {
        "pooler.dense.weight": np.ones((12, 12), np.float32),
        "embeddings.position_ids": np.arange(40)[None],
        "cls.predictions.bias": np.ones(7, np.float32),
    }
    with_extra = bytes_of(bert_weights() | extra, tmp_path, "extra")
    assert with_extra == bytes_of(bert_weights(), tmp_path, "plain")


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_widens_half_precision(dtype: type, tmp_path: Path) -> None:
    """A checkpoint in 16 bits gives the graph of the same values in float32."""
    half = {name: array.astype(dtype) for name, array in bert_weights().items()}
    widened = {name: array.astype(np.float32) for name, array in half.items()}
    assert bytes_of(half, tmp_path, "half") == bytes_of(widened, tmp_path, "widened")


def test_reads_shards(tmp_path: Path) -> None:
    """A checkpoint in several files is read through its index."""
    whole = bytes_of(bert_weights(), tmp_path, "whole")
    folder = tmp_path / "whole"
    (folder / "model.safetensors").unlink()
    index = {
        name: "b.safetensors" if name.startswith("encoder") else "a.safetensors"
        for name in bert_weights()
    }
    for shard in set(index.values()):
        save_file(
            {name: array for name, array in bert_weights().items() if index[name] == shard},
            folder / shard,
        )
    write_json(folder / "model.safetensors.index.json", {"weight_map": index})
    assert encoder_bytes(folder, tmp_path / "out") == whole
    (folder / "b.safetensors").unlink()
    with pytest.raises(InputError, match=r"has no b\.safetensors; download"):
        open_source(folder)


def test_takes_a_weight_that_is_there_twice(tmp_path: Path) -> None:
    """A tensor with and without the prefix, and the same value, is one weight."""
    name = "encoder.layer.0.output.dense.bias"
    twice = bert_weights() | {f"bert.{name}": bert_weights()[name]}
    assert bytes_of(twice, tmp_path, "twice") == bytes_of(bert_weights(), tmp_path, "once")


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("encoder.layer.0.output.dense.bias", "bert.encoder.layer.0.output.dense.bias"),
        ("embeddings.LayerNorm.weight", "embeddings.LayerNorm.gamma"),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
def test_refuses_two_values_of_one_weight(
    name: str, other: str, dtype: type, tmp_path: Path
) -> None:
    """Two tensors of different values or types that are one weight are both named."""
    weights = bert_weights()
    changed = (weights[name] + 1).astype(dtype)
    source = open_source(write_bert(tmp_path / "model", CONFIG, weights | {other: changed}))
    with pytest.raises(InputError, match=r" differs from .* of model\.safetensors, ") as raised:
        source.encoder.place()
    assert {name, other} <= set(str(raised.value).split())


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_refuses_what_is_no_number(value: float, tmp_path: Path) -> None:
    """A weight that holds NaN or infinity is named when it is read."""
    weights = bert_weights()
    weights["encoder.layer.1.output.dense.weight"][3, 4] = value
    with pytest.raises(InputError, match=rf"layer\.1\.output\.dense\.weight holds {value}, "):
        bytes_of(weights, tmp_path, "model")


def test_shows_the_first_problems_of_each_kind(tmp_path: Path) -> None:
    """A message names three of each kind, however large the network is."""
    weights = {f"other.{name}": array for name, array in bert_weights().items()}
    source = open_source(write_bert(tmp_path / "model", CONFIG, weights))
    with pytest.raises(InputError) as raised:
        source.encoder.place()
    problems = str(raised.value).split(": does not fit the network: ")[1].split("; ")
    more = len(weights) - 3
    assert [problems[3], problems[7]] == [f"{more} more missing", f"{more} more unexpected"]
    assert len(problems) == 9


def test_lists_problems_of_every_kind_at_once(tmp_path: Path) -> None:
    """Missing, unexpected, wrongly shaped and wrongly typed weights are one error."""
    weights = bert_weights()
    del weights["encoder.layer.1.output.dense.bias"]
    del weights["embeddings.LayerNorm.weight"]
    weights["encoder.layer.2.output.dense.bias"] = np.zeros(12, np.float32)
    transposed = weights["encoder.layer.0.intermediate.dense.weight"].T.copy()
    weights["encoder.layer.0.intermediate.dense.weight"] = transposed
    weights["encoder.layer.0.output.dense.bias"] = np.zeros(12, np.int8)
    source = open_source(write_bert(tmp_path / "model", CONFIG, weights))
    with pytest.raises(InputError) as raised:
        source.encoder.place()
    message = str(raised.value)
    assert "missing encoder.layer.1.output.dense.bias" in message
    assert "missing embeddings.LayerNorm.weight" in message
    assert "unexpected encoder.layer.2.output.dense.bias" in message
    assert (
        "encoder.layer.0.intermediate.dense.weight has shape [12, 20], expected [20, 12]" in message
    )
    assert "encoder.layer.0.output.dense.bias is I8" in message


def test_names_a_damaged_file(tmp_path: Path) -> None:
    """A safetensors file that was cut off is named, with the remedy."""
    folder = write_bert(tmp_path / "model")
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"model\.safetensors: .*download it again"):
        open_source(folder).encoder.place()


def test_never_unpickles(tmp_path: Path) -> None:
    """A folder with only a pickle is refused, saying how to get safetensors."""
    folder = write_bert(tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pytorch_model\.bin is a pickle.*save_pretrained"):
        open_source(folder)


@pytest.mark.parametrize(
    ("architecture", "saver"),
    [
        (None, "AutoModel"),
        ("BertModel", "AutoModel"),
        ("BertForSequenceClassification", "AutoModelForSequenceClassification"),
        ("XLMRobertaForTokenClassification", "AutoModelForTokenClassification"),
        ("BertForQuestionAnswering", "AutoModelForQuestionAnswering"),
        ("BertForMaskedLM", "AutoModelForMaskedLM"),
        ("BertForOwnTask", "BertForOwnTask"),
        ("x; rm -rf /For\nMaskedLM", "AutoModel"),
        ("é" * 5, "AutoModel"),
        ("A" * 100, "AutoModel"),
    ],
)
def test_a_pickle_is_saved_with_its_head(
    architecture: str | None, saver: str, tmp_path: Path
) -> None:
    """The remedy names the class of the architecture, if it is a name; another drops the head."""
    config = CONFIG | {"architectures": architecture and [architecture]}
    folder = write_bert(tmp_path / "model", config)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError) as caught:
        open_source(folder)
    assert f"transformers: {saver}.from_pretrained(…).save_pretrained(…" in str(caught.value)
