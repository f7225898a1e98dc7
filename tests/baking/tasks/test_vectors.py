"""Sparse vectors, vectors of tokens, and both with a dense one: from the folder to answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

import polybake
from models.files.task_models import (
    m3_layers,
    masked_lm_weights,
    write_colbert,
    write_m3,
    write_splade,
)
from models.folders.tiny_folders import CONFIG, VOCABULARY, write_bert, write_json
from models.folders.torch_saved import write_torch
from polybake.baking.bake import BakeReport
from polybake.baking.bake_config import bake_config
from polybake.baking.sources import open_source
from polybake.baking.tasks import MultiVector, Outputs, Sparse, task_of
from polybake.baking.tasks.multi_vector import max_sim
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors, encode_vectors
from polybake.base.modelfile.fixture_folder import read_fixture, write_fixture
from polybake.cli.init import settings_text
from polybake.cli.target import config_for
from polybake.config import Config
from polybake.errors import CheckFailed, InputError
from polybake.generation import render_client
from polybake.study.bench.client import expected
from polybake.study.diff.parts import compare_parts
from polybake.testing import golden_cases
from support.samples.weekly import weekly_but


def baked(source: Path, out: Path, **settings: object) -> BakeReport:
    table = {"name": "tiny", "source": source, "output": out, **settings}
    return bake_config(Config.model_validate({"model": table}))


def test_sparse_vectors_are_in_the_file(tiny_sparse: Path) -> None:
    """Vectors are stored without their zeros, and answers name the heaviest tokens."""
    head = read_head(tiny_sparse)
    contract = head.manifest.contract
    assert (contract.task, contract.output.name) == ("sparse", "sparse_embedding")
    assert head.manifest.similarity == "dot"
    assert contract.prompts == {"query": "query: ", "document": "passage: "}
    assert any(case.prompt for case in head.fixture.cases)
    for case in head.fixture.cases:
        assert case.call == {"texts": [*case.texts], "top": 8, "prompt": case.prompt}
        for row, answer in zip(decode_vectors(case.embeddings), case.answer, strict=True):
            weights = {token: float(weight) for token, weight in zip(VOCABULARY, row, strict=True)}
            best = sorted(filter(None, weights.values()), reverse=True)[:8]
            assert [one["score"] for one in answer] == best
            assert {one["token"]: one["score"] for one in answer}.items() <= weights.items()
    assert all(case.embeddings.places is not None for case in head.fixture.cases)


def test_a_masked_language_model(tmp_path: Path) -> None:
    """A masked language model embeds by default, and weighs tokens where the task asks for it."""
    config = CONFIG | {"architectures": ["BertForMaskedLM"]}
    source = write_bert(tmp_path / "m", config, masked_lm_weights())
    sparse = read_head(baked(source, tmp_path / "sparse.onnx", task="sparse").path)
    library = read_head(
        baked(write_splade(tmp_path / "s", prompts={}), tmp_path / "tiny.onnx").path
    )
    assert task_of(open_source(source)).name == "embed"
    assert sparse.manifest.steps == library.manifest.steps
    assert sparse.fixture.cases == library.fixture.cases


def test_fewer_elements_may_be_kept(tmp_path: Path) -> None:
    """max_active_dims of config_sentence_transformers.json limits the elements of a vector."""
    source = write_splade(tmp_path / "m", max_active_dims=3)
    for case in read_head(baked(source, tmp_path / "tiny.onnx").path).fixture.cases:
        assert (np.count_nonzero(decode_vectors(case.embeddings), axis=1) <= 3).all()
        assert all(len(text) <= 3 for text in case.answer)


def test_equal_weights_keep_the_order_of_the_ids() -> None:
    """Equal weights stay in the order of their ids, and tokens of weight 0 are left out."""
    found = np.array([[0.0, 1.0, 2.0, 0.0, 1.0]], np.float32)
    answer = Sparse().answer(Outputs(found))
    assert answer == [
        [
            {"token": "2", "score": 2.0},
            {"token": "1", "score": 1.0},
            {"token": "4", "score": 1.0},
        ]
    ]


def test_rows_and_answers_are_in_the_file(tiny_multi_vector: Path) -> None:
    """The answer tells each text's rows: nine for queries, for documents some fewer than tokens."""
    head = read_head(tiny_multi_vector)
    contract = head.manifest.contract
    assert (contract.task, contract.output.counts) == ("multi-vector", "row_counts")
    assert head.manifest.similarity == "maxsim"
    short = 0
    for case in head.fixture.cases:
        rows = [text["rows"] for text in case.answer]
        assert sum(rows) == len(decode_vectors(case.embeddings))
        assert case.call == {"texts": [*case.texts], "prompt": case.prompt}
        if case.prompt == "query":
            assert rows == [9] * len(case.texts)
        else:
            tokens = [min(len(ids), 24) for ids in case.input_ids]
            assert all(found <= most for found, most in zip(rows, tokens, strict=True))
            short += sum(tokens) - sum(rows)
    assert short > 10
    model = polybake.Embedder(tiny_multi_vector)
    assert model.self_check() == 0
    with pytest.raises(InputError, match="gives a text several vectors; ask it by a client"):
        model.embed(["the boat"])


