"""The models of written cases, small enough to write for each way of a remedy."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from models.files.task_models import (
    masked_lm_weights,
    write_colbert,
    write_labelled,
    write_m3,
    write_spans,
)
from models.folders.causal import write_language_model, write_logit_score
from models.folders.drawn import write_drawn
from models.folders.messages import CHATML, write_messages
from models.folders.old_tokenizers import write_old
from models.folders.stanford import write_stanford
from models.folders.tiny_folders import (
    CONFIG,
    VOCABULARY,
    bert_weights,
    change_json,
    write_bert,
    write_json,
    write_router,
    write_sentence_transformers,
    write_tokenizer,
    write_two_encoders,
)
from models.formulas.decoder_numpy import DECODER, decoder_weights
from models.formulas.jina_v3_numpy import CONFIG as ADAPTED
from models.formulas.jina_v3_numpy import weights as adapted_weights
from models.onnx.tiny_onnx import write_encoder

SIZE = CONFIG["hidden_size"]
POOLING = ("Pooling", {"pooling_mode": "mean"})
NORMALIZE = "sentence_transformers.base.modules.normalize.Normalize"
WORDS = "sentence_transformers.models.{}"
TASK = "{%- if task == 'query' %}{{ 'Q' }}{%- endif %}"


def bert(folder: Path) -> Path:
    """A BERT with a linear layer in its folder, beside arrays that steps name, by their sizes."""
    random = np.random.default_rng(1)
    for sizes in ((SIZE,), (5,), (SIZE, SIZE), (5, SIZE), (SIZE, 5), (2, SIZE), (3,)):
        array = random.normal(size=sizes).astype(np.float32)
        np.save(folder.parent / f"{'x'.join(map(str, sizes))}.npy", array)
    np.save(folder.parent / "nan.npy", np.full(SIZE, np.nan, np.float32))
    low, high = np.full(SIZE, -1, np.float32), np.full(SIZE, 1, np.float32)
    np.save(folder.parent / "ranges.npy", np.stack([low, high]))
    np.save(folder.parent / "turned.npy", np.stack([high, low]))
    np.save(folder.parent / "right.npy", np.linalg.qr(random.normal(size=(SIZE, 3)))[0].T)
    np.savez(folder.parent / "several.npz", low, high)
    (folder.parent / "text.npy").write_text("1 2 3")
    write_bert(folder)
    (folder / "dense").mkdir()
    write_json(folder / "dense" / "config.json", {"bias": False})
    save_file({"linear.weight": high[None]}, folder / "dense" / "model.safetensors")
    return folder


def masked(folder: Path) -> Path:
    """A masked language model."""
    return write_bert(folder, CONFIG | {"architectures": ["BertForMaskedLM"]}, masked_lm_weights())


def pooled(folder: Path, **config: Any) -> Path:
    """A BERT with mean pooling, as sentence-transformers saves it; ``config`` is of the BERT."""
    write_sentence_transformers(folder, POOLING)
    change_json(folder / "config.json", **config)
    return folder


def layered(folder: Path, outputs: int = 5) -> Path:
    """The same with a linear layer, whose weight lies beside it, too."""
    dense = {"in_features": SIZE, "out_features": outputs, "bias": False}
    write_sentence_transformers(folder, POOLING, ("Dense", dense))
    weight = np.random.default_rng(2).normal(size=(outputs, SIZE)).astype(np.float32)
    save_file({"linear.weight": weight}, folder / "2_Dense" / "model.safetensors")
    np.save(folder.parent / "weight.npy", weight)
    return folder


def two_scores(folder: Path) -> Path:
    """A CrossEncoder of modules that give two numbers."""
    layered(folder, 2)
    change_json(folder / "2_Dense" / "config.json", module_output_name="scores")
    write_json(folder / "config_sentence_transformers.json", {"model_type": "CrossEncoder"})
    return folder


def router_behind(folder: Path) -> Path:
    """The same with a Router, which normalises queries."""
    write_sentence_transformers(folder, POOLING, ("Router", {}))
    (folder / "2_Router" / "config.json").unlink()
    routes: dict[str, list[str]] = {"query": ["one"], "document": []}
    write_router(folder / "2_Router", routes, {"one": NORMALIZE}, default_route="document")
    return folder


def without_adapters(folder: Path) -> Path:
    """A jina-embeddings-v3 whose weights have none of the adapters that config.json names."""
    end = ".parametrizations.weight.original"
    kept = {name: one for name, one in adapted_weights().items() if "lora" not in name}
    return write_bert(folder, ADAPTED, {name.replace(end, ".weight"): kept[name] for name in kept})


def old(folder: Path, name: str) -> Path:
    """A BERT with a tokenizer of the time before tokenizer.json."""
    config = CONFIG | {"vocab_size": 600}
    write_bert(folder, config, bert_weights(config))
    (folder / "tokenizer.json").unlink()
    write_old(folder, name)
    shutil.copytree(folder, folder.parent / "whole")
    return folder


def words(folder: Path) -> Path:
    """A table of two words, whose tokenizer is none of transformers'."""
    folder.mkdir()
    module = {"idx": 0, "name": "0", "path": "", "type": WORDS.format("WordEmbeddings")}
    write_json(folder / "modules.json", [module])
    rows = np.random.default_rng(1).normal(size=(2, 3)).astype(np.float32)
    save_file({"embedding.weight": rows}, folder / "model.safetensors")
    return folder


