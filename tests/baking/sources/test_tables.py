"""Tables of tokens and of words, without an encoder; tests/oracle compares their vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import polybake
from models.files.task_models import write_splade
from models.folders.tiny_folders import (
    VOCABULARY,
    change_json,
    write_json,
    write_router,
    write_tokenizer,
)
from polybake.baking.sources import open_source
from polybake.baking.sources.sentence_transformers.word_modules import (
    open_bag_of_words,
    open_word_embeddings,
)
from polybake.baking.sources.static_encoder import open_static_embedding
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer import NO_LIMIT, BakedTokenizer
from polybake.runtime.tokenization.tokenizer_json import read_tokenizer

BOAT, WATER, B, A = (VOCABULARY.index(token) for token in ("boat", "water", "b", "a"))
TABLE = np.random.default_rng(3).integers(-127, 128, (len(VOCABULARY), 7)).astype(np.int8)


def static(folder: Path, rows: int = len(VOCABULARY), **changes: object) -> BakedTokenizer:
    """The tokenizer of a StaticEmbedding."""
    write_tokenizer(folder)
    change_json(folder / "tokenizer.json", **changes)
    save_file({"embedding.weight": np.ones((rows, 2), np.float32)}, folder / "model.safetensors")
    opened = ModelFolder.at(folder)
    return open_static_embedding(opened, read_tokenizer(opened))[1]


def test_static_embeddings_keep_the_truncation_of_tokenizer_json(tmp_path: Path) -> None:
    """Its limit holds for the words alone, whatever tokenizer_config.json says."""
    tokenizer = static(tmp_path)
    assert tokenizer.max_length == 9
    assert tokenizer.encode(["Boat water", "", "boat " * 20]) == [[BOAT, WATER], [], [BOAT] * 9]
    assert tokenizer.count("boat " * 20) == 20


def test_static_embeddings_have_no_limit_without_truncation(tmp_path: Path) -> None:
    """A text of any length keeps all its tokens."""
    tokenizer = static(tmp_path, truncation=None)
    assert tokenizer.max_length == NO_LIMIT
    assert tokenizer.encode(["boat " * 3000]) == [[BOAT] * 3000]


def test_ids_beyond_the_rows_are_refused(tmp_path: Path) -> None:
    """A tokenizer of another model would fail at some text only."""
    with pytest.raises(InputError, match=r"has the id 67 and the embedding 67 rows"):
        static(tmp_path, rows=67)


def write_model2vec(folder: Path, **config: object) -> Path:
    """A folder of model2vec, of integers."""
    folder.mkdir()
    write_tokenizer(folder)
    write_json(folder / "config.json", {"model_type": "model2vec", **config})
    save_file({"embeddings": TABLE}, folder / "model.safetensors")
    return folder


def test_unknown_tokens_of_model2vec_take_no_part(tmp_path: Path) -> None:
    """The mean is of the known tokens, of the length 1 where asked for, and zeros without any."""
    polybake.bake(write_model2vec(tmp_path / "m", normalize=True), tmp_path / "tiny.onnx")
    mean = (TABLE[BOAT].astype(np.float64) + TABLE[WATER]) / 2
    expected = [mean / np.sqrt((mean**2).sum()), np.zeros(7), np.zeros(7)]
    found = polybake.Embedder(tmp_path / "tiny.onnx").embed(["boat \u4e2d water", "\u4e2d", ""])
    assert found == pytest.approx(np.stack(expected), abs=1e-6)


@pytest.mark.parametrize("config", [{}, {"normalize": None}, {"normalize": False}])
def test_model2vec_normalizes_only_where_asked_for(
    tmp_path: Path, config: dict[str, object]
) -> None:
    """The first versions of model2vec wrote no such key."""
    recipe = open_source(write_model2vec(tmp_path / "m", **config)).recipe
    assert [spec["step"] for spec in recipe] == ["leave_out", "pool"]


@pytest.mark.parametrize(
    ("config", "limit", "text", "ids"),
    [
        ({}, 512, "a " * 1000, [A] * 512),
        ({"max_length": 5}, 5, "a " * 1000, [A] * 5),
        ({"max_length": 5}, 5, "boat" + " " * 10 + "boat", [BOAT, B]),
        ({"max_length": None}, NO_LIMIT, "a " * 1000, [A] * 1000),
    ],
)
def test_model2vec_cuts_at_its_own_limit(
    config: dict[str, object], limit: int, text: str, ids: list[int], tmp_path: Path
) -> None:
    """In tokens, and before it in characters: as many as the tokens by their median length of 3."""
    tokenizer = open_source(write_model2vec(tmp_path / "m", **config)).tokenizer
    assert (tokenizer.max_length, tokenizer.encode([text])) == (limit, [ids])


@pytest.mark.parametrize("limit", ["512", 1.5])
def test_model2vec_refuses_what_is_no_limit(tmp_path: Path, limit: object) -> None:
    with pytest.raises(InputError, match=r"config\.json: max_length: .*; set max_length"):
        open_source(write_model2vec(tmp_path / "m", max_length=limit))


WEIGHTS = np.linspace(-1, 2, len(VOCABULARY)).astype(np.float32)
SPARSE = "sentence_transformers.sparse_encoder.modules"
STATIC = f"{SPARSE}.sparse_static_embedding.SparseStaticEmbedding"
TEXTS = ["the river the", "[SEP] boat", ""]


def write_sparse(folder: Path, weights: np.ndarray = WEIGHTS) -> Path:
    """A SparseStaticEmbedding alone."""
    folder.mkdir(parents=True)
    write_tokenizer(folder)
    write_json(folder / "config.json", {"frozen": False})
    save_file({"weight": weights}, folder / "model.safetensors")
    write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": STATIC}])
    write_json(folder / "config_sentence_transformers.json", {"model_type": "SparseEncoder"})
    return folder


def write_beside(folder: Path) -> Path:
    """A model that runs an encoder for documents alone."""
    write_splade(folder / "1_Transformer", prompts={"query": "", "document": ""})
    write_sparse(folder / "query")
    types = {
        "query": STATIC,
        "1_Transformer": "sentence_transformers.base.modules.transformer.Transformer",
        "1_Transformer/1_SpladePooling": f"{SPARSE}.splade_pooling.SpladePooling",
    }
    routes = {"query": ["query"], "document": list(types)[1:]}
    write_router(folder, routes, types, default_route="document")
    kind = "sentence_transformers.base.modules.router.Router"
    write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind}])
    write_json(folder / "config_sentence_transformers.json", {"model_type": "SparseEncoder"})
    return folder


@pytest.mark.parametrize("beside", [False, True])
def test_each_token_counts_once(beside: bool, tmp_path: Path) -> None:
    """There are no special tokens, but for those that a text has itself."""
    write = write_beside if beside else write_sparse
    polybake.bake(write(tmp_path / "m"), tmp_path / "tiny.onnx")
    expected = np.zeros((3, len(VOCABULARY)))
    for row, tokens in enumerate(("the river", "[SEP] boat", "")):
        ids = [VOCABULARY.index(token) for token in tokens.split()]
        expected[row, ids] = WEIGHTS[ids]
    found = polybake.Embedder(tmp_path / "tiny.onnx")
    assert found.manifest.contract.task == "sparse"
    query = {"prompt": "query"} if beside else {}
    assert found.embed(TEXTS, **query) == pytest.approx(expected, abs=1e-6)


def test_less_weights_than_tokens_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"weight is \[9\], expected a finite number for each of"):
        open_source(write_sparse(tmp_path / "m", WEIGHTS[:9]))


def test_a_file_of_weights_is_not_read(tmp_path: Path) -> None:
    """It would be a path of the configuration's choice."""
    folder = write_sparse(tmp_path / "m")
    write_json(folder / "config.json", {"path": "../idf.json"})
    with pytest.raises(InputError, match="path"):
        open_source(folder)