def test_rows_do_not_depend_on_batches(tiny_multi_vector: Path) -> None:
    """Rows of many texts, batched by length, equal those of each text alone."""
    runner = polybake.Embedder(tiny_multi_vector).runner
    rows = runner.ids([word * (place % 9 + 1) for place in range(99) for word in ("a.", "the ")])
    alone = np.concatenate([runner.vectors([row]) for row in rows])
    assert runner.embed(rows) == pytest.approx(alone, abs=1e-6)


def test_relevance_is_the_sum_of_the_largest_products() -> None:
    """A document without rows has relevance 0."""
    query = np.array([[1, 0], [0.5, 0.5]], np.float32)
    document = np.array([[0, 1], [0.5, 0], [-1, -1]], np.float32)
    assert max_sim(query, document) == pytest.approx(0.5 + 0.5)
    assert max_sim(query, document[:0]) == 0
    vectors = np.concatenate([query, document])
    answer = MultiVector().answer(Outputs(vectors, counts=np.array([2, 3, 0])))
    assert answer == [
        {"rows": 2, "max_sim": pytest.approx(1.5)},
        {"rows": 3, "max_sim": pytest.approx(1.0)},
        {"rows": 0, "max_sim": 0.0},
    ]


OUTPUTS = ("dense_embedding", "token_weights", "token_embeddings")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with three outputs."""
    folder = tmp_path_factory.mktemp("hybrid")
    polybake.bake(write_m3(folder / "m"), folder / "tiny.onnx", name="tiny")
    return folder / "tiny.onnx"


def test_three_outputs_are_in_the_file(model: Path) -> None:
    """The contract names them, each case has them, and the answer is made of them and the ids."""
    head = read_head(model)
    contract = head.manifest.contract
    assert (contract.task, contract.prompts) == ("hybrid", {})
    assert tuple(one.name for one in contract.outputs) == OUTPUTS
    assert [one.counts for one in contract.outputs] == [None, "row_counts", "row_counts"]
    session = ort.InferenceSession(str(model))
    assert [one.name for one in session.get_outputs()] == [*OUTPUTS, "row_counts"]
    several = 0
    for case in head.fixture.cases:
        assert [*(case.further or {})] == [*OUTPUTS[1:]]
        dense, weights, vectors = map(decode_vectors, case.vectors)
        lengths = [len(ids) - 1 for ids in case.input_ids]
        assert [len(dense), len(weights), len(vectors)] == [len(lengths), *[sum(lengths)] * 2]
        cut = np.split(weights[:, 0], np.cumsum(lengths)[:-1])
        for ids, own, answer in zip(case.input_ids, cut, case.answer, strict=True):
            largest = {
                token: max(
                    float(one) for other, one in zip(ids[1:], own, strict=True) if other == token
                )
                for token in ids[1:]
            }
            expected = sorted((-one, token) for token, one in largest.items() if one > 0)[:8]
            assert answer["rows"] == len(ids) - 1
            assert answer["weights"] == [
                {"index": one, "score": -weight} for weight, one in expected
            ]
            assert not {entry["index"] for entry in answer["weights"]} & {0, 1, 2, 3}
            several += len(expected) < len(set(ids))
    assert several > 10
    embedder = polybake.Embedder(model)
    assert embedder.self_check() == 0
    with pytest.raises(InputError, match="gives a text several vectors; ask it by a client"):
        embedder.embed(["the boat"])


def test_self_check_sees_each_output(model: Path) -> None:
    """A golden number of any output that is not reproduced is named by its case."""
    embedder = polybake.Embedder(model)
    case = embedder.head.fixture.cases[0]
    for place in range(3):
        wrong = [*case.vectors]
        wrong[place] = encode_vectors(decode_vectors(wrong[place]) + np.float32(1e-3))
        changed = embedder.head.fixture.model_copy(update={"cases": (case.with_vectors(wrong),)})
        vars(embedder.head)["fixture"] = changed
        with pytest.raises(CheckFailed, match=f"case {case.id}: row .*difference 0.001 "):
            embedder.self_check()


@pytest.mark.weekly
def test_a_folder_of_cases_keeps_all_outputs(model: Path, tmp_path: Path) -> None:
    """In JSON, and beside it where they are many."""
    fixture = read_head(model).fixture
    write_fixture(fixture, tmp_path)
    assert read_fixture(tmp_path) == fixture
    many = tuple(
        case.model_copy(update={"id": f"{case.id}-{number}"})
        for case in fixture.cases
        for number in range(100)
    )
    write_fixture(fixture.model_copy(update={"cases": many}), tmp_path)
    assert (tmp_path / "vectors.f32").stat().st_size > 1_000_000
    for case, read in zip(many, read_fixture(tmp_path).cases, strict=True):
        for one, other in zip(case.vectors, read.vectors, strict=True):
            assert np.array_equal(decode_vectors(one), decode_vectors(other))


@pytest.mark.parametrize("precision", weekly_but(1, ["int8", "float16", "int4"]))
@pytest.mark.parametrize("write", weekly_but(1, [write_m3, write_colbert]))
def test_other_precisions(write: Any, precision: str, tmp_path: Path) -> None:
    """Rows are judged as vectors are, and every output."""
    report = baked(write(tmp_path / "m"), tmp_path / "tiny.onnx", precision=precision)
    deviation = report.manifest.deviation
    assert deviation is not None
    assert deviation.min_cosine > 0.99
    assert polybake.Embedder(report.path).self_check() == 0


def test_layers_that_are_pickles(model: Path, tmp_path: Path) -> None:
    """They are read if the user says so; else the dense vectors are baked, and a note says it."""
    folder = write_m3(tmp_path / "m")
    for name, arrays in m3_layers().items():
        (folder / f"{name}.safetensors").unlink()
        write_torch(folder / f"{name}.pt", arrays)
    report = baked(folder, tmp_path / "dense.onnx")
    assert report.manifest.contract.task == "embed"
    assert "further_outputs" not in report.manifest.contract.canonical()
    (note,) = report.notes
    assert note.endswith('set task = "hybrid" and pickle = "tensors"')
    report = baked(folder, tmp_path / "tiny.onnx", pickle="tensors")
    assert report.manifest.contract == read_head(model).manifest.contract
    assert report.manifest.fingerprint == read_head(model).manifest.fingerprint


def test_empty_prompts_are_none(model: Path, tmp_path: Path) -> None:
    """sentence-transformers writes two of them into each folder."""
    folder = write_m3(tmp_path / "m")
    saved = {"prompts": {"query": "", "document": ""}, "default_prompt_name": None}
    write_json(folder / "config_sentence_transformers.json", saved)
    report = baked(folder, tmp_path / "tiny.onnx")
    assert report.manifest.contract == read_head(model).manifest.contract


def test_a_file_of_one_output_is_as_before(tmp_path: Path) -> None:
    """Neither its contract nor its cases know of others."""
    report = baked(write_m3(tmp_path / "m"), tmp_path / "tiny.onnx", task="embed")
    head = read_head(report.path)
    stored = json.dumps(head.manifest.model_dump(mode="json"))
    assert "further" not in stored + head.fixture.model_dump_json(exclude_none=True)


def test_what_takes_one_output_refuses_it(model: Path) -> None:
    """Nothing compares, times or serves one output of three in silence."""
    embedder = polybake.Embedder(model)
    for call, says in (
        (lambda: compare_parts(model, model), "a diff compares one"),
        (lambda: expected(embedder, "one", ["a"]), "a bench times one"),
        (lambda: golden_cases(model), "a service is compared by one"),
    ):
        with pytest.raises(InputError, match=f"gives a text .* outputs, and {says}"):
            call()


def test_init_finds_the_task(tmp_path: Path) -> None:
    """Where both layers lie there; a folder of one is one for dense vectors alone."""
    folder = write_m3(tmp_path / "m")
    text = settings_text(open_source(folder), config_for(folder, (), name="m"), tmp_path)
    assert 'task = "hybrid"' in text
    assert 'step = "head"' in text
    (folder / "colbert_linear.safetensors").unlink()
    assert "task" not in settings_text(
        open_source(folder), config_for(folder, (), name="m"), tmp_path
    )


def cut_bias(layers: Any) -> None:
    del layers["colbert_linear"]["bias"]


def of_two_numbers(layers: Any) -> None:
    layers["sparse_linear"] = layers["colbert_linear"]


def of_another_size(layers: Any) -> None:
    layers["colbert_linear"]["weight"] = layers["colbert_linear"]["weight"][:, 1:]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (cut_bias, r"colbert_linear\.safetensors: holds weight; expected bias, weight"),
        (of_two_numbers, r"sparse_linear\.safetensors: gives a token 7 numbers, expected one"),
        (of_another_size, "weight takes 11 elements and the embedding has 12"),
    ],
)
def test_layers_that_do_not_fit(change: Callable[[Any], None], says: str, tmp_path: Path) -> None:
    """The layer's file is named."""
    layers = m3_layers()
    change(layers)
    with pytest.raises(InputError, match=says):
        baked(write_m3(tmp_path / "m", layers), tmp_path / "tiny.onnx")
    assert not (tmp_path / "tiny.onnx").exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ([{"step": "normalize"}], "stands after hybrid; move hybrid to the end"),
        ([], "the task 'embed' has sentence_embedding; say task = \"hybrid\""),
    ],
)
def test_steps_that_do_not_fit(more: list[dict[str, str]], says: str, tmp_path: Path) -> None:
    """The step, or the task that has three outputs, is named."""
    source, out = write_m3(tmp_path / "m"), tmp_path / "o.onnx"
    with pytest.raises(InputError, match=says):
        polybake.bake(source, out, name="tiny", steps=[{"step": "head"}, *more])


def test_a_language_without_a_client_is_refused(model: Path) -> None:
    """By name, with the remedy."""
    manifest = read_head(model).manifest
    contract = manifest.contract.model_copy(update={"task": "no-task"})
    with pytest.raises(InputError, match="ruby: has no templates for the task 'no-task'; leave"):
        render_client(manifest.model_copy(update={"contract": contract}), "ruby")
