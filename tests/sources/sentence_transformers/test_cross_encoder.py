"""CrossEncoder folders; tests/oracle/test_rerank.py compares their scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.task_models import write_labelled
from models.tiny_folders import write_json
from polybake.errors import InputError
from polybake.sources import open_source

TRANSFORMER = "sentence_transformers.base.modules.transformer.Transformer"
LOGITS = "sentence_transformers.cross_encoder.modules.logit_score.LogitScore"
ACTIVATION = "torch.nn.modules.linear.Identity"


def saved(folder: Path, *types: str, **settings: object) -> Path:
    """As sentence-transformers 6 saves it."""
    write_labelled(folder, "LABEL_0")
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
        ((TRANSFORMER, LOGITS), {}, "LogitScore"),
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
