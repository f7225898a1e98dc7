"""Word embeddings, word weights and bags of words against sentence-transformers: baked models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentence_transformers
from sentence_transformers.sentence_transformer.modules import (
    CNN,
    LSTM,
    BoW,
    Normalize,
    Pooling,
    WordEmbeddings,
    WordWeights,
)
from sentence_transformers.sentence_transformer.modules.tokenizer import (
    ENGLISH_STOP_WORDS,
    WhitespaceTokenizer,
)

from models.folders.seeded import randomise
from models.folders.tiny_folders import change_json
from polybake.baking.golden.texts import builtin_cases
from polybake.baking.sources import open_source
from polybake.errors import InputError
from support.oracle.agreement import agreement_with_folder
from support.oracle.proven import Proven

SIZE = 7
#: Words of the built-in cases, some with capitals and punctuation as they stand, some lowered.
WORDS = sorted(
    {
        word
        for case in builtin_cases(prompts={}, token_count=len, max_length=1)
        for text in case.texts
        for word in text.split()
    }
)
VOCABULARY = ["PADDING_TOKEN", *WORDS[::2], *dict.fromkeys(w.lower().strip(".,?") for w in WORDS)]
VOCABULARY = [word for word in dict.fromkeys(VOCABULARY) if word]
WEIGHTS = {word: 0.5 + number / len(VOCABULARY) for number, word in enumerate(VOCABULARY[::3])}


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("stop_words", [[], [*ENGLISH_STOP_WORDS, "The", "deck,"]], ids=len)
def test_word_embeddings_agree(
    lowercase: bool, stop_words: list[str], tmp_path: Path, proven: Proven
) -> None:
    """Unknown words and stop words vanish; capitals and punctuation count where they are known."""
    modules = [words(stop_words, lowercase), Pooling(SIZE, pooling_mode="mean"), Normalize()]
    agree(modules, "word_embeddings", tmp_path, proven)


def test_words_beyond_the_limit_are_dropped(tmp_path: Path, proven: Proven) -> None:
    """The limit counts known words alone."""
    module = words([], lowercase=False)
    module.max_seq_length = 3
    agree([module, Pooling(SIZE, pooling_mode="mean")], "word_embeddings", tmp_path, proven)


@pytest.mark.parametrize("mode", ["mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"])
def test_word_weights_agree(mode: str, tmp_path: Path, proven: Proven) -> None:
    """Means divide by the sum of the weights; words without one have the unknown word's."""
    weights = WordWeights(VOCABULARY, WEIGHTS, unknown_word_weight=0.3)
    modules = [words([], lowercase=False), weights, Pooling(SIZE, pooling_mode=mode)]
    agree(modules, "word_embeddings", tmp_path, proven)


NETWORKS: dict[str, Callable[[], Any]] = {
    "cnn": lambda: CNN(SIZE, 5, kernel_sizes=[1, 3]),
    "lstm": lambda: LSTM(SIZE, 5, num_layers=2),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_over_words_agree(name: str, tmp_path: Path, proven: Proven) -> None:
    """Each text gets what a CNN or an LSTM over its words alone gives; LSTM itself needs some."""
    network, module = randomise(NETWORKS[name]()), words([], lowercase=False)
    pool = Pooling(network.get_embedding_dimension(), pooling_mode="mean")
    folder = save([module, network, pool], tmp_path)
    cases = [
        case
        for case in builtin_cases(prompts={}, token_count=len, max_length=1)
        if all(map(module.tokenizer.tokenize, case.texts))
    ]
    assert len(cases) > 10
    proven("word_embeddings", agreement_with_folder(folder, tmp_path / "tiny.onnx", cases))


@pytest.mark.parametrize("cumulative", [True, False])
def test_bag_of_words_agrees(cumulative: bool, tmp_path: Path, proven: Proven) -> None:
    """Each word counts by its weight, once or each time."""
    module = BoW(VOCABULARY, WEIGHTS, unknown_word_weight=0, cumulative_term_frequency=cumulative)
    agree([module], "bow", tmp_path, proven)
    agree([module, Normalize()], "bow", tmp_path / "normalized", proven)


@pytest.mark.parametrize("name", ["PhraseTokenizer", "TransformersTokenizerWrapper"])
def test_other_tokenizers_are_refused_by_name(name: str, tmp_path: Path) -> None:
    """What no tokenizer.json gives exactly is not baked."""
    modules = [words([], lowercase=False), Pooling(SIZE, pooling_mode="mean")]
    folder = save(modules, tmp_path)
    (config,) = folder.rglob("wordembedding_config.json")
    change_json(config, tokenizer_class=f"sentence_transformers.models.tokenizer.{name}")
    with pytest.raises(InputError, match=rf"found '.*{name}'; .* a WhitespaceTokenizer"):
        open_source(folder)


def words(stop_words: list[str], lowercase: bool) -> Any:
    table = np.random.default_rng(4).normal(0, 0.2, (len(VOCABULARY), SIZE)).astype(np.float32)
    tokenizer = WhitespaceTokenizer(VOCABULARY, stop_words, lowercase)
    return WordEmbeddings(tokenizer, table)


def save(modules: list[Any], folder: Path) -> Path:
    model = sentence_transformers.SentenceTransformer(
        modules=modules, device="cpu", prompts={"query": "The river: "}
    )
    model.save(str(folder / "saved"))
    return folder / "saved"


def agree(modules: list[Any], kind: str, folder: Path, proven: Proven) -> None:
    """Save, bake and compare every built-in case."""
    proven(kind, agreement_with_folder(save(modules, folder), folder / "tiny.onnx"))
