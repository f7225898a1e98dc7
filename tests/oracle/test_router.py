"""Router against sentence-transformers: for queries, documents and plain calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Router
from sentence_transformers.sentence_transformer.modules import (
    Dense,
    LayerNorm,
    Normalize,
    Pooling,
    StaticEmbedding,
    Transformer,
)
from tokenizers import Tokenizer

from models.folders.seeded import randomise
from models.folders.tiny_folders import (
    CONFIG,
    bert_weights,
    change_json,
    write_bert,
    write_tokenizer,
)
from polybake.baking.golden.golden import cases_for, make_fixture
from polybake.base.modelfile.container import read_head
from support.oracle.agreement import agreement, agreement_with_folder, as_given, bake_source
from support.oracle.proven import Proven

SMALL = CONFIG | {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 3}
PROMPTS = {"query": "the query: ", "document": "passage: "}


def bert(folder: Path, config: dict[str, Any] = CONFIG, seed: int = 1) -> Any:
    name = f"bert-{config['hidden_size']}-{seed}"
    return Transformer(str(write_bert(folder / name, config, bert_weights(config, seed))))


def distilbert(folder: Path) -> Any:
    from transformers import DistilBertConfig, DistilBertModel

    config = DistilBertConfig(
        vocab_size=CONFIG["vocab_size"],
        max_position_embeddings=40,
        dim=8,
        hidden_dim=18,
        n_layers=2,
        n_heads=2,
    )
    randomise(DistilBertModel(config)).save_pretrained(folder / "distilbert")
    write_tokenizer(folder / "distilbert")
    return Transformer(str(folder / "distilbert"))


def stacks(folder: Path) -> list[Any]:
    """Encoders of other architectures and sizes, each with a pooling of its own."""
    query = [distilbert(folder), Pooling(8, "mean"), Dense(8, 12), LayerNorm(12)]
    document = [bert(folder), Pooling(12, "cls"), Normalize()]
    return [Router.for_query_document(query, document), Normalize()]


def encoders(folder: Path) -> list[Any]:
    """Two encoders, and one pooling behind them."""
    router = Router.for_query_document([bert(folder)], [bert(folder, seed=2)], "query")
    return [router, Pooling(12, ["mean", "max"])]


def heads(folder: Path) -> list[Any]:
    """Dense layers behind the pooling."""
    router = Router.for_query_document(
        [Dense(12, 9), LayerNorm(9), Dense(9, 7), Normalize()], [Dense(12, 7)]
    )
    return [bert(folder), Pooling(12, "mean"), router]


def head_of_queries(folder: Path) -> list[Any]:
    """A dense layer for queries; the route of documents changes nothing."""
    router = Router.for_query_document([Dense(12, 12, use_residual=True)], [Normalize()])
    return [bert(folder), Pooling(12, "lasttoken"), router, Normalize()]


def shared(folder: Path) -> list[Any]:
    """One encoder, which is saved once, in both routes."""
    one = bert(folder)
    return [Router({"query": [one, Pooling(12, "cls")], "document": [one, Pooling(12, "mean")]})]


def prompts_left_out(folder: Path) -> list[Any]:
    """One route pools without the prompt, the other with it."""
    query = [bert(folder, SMALL), Pooling(8, "mean", include_prompt=False)]
    document = [bert(folder, SMALL, seed=2), Pooling(8, "mean", include_prompt=True)]
    return [Router.for_query_document(query, document)]


def mapped(folder: Path) -> list[Any]:
    """Routes whose names are not the tasks'."""
    routes = {"long": [Dense(12, 7)], "short": [Dense(12, 7)], "image": [Dense(12, 5)]}
    mappings = {("query", "text"): "short", (None, "text"): "long", (None, "image"): "image"}
    router = Router(routes, default_route="image", route_mappings=mappings)
    return [bert(folder), Pooling(12, "mean"), router]


MODELS = (stacks, encoders, heads, head_of_queries, shared, prompts_left_out, mapped)


@pytest.mark.parametrize("prompts", [None, PROMPTS], ids=["no prompts", "prompts"])
@pytest.mark.parametrize("modules", MODELS, ids=lambda modules: modules.__name__)
def test_agrees_with_sentence_transformers(
    modules: Callable[[Path], list[Any]],
    prompts: dict[str, str] | None,
    tmp_path: Path,
    proven: Proven,
) -> None:
    """encode_query, encode_document and encode give the same ids and vectors."""
    assert_agreement(save(tmp_path, modules, prompts), tmp_path / "tiny.onnx", proven)


