"""Let other tools export tiny models: ``python tests/oracle/write_exports.py FOLDER``.

The nox session ``exports`` runs it: these tools need an older transformers than the oracle. Each
subfolder gets a model and case.json, which says what the tool's own library computes for it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from optimum.exporters.onnx import main_export
from sentence_transformers import SentenceTransformer, export_optimized_onnx_model, models
from txtai.pipeline import HFOnnx

sys.path.insert(0, str(Path(__file__).parents[1]))
from models.folders.tiny_folders import CONFIG, write_bert, write_tokenizer

HIDDEN = CONFIG["hidden_size"]

TEXTS = [
    "",
    "the river",
    "Boats, waters: rivering!",
    "query: where is the boat? \u00e9t\u00e9 \u6c34",
    "a " * 60,
]

QUESTION = "where?"
TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"]
CONTEXTS = ["the river, the boat: waters", "boats water the river"]


def encoder(folder: Path, kind: str) -> Path:
    """Save a tiny encoder with random weights as transformers does."""
    if kind == "bert":
        return write_bert(folder)
    config = transformers.RobertaConfig(**CONFIG | {"type_vocab_size": 1, "pad_token_id": 0})
    model = transformers.RobertaModel(config, add_pooling_layer=False)
    randomise(model)
    model.save_pretrained(folder)
    write_tokenizer(folder)
    return folder


def sentence_transformer(folder: Path, kind: str, *modules: Any) -> SentenceTransformer:
    """Save and open the encoder with what follows it."""
    for module in modules:
        randomise(module)
    body = models.Transformer(str(encoder(folder / "body", kind)))
    model = SentenceTransformer(modules=[body, *modules], device="cpu")
    model.save(str(folder / "saved"))
    return model


def randomise(module: Any) -> None:
    """Draw weights with a standard deviation of 0.2; norms' scales around 1."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            torch.nn.init.normal_(
                weight, float(name.endswith("LayerNorm.weight")), 0.2, generator=generator
            )


def pooling(mode: str = "mean") -> Any:
    return models.Pooling(HIDDEN, pooling_mode=mode)


def whole() -> Sequence[Any]:
    """Modules that make a pooled output differ from a merely pooled one."""
    return pooling(), models.Dense(HIDDEN, 7), models.Normalize()


def write_case(folder: Path, model: SentenceTransformer, export: Path, source: str) -> None:
    """Write what the model, on PyTorch, makes of every text alone, and of its tokens."""
    rows = [model.encode([text])[0] for text in TEXTS]
    case = {
        "source": source,
        "export": str(export.relative_to(folder)),
        "texts": TEXTS,
        "input_ids": [model.tokenize([text])["input_ids"][0].tolist() for text in TEXTS],
        "vectors": np.stack(rows).tolist(),
    }
    (folder / "case.json").write_text(json.dumps(case), encoding="utf-8")


