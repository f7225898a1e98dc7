"""CrossEncoder folders; tests/oracle/test_rerank.py compares their scores."""

from __future__ import annotations

from pathlib import Path

import pytest

import polybake
from models.files.task_models import write_labelled
from models.folders.tiny_folders import change_json, write_json
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
        ((), {"prompts": {"query": "q: "}}, "prompts.query: "),
    ],
)
def test_what_is_not_baked_is_named(
    tmp_path: Path, types: tuple[str, ...], settings: dict[str, object], message: str
) -> None:
    """A language model's logits, a class of somebody's own, and prompts."""
    with pytest.raises(InputError, match=message):
        open_source(saved(tmp_path, *types, **settings))


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