TOKENIZER = "whitespacetokenizer_config.json"
CLASS = "sentence_transformers.models.tokenizer.WhitespaceTokenizer.WhitespaceTokenizer"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A WordEmbeddings folder."""
    write_json(tmp_path / "wordembedding_config.json", {"tokenizer_class": CLASS})
    write_json(tmp_path / TOKENIZER, {"vocab": ["a", "b"], "stop_words": []})
    save_file({"emb_layer.weight": np.ones((2, 3), np.float32)}, tmp_path / "model.safetensors")
    return tmp_path


def test_words_have_the_librarys_own_limit(words: Path) -> None:
    """Where the file has none."""
    _, tokenizer = open_word_embeddings(ModelFolder.at(words))
    assert (tokenizer.max_length, tokenizer.encode(["b, A x"])) == (1_000_000, [[1, 0]])


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("wordembedding_config.json", {"max_seq_length": 0}, "max_seq_length: .* found 0"),
        ("wordembedding_config.json", {"tokenizer_class": None}, "tokenizer_class: is missing"),
        (TOKENIZER, {"vocab": None}, "vocab: is missing"),
        (TOKENIZER, {"stop_words": [1]}, r"stop_words\[0\]: .*string, found 1"),
        (TOKENIZER, {"vocab": ["a", "b", "c"]}, "has 3 words and the embedding 2 rows"),
    ],
)
def test_words_that_do_not_fit_are_named(
    words: Path, file: str, change: dict[str, object], message: str
) -> None:
    """A setting that is missing, of another type or of another size."""
    change_json(words / file, **change)
    with pytest.raises(InputError, match=message):
        open_word_embeddings(ModelFolder.at(words))


@pytest.mark.parametrize("config", [{}, {"vocab": []}, {"vocab": ["a"], "word_weights": [1]}])
def test_a_bag_needs_words(tmp_path: Path, config: dict[str, object]) -> None:
    """A bag of no words has no vectors."""
    write_json(tmp_path / "config.json", config)
    with pytest.raises(InputError, match=r"config\.json: (vocab|word_weights): "):
        open_bag_of_words(ModelFolder.at(tmp_path))
