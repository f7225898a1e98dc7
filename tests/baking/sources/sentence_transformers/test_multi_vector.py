"""Folders of models with a vector for each token; the oracle compares their numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.files.task_models import write_colbert
from models.folders.tiny_folders import VOCABULARY, change_json, write_json
from polybake.baking.sources import Source, open_source
from polybake.baking.sources.expanded_encoder import ExpandedEncoder
from polybake.baking.sources.expansion import Expansion
from polybake.errors import InputError

MASK_ID = VOCABULARY.index("[MASK]")


def expansion(source: Source) -> Expansion:
    assert isinstance(source.encoder, ExpandedEncoder)
    return source.encoder.expansion


def write_pylate(folder: Path, **settings: Any) -> Path:
    """The same as PyLate saves it: no masks, no norms, and settings of its own."""
    write_colbert(folder)
    (folder / "sentence_bert_config.json").unlink()
    dense = {"activation_function": "torch.nn.modules.linear.Identity", "bias": False}
    write_json(folder / "1_Dense" / "config.json", dense)
    types = ("sentence_transformers.models.Transformer", "pylate.models.Dense.Dense")
    modules = [
        {"idx": place, "name": str(place), "path": path, "type": kind}
        for place, (path, kind) in enumerate(zip(("", "1_Dense"), types, strict=True))
    ]
    write_json(folder / "modules.json", modules)
    write_json(folder / "tokenizer_config.json", {"mask_token": "[MASK]", "pad_token": "[PAD]"})
    saved = {"query_prefix": "[Q] ", "document_prefix": "[D] ", "prompts": {}, **settings}
    write_json(folder / "config_sentence_transformers.json", saved)
    return folder


def test_the_library_s_own(tmp_path: Path) -> None:
    """Limits, what fills queries up, what documents leave out, and the prompts."""
    source = open_source(write_colbert(tmp_path / "m"))
    assert expansion(source) == Expansion(
        limits=(24, 9), widths=(0, 9), fill=MASK_ID, attend=False, behind=1
    )
    ids = [VOCABULARY.index(word) for word in ("the", ".", ",")]
    assert source.recipe == (
        {
            "step": "route",
            "default": "document",
            "routes": {"document": ({"step": "leave_out", "ids": ids},), "query": ()},
        },
        {"step": "dense", "source": "1_Dense"},
        {"step": "normalize"},
        {"step": "unpad"},
    )
    assert source.prompts == {"query": "query: ", "document": "passage: "}
    assert source.similarity == "maxsim"


@pytest.mark.parametrize("kind", [{"model_type": "ColBERT"}, {}], ids=["ColBERT", "older"])
def test_pylate_s(kind: dict[str, str], tmp_path: Path) -> None:
    """What it does besides its modules is what its settings say, else its defaults."""
    source = open_source(write_pylate(tmp_path / "m", **kind))
    found = expansion(source)
    assert (found.limits, found.widths, found.fill) == ((40, 32), (0, 32), MASK_ID)
    skipped = sorted(VOCABULARY.index(word) for word in (":", ".", ","))
    route, *others = source.recipe
    assert route["routes"] == {"document": ({"step": "leave_out", "ids": skipped},), "query": ()}
    assert [step["step"] for step in others] == ["dense", "normalize", "unpad"]
    assert source.prompts == {"query": "[Q] ", "document": "[D] "}


def test_pylate_s_own_settings(tmp_path: Path) -> None:
    """Each of them."""
    settings = {
        "query_length": 12,
        "document_length": 20,
        "do_query_expansion": False,
        "skiplist_words": ["the", "nowhere"],
        "prompts": {"query": "[Q] the "},
    }
    source = open_source(write_pylate(tmp_path / "m", **settings))
    assert (expansion(source).limits, expansion(source).widths) == ((20, 12), (0, 0))
    left_out = {"step": "leave_out", "ids": [VOCABULARY.index("the")]}
    assert source.recipe[0]["routes"] == {"document": (left_out,), "query": ()}
    assert source.prompts["query"] == "[Q] the "


def test_tokens_chosen_for_images_are_refused(tmp_path: Path) -> None:
    """There is no picture among texts."""
    folder = write_colbert(tmp_path / "m")
    change_json(folder / "2_MultiVectorMask" / "config.json", keep_only_token_ids=[3])
    with pytest.raises(InputError, match="keep_only_token_ids"):
        open_source(folder)
