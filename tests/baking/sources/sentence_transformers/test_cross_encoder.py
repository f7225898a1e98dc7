"""CrossEncoder folders; tests/oracle/test_rerank.py compares their scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import polybake
from models.files.task_models import write_labelled
from models.folders.tiny_folders import (
    CONFIG,
    change_json,
    write_json,
    write_sentence_transformers,
)
from polybake.baking.sources import open_source
from polybake.baking.tasks import task_of
from polybake.errors import InputError

TRANSFORMER = "sentence_transformers.base.modules.transformer.Transformer"
LOGITS = "sentence_transformers.cross_encoder.modules.logit_score.LogitScore"
ACTIVATION = "torch.nn.modules.linear.Identity"


def saved(
    folder: Path, *types: str, labels: tuple[str, ...] = ("LABEL_0",), **settings: object
) -> Path:
    """As sentence-transformers 6 saves it."""
    write_labelled(folder, *labels)
    modules = [
        {"idx": place, "name": str(place), "path": "", "type": kind}
        for place, kind in enumerate(types or (TRANSFORMER,))
    ]
    write_json(folder / "modules.json", modules)
    whole = {"model_type": "CrossEncoder", "prompts": {}, **settings}
    write_json(folder / "config_sentence_transformers.json", whole)
    transformer = {
        "transformer_task": "sequence-classification",
        "modality_config": {"text": {"method": "forward", "method_output_name": "logits"}},
        "module_output_name": "scores",
        "max_seq_length": 16,
    }
    write_json(folder / "sentence_bert_config.json", transformer)
    return folder


@pytest.mark.parametrize("default", [None, "document"])
def test_prompts_that_no_score_uses(default: str | None, tmp_path: Path) -> None:
    """Are prompts that ``predict`` takes only if it is told to, and an empty one."""
    prompts = {"query": "q: ", "document": ""}
    source = open_source(saved(tmp_path, prompts=prompts, default_prompt_name=default))
    assert source.head is not None
    assert (source.prompts, source.head.relevance, source.max_length) == ({}, "sigmoid", 16)


@pytest.mark.parametrize(
    ("types", "settings", "message"),
    [
        ((TRANSFORMER, LOGITS, LOGITS), {}, "a CrossEncoder of Transformer, LogitScore, LogitScor"),
        ((), {"activation_fn": "os.system"}, "activation_fn: unknown class 'os.system'"),
        ((), {"default_prompt_name": "query"}, "default_prompt_name is 'query', .* prompt is No"),
    ],
)
def test_what_is_not_baked_is_named(
    tmp_path: Path, types: tuple[str, ...], settings: dict[str, object], message: str
) -> None:
    """More modules, a class of somebody's own, and a prompt that is not there."""
    with pytest.raises(InputError, match=message):
        open_source(saved(tmp_path, *types, **settings))


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ({"module_output_name": "sentence_embedding"}, "ected 'sentence_embedding' and 'scores'"),
        ({"module_input_name": "token_embeddings"}, "module_input_name is 'token_embeddings'"),
        ({"scale": 2}, "unknown key scale = 2"),
        ({"out_features": 3}, "out_features = 3, but linear.weight has 1"),
    ],
)
def test_what_a_head_of_modules_says_is_understood(
    last: dict[str, object], message: str, tmp_path: Path
) -> None:
    """Or it is refused by its name."""
    size = CONFIG["hidden_size"]
    score = {"activation_function": ACTIVATION, "module_output_name": "scores"}
    dense = {"in_features": size, "out_features": 1, "bias": False, **score, **last}
    pooling = {"pooling_mode": "cls", "include_prompt": False}
    folder = write_sentence_transformers(tmp_path, ("Pooling", pooling), ("Dense", dense))
    whole = {"model_type": "CrossEncoder", "prompts": {}, "default_prompt_name": None}
    write_json(folder / "config_sentence_transformers.json", whole)
    weight = {"linear.weight": np.ones((1, size), np.float32)}
    save_file(weight, folder / "2_Dense" / "model.safetensors")
    with pytest.raises(InputError, match=message):
        polybake.bake(folder, tmp_path / "m.onnx", name="m")


@pytest.mark.parametrize(
    "marks",
    [
        None,
        {"sentence_transformers": {"activation_fn": ACTIVATION, "version": "5.1.0"}},
        {"sbert_ce_default_activation_function": ACTIVATION},
    ],
    ids=["6", "4 and 5", "older"],
)
@pytest.mark.parametrize(
    ("labels", "task"),
    [
        (("no", "yes"), "classify-pairs"),
        (("no", "maybe", "yes"), "classify-pairs"),
        (("contradiction", "entailment", "neutral"), "zero-shot"),
    ],
)
def test_labels_of_pairs_are_no_labels_of_texts(
    tmp_path: Path, labels: tuple[str, ...], task: str, marks: dict[str, object] | None
) -> None:
    """A classifier of single texts gives other scores, so none is made of it without a word."""
    if marks is None:
        folder = saved(tmp_path / "model", labels=labels)
    else:
        folder = write_labelled(tmp_path / "model", *labels)
        change_json(folder / "config.json", **marks)
    assert task_of(open_source(folder)).name == task
    with pytest.raises(InputError, match="is a CrossEncoder, whose labels are of pairs of texts"):
        polybake.bake(folder, tmp_path / "m.onnx", name="m", task="classify")


def test_labels_of_pairs_are_no_reranker(tmp_path: Path) -> None:
    """Nor is the user told to classify with it."""
    folder = saved(tmp_path / "model", labels=("no", "maybe", "yes"))
    with pytest.raises(InputError, match=r"expected one; choose one with the step select$"):
        polybake.bake(folder, tmp_path / "m.onnx", name="m", task="rerank")
