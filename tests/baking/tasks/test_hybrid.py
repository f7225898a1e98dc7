"""Three outputs of one pass, from the folder to golden answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

import polybake
from models.files.task_models import m3_layers, write_m3
from models.folders.tiny_folders import write_json
from models.folders.torch_saved import write_torch
from polybake.baking.bake_config import bake_config
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors, encode_vectors
from polybake.base.modelfile.fixture_folder import read_fixture, write_fixture
from polybake.cli.init import settings_text
from polybake.config import Config
from polybake.errors import CheckFailed, InputError
from polybake.generation import render_client
from polybake.shipping.export.ort_format import export_ort
from polybake.study.bench.expected import expected
from polybake.study.diff.parts import compare_parts
from polybake.testing import golden_cases

OUTPUTS = ("dense_embedding", "token_weights", "token_embeddings")


def baked(folder: Path, out: Path, **settings: object) -> Any:
    table = {"name": "tiny", "source": folder, "output": out, **settings}
    return bake_config(Config.model_validate({"model": table}))


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


@pytest.mark.parametrize("precision", ["float16", "int8", "int4"])
def test_other_precisions(precision: str, tmp_path: Path) -> None:
    """Every output is judged."""
    baked(write_m3(tmp_path / "m"), tmp_path / "tiny.onnx", precision=precision)
    deviation = read_head(tmp_path / "tiny.onnx").manifest.deviation
    assert deviation is not None
    assert deviation.min_cosine > 0.99
    assert polybake.Embedder(tmp_path / "tiny.onnx").self_check() == 0


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


def test_what_takes_one_output_refuses_it(model: Path, tmp_path: Path) -> None:
    """Nothing compares, times, exports or serves one output of three in silence."""
    embedder = polybake.Embedder(model)
    for call, says in (
        (lambda: compare_parts(model, model), "a diff compares one"),
        (lambda: expected(embedder, "one", ["a"]), "a bench times one"),
        (lambda: export_ort(model, tmp_path / "m.ort"), "an export is compared by one"),
        (lambda: golden_cases(model), "a service is compared by one"),
    ):
        with pytest.raises(InputError, match=f"gives a text .* outputs, and {says}"):
            call()


def test_init_finds_the_task(tmp_path: Path) -> None:
    """Where both layers lie there; a folder of one is one for dense vectors alone."""
    folder = write_m3(tmp_path / "m")
    text = settings_text(open_source(folder), folder, "m", tmp_path, "native")
    assert 'task = "hybrid"' in text
    assert 'step = "head"' in text
    (folder / "colbert_linear.safetensors").unlink()
    assert "task" not in settings_text(open_source(folder), folder, "m", tmp_path, "native")


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
