"""A published model without modules.json, against sentence-transformers with those of the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.saved import MAX_LENGTH, save
from models.folders.tiny_folders import change_json
from oracle.test_onnx_exports import TYPES, bert, export
from support.oracle.agreement import agreement_with_source, bake
from support.oracle.proven import HUGGING_FACE, Proven

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch's own, of its exporters


@pytest.mark.parametrize("converted", [False, True])
@pytest.mark.parametrize(
    ("called", "pooling", "normalized"),
    [
        ("bge-small-en-v1.5", "cls", True),
        ("mxbai-embed-large-v1", "cls", False),
        ("all-MiniLM-L6-v2", "mean", True),
    ],
)
def test_a_known_name_agrees(
    called: str, pooling: str, normalized: bool, converted: bool, tmp_path: Path, proven: Proven
) -> None:
    """The folder of the encoder alone, and its export to ONNX, give the whole model's vectors."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize

    saved = save(tmp_path, *bert(), pooling=pooling)
    modules = [*SentenceTransformer(str(saved), device="cpu")]
    if normalized:
        modules.append(Normalize())
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "whole"))
    (tmp_path / "named").mkdir()
    alone = (tmp_path / "body").rename(tmp_path / "named" / called)
    change_json(alone / "tokenizer_config.json", model_max_length=MAX_LENGTH)
    source = export(alone, TYPES, dynamo=False, opset_version=17) if converted else alone
    baked = bake(source, tmp_path / "tiny.onnx", folder=tmp_path / "named", name="tiny")
    form = "ONNX export" if converted else HUGGING_FACE
    proven("bert", agreement_with_source(tmp_path / "whole", baked), source=f"{form}, by its name")