def test_a_folder_of_the_older_name_agrees(tmp_path: Path, proven: Proven) -> None:
    """Asym's file was called config.json, and had no default route."""
    folder = save(tmp_path, heads, None)
    older = folder / "2_Router" / "config.json"
    (folder / "2_Router" / "router_config.json").rename(older)
    change_json(older, parameters={"allow_empty_key": True})
    modules = (folder / "modules.json").read_text("utf-8")
    older_type = modules.replace("base.modules.router.Router", "models.Asym")
    (folder / "modules.json").write_text(older_type, "utf-8")
    assert_agreement(folder, tmp_path / "tiny.onnx", proven)


def test_three_routes_agree(tmp_path: Path, proven: Proven) -> None:
    """A prompt of a route's name is the task of that name."""

    def three(folder: Path) -> list[Any]:
        routes = {name: [Dense(12, 7)] for name in ("title", "query", "body")}
        return [bert(folder), Pooling(12, "mean"), Router(routes, default_route="query")]

    folder = save(tmp_path, three, None)
    out = bake_source(folder, tmp_path / "tiny.onnx")
    model = SentenceTransformer(str(folder), device="cpu")
    seen, expected = set(), []
    for case in make_fixture(out, cases_for(out)).cases:
        task = case.prompt if case.prompt != "document" else None  # a prompt without a route
        vectors = [model.encode(text, task=task) for text in case.texts]
        expected.append(as_given(case, {"embeddings": vectors}))
        seen.add(task)
    assert seen == {None, "title", "query", "body"}
    proven("bert, Router", agreement(out, expected))


def shorter_queries(folder: Path) -> list[Any]:
    """Two encoders of which one sees fewer tokens."""
    query, document = bert(folder), bert(folder, seed=2)
    query.max_seq_length, document.max_seq_length = 7, 20
    return [Router.for_query_document([query], [document]), Pooling(12, "mean")]


def table_of_queries(folder: Path) -> list[Any]:
    """Queries are the mean of a static table's rows, of any length and without special tokens."""
    tokenizer = Tokenizer.from_file(str(write_bert(folder / "t") / "tokenizer.json"))
    weights = np.random.default_rng(3).normal(0, 0.2, (CONFIG["vocab_size"], 12))
    tokenizer.no_truncation()
    table = StaticEmbedding(tokenizer, embedding_weights=weights.astype(np.float32))
    document = [bert(folder), Pooling(12, "cls")]
    return [Router.for_query_document([table, Dense(12, 9)], [*document, Dense(12, 9)])]


def short_table(folder: Path) -> list[Any]:
    """The table's tokenizer has a limit of its own, below the encoder's."""
    router = table_of_queries(folder)[0]
    router.sub_modules["query"][0].tokenizer.enable_truncation(5)
    return [router, Normalize()]


@pytest.mark.parametrize(
    "modules",
    [shorter_queries, table_of_queries, short_table],
    ids=lambda modules: modules.__name__,
)
def test_limits_of_routes_agree(
    modules: Callable[[Path], list[Any]], tmp_path: Path, proven: Proven
) -> None:
    """One tokenizer gives the ids of all routes, and the graph cuts each at its own limit."""
    folder = save(tmp_path, modules, PROMPTS)
    out = bake_source(folder, tmp_path / "tiny.onnx")
    model = SentenceTransformer(str(folder), device="cpu")
    prompts = read_head(out).manifest.contract.prompts
    expected = []
    for case in make_fixture(out, cases_for(out)).cases:
        given = {"prompt": prompts[case.prompt], "task": case.prompt} if case.prompt else {}
        vectors = [model.encode(text, **given) for text in case.texts]
        expected.append(as_given(case, {"embeddings": vectors}))
    assert max(len(ids) for case in expected for ids in case.input_ids) > 7
    proven(named(out), agreement(out, expected))


def assert_agreement(folder: Path, out: Path, proven: Proven) -> None:
    """Bake the model, and compare every built-in case, of each prompt."""
    found = agreement_with_folder(folder, out)
    assert {case.prompt for case in found.expected} >= {None, "query", "document"}
    proven(named(out), found)


def named(out: Path) -> str:
    """The architectures of a model, such as ``distilbert and bert, Router``."""
    encoder = read_head(out).manifest.encoder
    kinds = dict.fromkeys(part.split(": ")[-1] for part in encoder.split("; "))
    return f"{' and '.join(kinds)}, Router"


def save(
    folder: Path, modules: Callable[[Path], list[Any]], prompts: dict[str, str] | None
) -> Path:
    """Let sentence-transformers save the modules, those without an encoder of std 0.2."""
    made = modules(folder)
    for place, module in enumerate(part for one in made for part in one.modules()):
        if isinstance(module, Dense | LayerNorm):
            randomise(module, seed=place)
    model = SentenceTransformer(modules=made, prompts=prompts, device="cpu")
    model.save(str(folder / "saved"))
    return folder / "saved"
