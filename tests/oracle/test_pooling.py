"""Pooling against sentence-transformers: the step alone, and baked tiny models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers

from models.folders.seeded import randomise
from models.folders.tiny_folders import CONFIG, write_json, write_tokenizer
from models.parts.tiny_state import state
from polybake.baking.golden.texts import CaseText
from polybake.base.modelfile.tolerance import LIMIT, relative_difference
from polybake.steps import Pool
from support.oracle.agreement import agreement_with_folder
from support.oracle.proven import Proven

MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
LISTS = (("mean", "cls"), MODES[::-1])

LONGEST = "water boats, " * 30
PROMPTS = {"query": "query: ", "passage": "the passage, in boats: ", "none": ""}
TEXTS = (("one", ("the river",)), ("batch", ("a", "boats: rivers", "")), ("longest", (LONGEST,)))


@pytest.mark.parametrize("mode", [*MODES, *LISTS], ids=str)
@pytest.mark.parametrize("side", ["right", "left"])
def test_step_agrees_on_either_side(mode: str | tuple[str, ...], side: str) -> None:
    """The formula gives what Pooling gives under padding on each side."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    x = np.random.default_rng(1).normal(size=(4, 6, 5)).astype(np.float32)
    mask = np.tri(4, 6, 2, dtype=np.int64)[:, :: 1 if side == "right" else -1].copy()
    given = {"token_embeddings": torch.tensor(x), "attention_mask": torch.tensor(mask)}
    expected = Pooling(5, pooling_mode=mode)(given)["sentence_embedding"].numpy()
    assert relative_difference(Pool(mode=mode).numpy(state(x, mask)).x, expected) <= LIMIT


@pytest.mark.parametrize("mode", [*MODES, *LISTS], ids=str)
def test_baked_model_agrees(mode: str | tuple[str, ...], tmp_path: Path, proven: Proven) -> None:
    """A model of each mode, saved by its library and baked, gives the same ids and vectors."""
    folder = write_pooled(tmp_path / "model", pooling_mode=mode)
    cases = [CaseText(name, "", (), None, texts) for name, texts in TEXTS]
    proven("bert", agreement_with_folder(folder, tmp_path / "baked.onnx", cases))


@pytest.mark.parametrize("mode", [*MODES, *LISTS], ids=str)
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("length", [1, 3])
def test_step_leaves_out_a_prompt_on_either_side(
    mode: str | tuple[str, ...], side: str, length: int
) -> None:
    """Pooling without a prompt agrees too, where the prompt leaves a token."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    x = np.random.default_rng(2).normal(size=(3, 7, 5)).astype(np.float32)
    mask = np.tri(3, 7, 4, dtype=np.int64)[:, :: 1 if side == "right" else -1].copy()
    given = {"token_embeddings": torch.tensor(x), "attention_mask": torch.tensor(mask)}
    pooling = Pooling(5, pooling_mode=mode, include_prompt=False)
    expected = pooling({**given, "prompt_length": length})["sentence_embedding"].numpy()
    found = Pool(mode=mode, include_prompt=False).numpy(state(x, mask, length)).x
    assert relative_difference(found, expected) <= LIMIT


@pytest.mark.parametrize("mode", [*MODES, *LISTS], ids=str)
@pytest.mark.parametrize("default", [None, "query"])
def test_baked_model_leaves_out_prompts(
    mode: str | tuple[str, ...], default: str | None, tmp_path: Path, proven: Proven
) -> None:
    """Every prompt's own number of tokens is left out, and none without a prompt."""
    folder = write_pooled(
        tmp_path / "model", PROMPTS, default, pooling_mode=mode, include_prompt=False
    )
    cases = [
        CaseText(f"{name}-{prompt}", "", (), prompt, texts)
        for name, texts in TEXTS
        for prompt in (None, *PROMPTS)
    ]
    proven("bert", agreement_with_folder(folder, tmp_path / "baked.onnx", cases))


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "max"])
def test_prompt_that_leaves_nothing(mode: str, tmp_path: Path, proven: Proven) -> None:
    """If a prompt leaves no token, cls takes the first one, and every other mode gives zeros.

    The max of sentence-transformers gives -inf there, so it is no oracle for that mode.
    """
    prompts = {"long": LONGEST, "joined": "a "}
    folder = write_pooled(
        tmp_path / "model", prompts, pooling_mode=mode, include_prompt=False, byte_level=True
    )
    cases = [
        *(CaseText(name, "", (), "long", texts) for name, texts in TEXTS),
        CaseText("nothing", "", (), "joined", ("b",)),
        CaseText("joined", "", (), "joined", ("bab", "b and more", "")),
    ]
    proven("bert", agreement_with_folder(folder, tmp_path / "baked.onnx", cases))


@pytest.mark.parametrize("mode", MODES)
def test_prompt_that_fills_the_window(mode: str, tmp_path: Path, proven: Proven) -> None:
    """Only the last special token is left: it alone is pooled."""
    prompts = {"long": LONGEST}
    folder = write_pooled(tmp_path / "model", prompts, pooling_mode=mode, include_prompt=False)
    cases = [CaseText(name, "", (), "long", texts) for name, texts in TEXTS]
    proven("bert", agreement_with_folder(folder, tmp_path / "baked.onnx", cases))


@pytest.mark.parametrize("include_prompt", [True, False])
def test_older_configuration_agrees(include_prompt: bool, tmp_path: Path, proven: Proven) -> None:
    """The six booleans concatenate in sentence-transformers' own order."""
    folder = write_pooled(tmp_path / "model", PROMPTS)
    old = ("lasttoken", "weightedmean_tokens", "mean_sqrt_len_tokens", "mean_tokens", "cls_token")
    config = {f"pooling_mode_{name}": True for name in old} | {"include_prompt": include_prompt}
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 12, **config})
    cases = [CaseText(name, "", (), "query", texts) for name, texts in TEXTS]
    proven("bert", agreement_with_folder(folder, tmp_path / "baked.onnx", cases))


def write_pooled(
    folder: Path,
    prompts: dict[str, str] | None = None,
    default_prompt_name: str | None = None,
    byte_level: bool = False,
    **pooling: object,
) -> Path:
    """Let sentence-transformers save a seeded BERT with Pooling of these settings."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel

    bert = BertModel(BertConfig(**CONFIG | {"vocab_size": 300}), add_pooling_layer=False)
    body = folder.with_name("body")
    randomise(bert).save_pretrained(body)
    write_byte_level_tokenizer(body) if byte_level else write_tokenizer(body)
    modules = [Transformer(str(body)), Pooling(CONFIG["hidden_size"], **pooling)]
    SentenceTransformer(
        modules=modules, prompts=prompts, default_prompt_name=default_prompt_name, device="cpu"
    ).save(str(folder))
    return folder


def write_byte_level_tokenizer(folder: Path) -> None:
    """A tokenizer that joins a space to the ``b`` after it, and has no special tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate(["<pad>", *alphabet, "Ġb"])}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges=[("Ġ", "b")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(["<pad>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"pad_token": "<pad>", "model_max_length": 32}
    write_json(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "PreTrainedTokenizerFast", **settings},
    )