def classifier(folder: Path) -> Any:
    """Save a tiny BERT with three labels, and give transformers' pipeline of it."""
    config = transformers.BertConfig(**CONFIG, id2label=dict(enumerate(["joy", "fear", "none"])))
    model = transformers.BertForSequenceClassification(config)
    randomise(model)
    model.save_pretrained(folder)
    write_tokenizer(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return transformers.pipeline("text-classification", model=model.eval(), tokenizer=tokenizer)


def write_scores(folder: Path, classify: Any, export: Path, source: str) -> None:
    """Write the scores of every text alone, in the labels' order, and of its tokens."""
    found = [classify([text], top_k=None, truncation=True)[0] for text in TEXTS]
    scores = [{one["label"]: one["score"] for one in text} for text in found]
    labels = [*classify.model.config.id2label.values()]
    case = {
        "source": source,
        "export": str(export.relative_to(folder)),
        "texts": TEXTS,
        "input_ids": [classify.tokenizer(text, truncation=True)["input_ids"] for text in TEXTS],
        "vectors": [[text[label] for label in labels] for text in scores],
    }
    (folder / "case.json").write_text(json.dumps(case), encoding="utf-8")


def optimum_classifier(folder: Path, kind: str) -> None:  # noqa: ARG001 - as every other
    """Export a classifier by Optimum: the file gives logits."""
    classify = classifier(folder / "body")
    main_export(str(folder / "body"), folder / "export", task="text-classification")
    source = "Optimum text-classification export"
    write_scores(folder, classify, folder / "export" / "model.onnx", source)


def txtai_classifier(folder: Path, kind: str) -> None:  # noqa: ARG001
    """Export a classifier by txtai's HFOnnx, beside the model's own files."""
    classify = classifier(folder / "body")
    export = folder / "body" / "model.onnx"
    HFOnnx()(str(folder / "body"), "text-classification", str(export))
    write_scores(folder, classify, export, "txtai HFOnnx, task text-classification")


def saved(folder: Path, head: str, **settings: Any) -> tuple[Any, Any]:
    """Save a tiny BERT with a head, and give its model and its tokenizer."""
    model = getattr(transformers, f"BertFor{head}")(transformers.BertConfig(**CONFIG, **settings))
    randomise(model)
    with torch.no_grad():  # so that tokens differ
        for layer in (getattr(model, "classifier", None), getattr(model, "qa_outputs", None)):
            if layer is not None:
                layer.weight.normal_(0, 2)
    model.save_pretrained(folder)
    write_tokenizer(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model.eval(), tokenizer


def optimum_tagger(folder: Path, kind: str) -> None:  # noqa: ARG001
    """Export a tagger by Optimum: the file gives logits, beside transformers' pipeline."""
    labels = dict(enumerate(TAGS))
    model, tokenizer = saved(folder / "body", "TokenClassification", id2label=labels)
    main_export(str(folder / "body"), folder / "export", task="token-classification")
    tag = transformers.pipeline(
        "token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="first"
    )
    spans = [[(one["entity_group"], one["start"], one["end"]) for one in tag(x)] for x in CONTEXTS]
    write_answers(folder, "export/model.onnx", "Optimum token-classification export", spans=spans)


def optimum_answerer(folder: Path, kind: str) -> None:  # noqa: ARG001
    """Export an answerer by Optimum: the file gives logits of beginnings and of ends."""
    answerer(folder)
    main_export(str(folder / "body"), folder / "export", task="question-answering")
    write_answers(folder, "export/model.onnx", "Optimum question-answering export")


def txtai_answerer(folder: Path, kind: str) -> None:  # noqa: ARG001
    """Export an answerer by txtai's HFOnnx."""
    answerer(folder)
    HFOnnx()(str(folder / "body"), "question-answering", str(folder / "body" / "model.onnx"))
    write_answers(folder, "body/model.onnx", "txtai HFOnnx, task question-answering")


def answerer(folder: Path) -> None:
    """Save an answerer, and what the pipeline finds, which newer transformers no longer have."""
    model, tokenizer = saved(folder / "body", "QuestionAnswering")
    ask = transformers.pipeline("question-answering", model=model, tokenizer=tokenizer)
    # Not aligned to words: it would add up the scores of equal ones, of as many as it took.
    options = {"align_to_words": False, "handle_impossible_answer": False}
    found = [ask(question=QUESTION, context=context, **options) for context in CONTEXTS]
    case = {
        "question": QUESTION,
        "contexts": CONTEXTS,
        "answers": [(one["score"], one["start"], one["end"]) for one in found],
    }
    (folder / "case.json").write_text(json.dumps(case), encoding="utf-8")


def write_answers(folder: Path, export: str, source: str, **found: object) -> None:
    """Write where the export lies, and what the pipeline finds in the contexts."""
    file = folder / "case.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    case = {"source": source, "export": export, "contexts": CONTEXTS, **known, **found}
    file.write_text(json.dumps(case), encoding="utf-8")


def optimum(folder: Path, kind: str) -> None:
    """Export an encoder by Optimum: token embeddings, in the root of the folder."""
    model = sentence_transformer(folder, kind, pooling())
    main_export(str(folder / "body"), folder / "export", task="feature-extraction")
    source = "Optimum feature-extraction export"
    write_case(folder, model, folder / "export" / "model.onnx", source)


def optimum_whole(folder: Path, kind: str) -> None:
    """Export a sentence-transformers model by Optimum: token and sentence embeddings."""
    model = sentence_transformer(folder, kind, *whole())
    main_export(
        str(folder / "saved"),
        folder / "export",
        task="feature-extraction",
        library_name="sentence_transformers",
    )
    source = "Optimum sentence-transformers export"
    write_case(folder, model, folder / "export" / "model.onnx", source)


def onnx_backend(folder: Path, kind: str) -> None:
    """Export by sentence-transformers' own ONNX backend, and save."""
    model = sentence_transformer(folder, kind, *whole())
    exported = on_onnx(folder)
    exported.save(str(folder / "export"))
    source = "sentence-transformers ONNX backend"
    write_case(folder, model, folder / "export" / "onnx" / "model.onnx", source)


def onnx_backend_optimized(folder: Path, kind: str) -> None:
    """Export by that backend with operators fused, into those of com.microsoft."""
    model = sentence_transformer(folder, kind, *whole())
    exported = on_onnx(folder)
    exported.save(str(folder / "export"))
    export_optimized_onnx_model(exported, "O2", str(folder / "export"))
    source = "sentence-transformers ONNX backend, optimized O2"
    write_case(folder, model, folder / "export" / "onnx" / "model_O2.onnx", source)


def on_onnx(folder: Path) -> SentenceTransformer:
    options = {"provider": "CPUExecutionProvider", "export": True}
    return SentenceTransformer(
        str(folder / "saved"), backend="onnx", device="cpu", model_kwargs=options
    )


def txtai(folder: Path, kind: str) -> None:
    """Export by the default task of txtai's HFOnnx: token embeddings and BERT's pooler output."""
    model = sentence_transformer(folder, kind, pooling())
    export = folder / "body" / "model.onnx"
    HFOnnx()(str(folder / "body"), "default", str(export))
    write_case(folder, model, export, "txtai HFOnnx, task default")


def txtai_pooling(folder: Path, kind: str, mode: str = "mean") -> None:
    """Export by the pooling task of txtai's HFOnnx, which leaves out later modules."""
    model = sentence_transformer(folder, kind, pooling(mode), *whole()[1:])
    export = folder / "saved" / "model.onnx"
    HFOnnx()(str(folder / "saved"), "pooling", str(export))
    write_case(folder, model, export, f"txtai HFOnnx, task pooling ({mode})")


def txtai_cls(folder: Path, kind: str) -> None:
    """Export by txtai's task that takes the first token's embedding."""
    txtai_pooling(folder, kind, "cls")


CASES: list[tuple[Callable[[Path, str], None], str]] = [
    (optimum, "bert"),
    (optimum, "roberta"),
    (optimum_whole, "bert"),
    (optimum_whole, "roberta"),
    (onnx_backend, "bert"),
    (onnx_backend, "roberta"),
    (onnx_backend_optimized, "bert"),
    (txtai, "bert"),
    (txtai_pooling, "bert"),
    (txtai_cls, "bert"),
    (optimum_classifier, "bert"),
    (txtai_classifier, "bert"),
    (optimum_tagger, "bert"),
    (optimum_answerer, "bert"),
    (txtai_answerer, "bert"),
]


def main(folder: Path) -> None:
    """Write every case to a subfolder, named by the tool and the model."""
    for number, (write, kind) in enumerate(CASES):
        torch.manual_seed(number)
        write(folder / f"{write.__name__}-{kind}", kind)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
