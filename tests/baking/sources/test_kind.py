"""A folder's kind follows from modules.json and the settings beside it."""

import json
from pathlib import Path

import pytest

from polybake.baking.sources.kind import SETTINGS, kind_of
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"modules.json": []}, "sentence_transformers"),
        ({"modules.json": [], SETTINGS: {"query_prefix": ""}}, "multi_vector"),
        ({"modules.json": [], SETTINGS: {"model_type": "ColBERT"}}, "multi_vector"),
        ({"modules.json": [], SETTINGS: {"model_type": "MultiVectorEncoder"}}, "multi_vector"),
        ({"modules.json": [], SETTINGS: {"model_type": "CrossEncoder"}}, "cross_encoder"),
        ({"modules.json": [], "config.json": {"model_type": "model2vec"}}, "sentence_transformers"),
        (
            {"modules.json": [], SETTINGS: {"model_type": "SparseEncoder", "query_prefix": ""}},
            "sentence_transformers",
        ),
        ({"config.json": {"model_type": "model2vec"}}, "model2vec"),
        ({"config.json": {"embedding_dtype": "float32"}}, "model2vec"),
        ({"config.json": {"architectures": ["HF_ColBERT"]}}, "stanford_colbert"),
        ({"gliner_config.json": {}, "config.json": {}}, "gliner"),
        ({"config.json": {"architectures": []}}, "hugging_face"),
        ({"config.json": {"model_type": "bert"}}, "hugging_face"),
    ],
)
def test_the_kind_of_a_folder(tmp_path: Path, files: dict[str, object], kind: str) -> None:
    assert kind_of(_folder(tmp_path, files)) == kind


def test_what_is_no_model_of_ours(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"neither modules\.json nor config\.json"):
        kind_of(_folder(tmp_path, {}))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"adapter_config.json": {"peft_type": "LORA"}}, "merge it into the weights with PEFT's"),
        (
            {"modules.json": [], "adapter_config.json": {"peft_type": "LORA"}},
            "merge it into the weights with PEFT's",
        ),
        ({"adapter_config.json": {"model_type": "bert"}}, "export the model with it to ONNX"),
        ({"config.json": {"model_type": "extractor"}}, "'extractor' is GLiNER2, which is not bak"),
    ],
)
def test_what_is_known_and_not_baked(
    files: dict[str, object], message: str, tmp_path: Path
) -> None:
    """Is named, with what helps."""
    with pytest.raises(InputError, match=message):
        kind_of(_folder(tmp_path, files))


def _folder(path: Path, files: dict[str, object]) -> ModelFolder:
    for name, content in files.items():
        (path / name).write_text(json.dumps(content), encoding="utf-8")
    return ModelFolder.at(path)