def model2vec(folder: Path) -> Path:
    """A table of tokens."""
    folder.mkdir()
    write_tokenizer(folder)
    write_json(folder / "config.json", {"model_type": "model2vec", "normalize": True})
    table = np.random.default_rng(1).normal(size=(len(VOCABULARY), 3)).astype(np.float32)
    save_file({"embeddings": table}, folder / "model.safetensors")
    return folder


def decoder(folder: Path) -> Path:
    """A decoder without a head."""
    config = DECODER | {"model_type": "qwen3", "head_dim": 10}
    return write_bert(folder, config, decoder_weights(10, norms=True))


def scores(folder: Path) -> Path:
    """A reranker of logits with a layer beside its table."""
    write_logit_score(folder)
    weights = load_file(folder / "model.safetensors")
    own = weights["model.embed_tokens.weight"] + np.float32(1)
    save_file(weights | {"lm_head.weight": own}, folder / "model.safetensors")
    return folder


#: Those whose steps are a mean where a case lists none.
WITHOUT_STEPS: dict[str, Callable[[Path], Path]] = {
    "bert": bert,
    "onnx": write_encoder,
    "decoder": decoder,
    "no adapters": without_adapters,
    "adapters": lambda folder: write_bert(folder, ADAPTED, adapted_weights()),
    "words": words,
    **{
        name: partial(old, name=name)
        for name in (
            "BertTokenizer",
            "LlamaTokenizer",
            "T5Tokenizer",
            "RobertaTokenizer",
            "XLMRobertaTokenizer",
        )
    },
}
#: Those that bring their own.
WITH_STEPS: dict[str, Callable[[Path], Path]] = {
    "labels": lambda folder: write_labelled(folder, "no", "yes"),
    "one label": lambda folder: write_labelled(folder, "LABEL_0"),
    "answers": write_spans,
    "masked": masked,
    "pooled": pooled,
    "normalised": lambda folder: write_sentence_transformers(folder, POOLING, ("Normalize", {})),
    "layered": layered,
    "two scores": two_scores,
    "t5": lambda folder: write_drawn(folder, "t5"),
    "export": write_encoder,
    "roberta": partial(pooled, model_type="roberta", pad_token_id=0),
    "two encoders": write_two_encoders,
    "router behind": router_behind,
    "colbert": write_colbert,
    "m3": write_m3,
    "stanford": write_stanford,
    "model2vec": model2vec,
    "messages": write_messages,
    "counting messages": lambda folder: write_messages(folder, CHATML + "{{ messages | length }}"),
    "messages of tasks": lambda folder: write_messages(folder, CHATML + TASK),
    "language model": write_language_model,
    "scores": scores,
}
