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
POOLING = "sentence_transformers.sentence_transformer.modules.pooling.Pooling"
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
    modality = {"text": {"method": "forward", "method_output_name": "logits"}}
    write_json(
        folder / "sentence_bert_config.json",
        {
            "transformer_task": "sequence-classification",
            "modality_config": modality,
            "module_output_name": "scores",
            "max_seq_length": 16,
        },
    )
    return folder


def test_it_has_a_head_and_its_activation(tmp_path: Path) -> None:
    """And its own length limit."""
    source = open_source(saved(tmp_path, activation_fn=ACTIVATION))
    assert source.head is not None
    assert (source.head.relevance, source.max_length, source.recipe) == ("identity", 16, ())


def test_without_an_activation_it_is_the_librarys_own(tmp_path: Path) -> None:
    """Which is a sigmoid for one label."""
    source = open_source(saved(tmp_path, activation_fn=None))
    assert source.head is not None
    assert source.head.relevance == "sigmoid"


@pytest.mark.parametrize(
    ("types", "settings", "message"),
    [
        (
            (TRANSFORMER, LOGITS, LOGITS),
            {},
            "a CrossEncoder of Transformer, LogitScore, LogitScore",
        ),
        ((), {"activation_fn": "os.system"}, "activation_fn: unknown class 'os.system'"),
        (
            (),
            {"prompts": {"query": "q: "}, "default_prompt_name": "query"},
            "default_prompt_name is 'query', whose prompt is 'q: ', and prompts of a CrossEncoder",
        ),
        (
            (),
            {"default_prompt_name": "query"},
            "default_prompt_name is 'query', whose prompt is No",
        ),
        ((TRANSFORMER, POOLING), {}, "a CrossEncoder of Transformer, Pooling is not baked; expect"),
    ],
)
def test_what_is_not_baked_is_named(
    tmp_path: Path, types: tuple[str, ...], settings: dict[str, object], message: str
) -> None:
    """A language model's logits, a class of somebody's own, prompts, and no score."""
    with pytest.raises(InputError, match=message):
        open_source(saved(tmp_path, *types, **settings))


@pytest.mark.parametrize("default", [None, "document"])
def test_prompts_that_no_score_uses(default: str | None, tmp_path: Path) -> None:
    """Are prompts that ``predict`` takes only if it is told to, and an empty one."""
    prompts = {"query": "q: ", "document": ""}
    found = open_source(saved(tmp_path, prompts=prompts, default_prompt_name=default))
    assert found.prompts == {}


def layered(folder: Path, **last: object) -> Path:
    """A head of modules: a pooling, a hidden layer, a norm, and a layer of one number."""
    random = np.random.default_rng(2)
    size = CONFIG["hidden_size"]
    sizes = {"in_features": size, "out_features": size, "bias": False}
    gelu = {"activation_function": "torch.nn.modules.activation.GELU", "module_output_name": None}
    score = {"bias": True, "activation_function": ACTIVATION, "module_output_name": "scores"}
    write_sentence_transformers(
        folder,
        ("Pooling", {"pooling_mode": "cls", "include_prompt": False}),
        ("Dense", sizes | gelu),
        ("LayerNorm", {"dimension": size}),
        ("Dense", sizes | {"out_features": 1} | score | last),
    )
    whole = {"model_type": "CrossEncoder", "prompts": {}, "default_prompt_name": None}
    write_json(folder / "config_sentence_transformers.json", whole)
    arrays = {
        "2_Dense": {"linear.weight": (size, size)},
        "3_LayerNorm": {"norm.weight": (size,), "norm.bias": (size,)},
        "4_Dense": {"linear.weight": (1, size), "linear.bias": (1,)},
    }
    for module, shapes in arrays.items():
        drawn = {name: random.normal(size=shape) for name, shape in shapes.items()}
        file = folder / module / "model.safetensors"
        save_file({name: one.astype(np.float32) for name, one in drawn.items()}, file)
    return folder


