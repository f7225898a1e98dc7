"""Encoders of BERT's line against transformers, which saved them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from models.folders.bert import KINDS, roberta
from models.folders.saved import MAX_LENGTH, save
from models.folders.seeded import randomise
from polybake.baking.layers.positions import log_buckets, relative_buckets
from support.oracle.agreement import agreement_with_folder
from support.oracle.proven import FOLDER, Proven


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_transformers(kind: str, tmp_path: Path, proven: Proven) -> None:
    """Ids are equal and mean-pooled vectors agree, for every built-in case."""
    found = agreement_with_folder(save(tmp_path, *KINDS[kind]()), tmp_path / "tiny.onnx")
    proven(kind, found)


#: How transformers loads a model with the head that it was trained with.
HEADS = {
    "bert": "AutoModelForPreTraining",
    "roberta": "AutoModelForMaskedLM",
    "xlm-roberta": "AutoModelForMaskedLM",
    "camembert": "AutoModelForMaskedLM",
    "distilbert": "AutoModelForMaskedLM",
    "mpnet": "AutoModelForMaskedLM",
    "albert": "AutoModelForPreTraining",
    "electra": "AutoModelForPreTraining",
    "deberta-v3": "AutoModelForMaskedLM",
    "bart": "AutoModelForSeq2SeqLM",
    "gpt2": "AutoModelForCausalLM",
    "deberta": "AutoModelForMaskedLM",
    "t5": "AutoModelForSeq2SeqLM",
}


@pytest.mark.parametrize("kind", HEADS)
def test_a_head_is_left_out(kind: str, tmp_path: Path, proven: Proven) -> None:
    """A folder of transformers alone, whose checkpoint also holds a head, agrees as well."""
    import transformers

    model, tokenizer = KINDS[kind]()
    model.config.is_encoder_decoder = kind in ("bart", "t5")
    whole = getattr(transformers, HEADS[kind]).from_config(model.config)
    randomise(whole).save_pretrained(tmp_path / "model")
    tokenizer.model_max_length = MAX_LENGTH
    tokenizer.save_pretrained(tmp_path / "model")
    found = agreement_with_folder(tmp_path / "model", tmp_path / "tiny.onnx")
    proven(kind, found, source="Hugging Face folder, with a head")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kind", ["roberta", "deberta-v3", "t5"])
def test_half_precision_is_widened(kind: str, dtype: str, tmp_path: Path, proven: Proven) -> None:
    """A checkpoint in 16 bits agrees with transformers in float32."""
    import torch

    model, tokenizer = KINDS[kind]()
    folder = save(tmp_path, model.to(getattr(torch, dtype)), tokenizer)
    with safe_open(folder / "model.safetensors", framework="numpy") as file:
        stored = {file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118
    # transformers keeps a few of T5's in float32.
    assert {"float16": "F16", "bfloat16": "BF16"}[dtype] in stored <= {"F16", "BF16", "F32"}
    found = agreement_with_folder(folder, tmp_path / "tiny.onnx")
    proven(kind, found, source=f"{FOLDER}, {dtype}")


def test_shards_of_transformers(tmp_path: Path, proven: Proven) -> None:
    """A checkpoint that transformers cut into several files loads whole."""
    model, tokenizer = roberta()
    folder = save(tmp_path, model, tokenizer)
    model.save_pretrained(folder, max_shard_size="20KB")
    (folder / "model.safetensors").unlink()
    assert len(list(folder.glob("model-*.safetensors"))) > 2
    found = agreement_with_folder(folder, tmp_path / "tiny.onnx")
    proven("roberta", found, source=f"{FOLDER}, in shards")


@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (10, 19), (64, 256), (32, 100)])
def test_relative_buckets(buckets: int, furthest: int) -> None:
    """Every distance has T5's and MPNet's bucket, also far beyond the last one."""
    import torch
    from transformers.models.t5.modeling_t5 import T5Attention

    distance = np.arange(-600, 601)
    expected = T5Attention._relative_position_bucket(
        torch.from_numpy(distance), num_buckets=buckets, max_distance=furthest
    )
    table = relative_buckets(buckets, furthest)
    found = table[np.clip(distance, -furthest, furthest) + furthest]
    np.testing.assert_array_equal(found, expected.numpy())


@pytest.mark.parametrize(("buckets", "furthest"), [(256, 512), (8, 33), (8, 63), (-1, 40)])
def test_log_buckets(buckets: int, furthest: int) -> None:
    """Every distance has DeBERTa's row."""
    import torch
    from transformers.models.deberta_v2.modeling_deberta_v2 import build_relative_position

    last = 511
    row = torch.zeros(1, last + 1, 1)
    relative = build_relative_position(row, row, buckets, furthest)[0]
    span = buckets if buckets > 0 else furthest
    expected = torch.clamp(relative + span, 0, 2 * span - 1).numpy()
    table = log_buckets(last, buckets=buckets, furthest=furthest, span=span)
    places = np.arange(last + 1)
    np.testing.assert_array_equal(table[places[None, :] - places[:, None] + last], expected)
