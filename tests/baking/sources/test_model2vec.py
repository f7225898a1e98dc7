"""Folders of model2vec, by its rules in NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from models.folders.tiny_folders import VOCABULARY, write_json, write_tokenizer
from polybake.baking.bake import bake
from polybake.baking.golden.golden import make_fixture
from polybake.baking.golden.texts import CaseText
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import NO_LIMIT

TABLE = np.random.default_rng(3).integers(-127, 128, (len(VOCABULARY), 7)).astype(np.int8)


def write(folder: Path, **config: object) -> Path:
    folder.mkdir()
    write_tokenizer(folder)
    write_json(folder / "config.json", {"model_type": "model2vec", **config})
    save_file({"embeddings": TABLE}, folder / "model.safetensors")
    return folder


def test_unknown_tokens_take_no_part(tmp_path: Path) -> None:
    """The mean is of the known tokens, of the length 1 where asked for, and zeros without any."""
    source = open_source(write(tmp_path / "m", normalize=True))
    steps = resolve(source.recipe, base=tmp_path, source=source)
    bake(source, steps, tmp_path / "out.onnx", name="x")
    case = CaseText("own", "", (), None, ("boat \u4e2d water", "\u4e2d", ""))
    (made,) = make_fixture(tmp_path / "out.onnx", [case]).cases
    boat, water, unknown = map(VOCABULARY.index, ("boat", "water", "[UNK]"))
    assert made.input_ids == ((boat, unknown, water), (unknown,), ())
    mean = (TABLE[boat].astype(np.float64) + TABLE[water]) / 2
    expected = [mean / np.sqrt((mean**2).sum()), np.zeros(7), np.zeros(7)]
    assert decode_vectors(made.embeddings) == pytest.approx(np.stack(expected), abs=1e-6)


@pytest.mark.parametrize("config", [{}, {"normalize": None}, {"normalize": False}])
def test_normalizes_only_where_asked_for(tmp_path: Path, config: dict[str, object]) -> None:
    """The first versions of model2vec wrote no such key."""
    recipe = open_source(write(tmp_path / "m", **config)).recipe
    assert [spec["step"] for spec in recipe] == ["leave_out", "pool"]


@pytest.mark.parametrize(("config", "limit"), [({}, 512), ({"max_length": 5}, 5)])
def test_cuts_at_its_own_limit(tmp_path: Path, config: dict[str, int], limit: int) -> None:
    """The limit is in config.json, whatever tokenizer.json has."""
    tokenizer = open_source(write(tmp_path / "m", **config)).tokenizer
    assert tokenizer.max_length == limit
    assert tokenizer.encode(["a " * 1000]) == [[VOCABULARY.index("a")] * limit]


def test_cuts_characters_before(tmp_path: Path) -> None:
    """A text has at most as many characters as its tokens by their median length, here 3."""
    tokenizer = open_source(write(tmp_path / "m", max_length=5)).tokenizer
    boat, b = VOCABULARY.index("boat"), VOCABULARY.index("b")
    assert tokenizer.encode(["boat" + " " * 10 + "boat"]) == [[boat, b]]


def test_null_is_no_limit(tmp_path: Path) -> None:
    """Without a limit every token is kept."""
    folder = write(tmp_path / "m")
    write_json(folder / "config.json", {"embedding_dtype": "int8", "max_length": None})
    tokenizer = open_source(folder).tokenizer
    assert tokenizer.max_length == NO_LIMIT
    assert len(tokenizer.encode(["a " * 1000])[0]) == 1000


@pytest.mark.parametrize("limit", [0, "512", 1.5])
def test_refuses_what_is_no_limit(tmp_path: Path, limit: object) -> None:
    """Other values of max_length are named."""
    with pytest.raises(
        InputError, match=r"config\.json: max_length: .*; set max_length to a positive"
    ):
        open_source(write(tmp_path / "m", max_length=limit))