def test_modules_are_a_head(tmp_path: Path) -> None:
    """All of them are steps, and the score has the library's own activation."""
    report = polybake.bake(layered(tmp_path / "model"), tmp_path / "m.onnx", name="m")
    assert report.manifest.contract.task == "rerank"
    names = [step.partition("(")[0] for step in report.manifest.steps]
    assert names == ["pool", "dense", "layer_norm", "dense", "activation"]
    assert report.manifest.steps[-1] == "activation(function=sigmoid)"


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (
            {"module_output_name": "sentence_embedding"},
            "expected 'sentence_embedding' and 'scores'",
        ),
        ({"module_input_name": "token_embeddings"}, "module_input_name is 'token_embeddings'"),
        ({"scale": 2}, "unknown key scale = 2"),
        ({"out_features": 3}, "out_features = 3, but linear.weight has 1"),
    ],
)
def test_what_a_module_says_is_understood(
    last: dict[str, object], message: str, tmp_path: Path
) -> None:
    """Or it is refused by its name."""
    with pytest.raises(InputError, match=message):
        polybake.bake(layered(tmp_path / "model", **last), tmp_path / "m.onnx", name="m")


def test_one_number_of_a_pair(tmp_path: Path) -> None:
    """Several have no names that a label could be."""
    folder = layered(tmp_path / "model", out_features=None)
    rows = np.ones((3, CONFIG["hidden_size"]), np.float32)
    arrays = {"linear.weight": rows, "linear.bias": rows[:, 0]}
    save_file(arrays, folder / "4_Dense" / "model.safetensors")
    with pytest.raises(InputError, match=r"4_Dense: gives 3 numbers of a pair, expected one; exp"):
        polybake.bake(folder, tmp_path / "m.onnx", name="m")


#: What its config.json has where sentence-transformers 4 and 5, or an older one, saved it.
OLD = (
    {"sentence_transformers": {"activation_fn": ACTIVATION, "version": "5.1.0"}},
    {"sbert_ce_default_activation_function": ACTIVATION},
)


def old(folder: Path, *labels: str, marks: dict[str, object]) -> Path:
    """As sentence-transformers 5 and before saved it: a plain folder."""
    write_labelled(folder, *labels)
    change_json(folder / "config.json", **marks)
    return folder


@pytest.mark.parametrize("marks", [None, *OLD])
@pytest.mark.parametrize("labels", [("no", "yes"), ("no", "maybe", "yes")])
def test_labels_of_pairs_are_no_labels_of_texts(
    tmp_path: Path, labels: tuple[str, ...], marks: dict[str, object] | None
) -> None:
    """A classifier of single texts gives other scores, so none is made of it without a word."""
    if marks is None:
        folder = saved(tmp_path / "model", labels=labels)
    else:
        folder = old(tmp_path / "model", *labels, marks=marks)
    message = "is a CrossEncoder, whose labels are of pairs of texts, and classify takes single"
    with pytest.raises(InputError, match=message) as raised:
        polybake.bake(folder, tmp_path / "m.onnx", name="m", task="classify")
    assert str(raised.value).endswith("where its rows are single texts, list the steps yourself")
    assert not (tmp_path / "m.onnx").exists()
    report = polybake.bake(folder, tmp_path / "m.onnx", name="m")
    assert report.manifest.contract.task == "classify-pairs"
    assert report.manifest.contract.settings == {"labels": [*labels]}


def test_labels_of_pairs_are_no_reranker(tmp_path: Path) -> None:
    """Nor is the user told to classify with it."""
    folder = saved(tmp_path / "model", labels=("no", "maybe", "yes"))
    with pytest.raises(InputError) as raised:
        polybake.bake(folder, tmp_path / "m.onnx", name="m", task="rerank")
    assert str(raised.value).endswith("expected one; choose one with the step select")


def test_its_steps_may_be_listed_for_single_texts(tmp_path: Path) -> None:
    """The way out that the message names."""
    folder = saved(tmp_path / "model", labels=("no", "yes"))
    steps = [{"step": "head"}, {"step": "activation", "function": "softmax"}]
    report = polybake.bake(folder, tmp_path / "m.onnx", name="m", task="classify", steps=steps)
    assert report.manifest.contract.settings == {"labels": ["no", "yes"]}


@pytest.mark.parametrize("marks", [None, *OLD])
def test_labels_of_entailment_are_zero_shot(
    tmp_path: Path, marks: dict[str, object] | None
) -> None:
    """Whose rows are pairs; as a classifier of single texts it is refused like any other."""
    labels = ("contradiction", "entailment", "neutral")
    if marks is None:
        folder = saved(tmp_path / "model", labels=labels)
    else:
        folder = old(tmp_path / "model", *labels, marks=marks)
    assert task_of(open_source(folder)).name == "zero-shot"
    with pytest.raises(InputError, match="is a CrossEncoder, whose labels are of pairs"):
        polybake.bake(folder, tmp_path / "n.onnx", name="n", task="classify")
