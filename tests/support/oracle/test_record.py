"""The record judges: what differs from it is found, and it is written in parts."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from models.folders.seeded import TYPES, drawn
from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors, encode_vectors
from polybake.base.modelfile.tolerance import LIMIT
from support.oracle.agreement import agreement, bake, bake_source
from support.oracle.record import Json, cases_of, drift, entries, entry_of, files_of, make, write
from support.oracle.test_proven import INI

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]


@pytest.fixture(scope="module")
def entry(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """A BERT, some of whose weights are drawn."""
    folder = tmp_path_factory.mktemp("record")
    weights = bert_weights()
    weights |= {name: drawn(name, one.shape) for name, one in weights.items() if one.ndim == 2}
    write_bert(folder / "model", CONFIG, weights)
    out = bake_source(folder / "model", folder / "tiny.onnx")
    found = agreement(out, read_head(out).fixture.cases)
    return entry_of("bert", "folder", found) | files_of(folder / "model")


def judged(entry: Json, folder: Path) -> float:
    """The difference between a bake of the folder made again and the record."""
    baking = make(entry, folder / "again")
    out = bake(baking.source, folder / "again.onnx", folder=baking.folder, **baking.settings)
    return agreement(out, cases_of(entry)).difference


def draws(entry: Json) -> list[list[object]]:
    return [one for one in entry["files"]["model.safetensors"] if isinstance(one, list)]


def change_weight(entry: Json) -> None:
    draws(entry)[-1][2] = 1e-3


def change_vector(entry: Json) -> None:
    vectors = cases_of(entry)[0].embeddings
    changed = encode_vectors(decode_vectors(vectors) + np.float32(1e-3))
    entry["cases"][0]["embeddings"] = changed.model_dump(mode="json", exclude_none=True)


def change_id(entry: Json) -> None:
    entry["cases"][0]["input_ids"][0][1] += 1


def test_a_folder_is_made_again(entry: Json, tmp_path: Path) -> None:
    """Its drawn weights are kept by their names alone, and what is baked is what it was."""
    assert len(draws(entry)) > 10
    assert judged(entry, tmp_path) <= LIMIT


def test_another_weight_is_another_folder(entry: Json, tmp_path: Path) -> None:
    """The digest tells, before anything is baked."""
    changed = copy.deepcopy(entry)
    change_weight(changed)
    with pytest.raises(AssertionError, match="the folder made again is another one"):
        make(changed, tmp_path / "again")


def test_another_vector_is_a_difference(entry: Json, tmp_path: Path) -> None:
    changed = copy.deepcopy(entry)
    change_vector(changed)
    assert judged(changed, tmp_path) > LIMIT


def test_another_id_is_a_fault(entry: Json, tmp_path: Path) -> None:
    changed = copy.deepcopy(entry)
    change_id(changed)
    with pytest.raises(AssertionError, match=cases_of(entry)[0].id):
        judged(changed, tmp_path)


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (change_vector, r"t: differs from its entry by \d\.\d\de-0\d; record: .*numpy 1\.0"),
        (change_id, "t: differs from its entry in plain"),
        (lambda entry: entry.update(kind="gpt2"), "t: kind is bert, in the record gpt2"),
    ],
)
def test_what_the_library_gives_now_is_compared(
    entry: Json, change: Callable[[Json], None], shown: str
) -> None:
    """The entry, the difference, both versions and the remedy are named."""
    changed = copy.deepcopy(entry) | {"versions": {"numpy": "1.0"}}
    assert drift("t", entry, changed) is None
    change(changed)
    found = drift("t", entry, changed)
    assert found is not None
    assert re.search(shown, found)
    assert f"now: numpy {np.__version__}" in found
    assert "nox -s oracle -- --record" in found


def test_equal_entries_are_equal_bytes(entry: Json, tmp_path: Path) -> None:
    """Whatever their order, and also when they were read before."""
    path = tmp_path / "test_a.json.xz"
    write(path, {"b": entry, "a": entry})
    first = path.read_bytes()
    read = entries(path)
    assert read["a"] == read["b"] == json.loads(json.dumps(entry))
    write(path, {"a": read["a"], "b": read["b"]})
    assert path.read_bytes() == first


@pytest.mark.parametrize("dtype", TYPES)
def test_draws_are_found_in_every_type(dtype: str, tmp_path: Path) -> None:
    """Also transposed, as an export to ONNX has them, and behind other bytes."""
    array = drawn("a", (7, 5), mean=1.0).astype(TYPES[dtype])
    content = b"abc" + array.T.tobytes() + b"def" + array.tobytes()
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "one.onnx").write_bytes(content)
    found = files_of(tmp_path / "model")
    first, transposed, between, plain = found["files"]["one.onnx"]
    assert [found["blobs"][one] for one in (first, between)] == [["text", "abc"], ["text", "def"]]
    assert transposed == ["a", (7, 5), 1.0, dtype, True]
    assert plain == ["a", (7, 5), 1.0, dtype, False]
    make(found, tmp_path / "again")
    assert (tmp_path / "again" / "one.onnx").read_bytes() == content


TESTS = """
import pytest

from models.files.every_feed import write_every_feed_model
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from support.oracle.agreement import BAKINGS, Agreement, Baking, as_given

SCALE = 1

@pytest.mark.oracle
@pytest.mark.xdist_group("tiny")
@pytest.mark.parametrize("kind", ["first", "second"])
def test_kinds(kind, proven, tmp_path):
    model = write_every_feed_model(tmp_path / "model.onnx")
    BAKINGS[model] = Baking(tmp_path, tmp_path, {})
    cases = [
        as_given(case, {"embeddings": decode_vectors(case.embeddings) * SCALE})
        for case in read_head(model).fixture.cases
    ]
    proven(kind, Agreement(model, tuple(cases), 0.0), source="folder")
"""


def test_a_run_writes_and_compares(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of the tests writes its own entries, and a whole file loses what none gives."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makeini(INI)
    (pytester.mkdir("tests") / "conftest.py").write_text(
        'pytest_plugins = ["support.oracle.proven"]\n', encoding="utf-8"
    )
    tests = pytester.path / "tests" / "test_tiny.py"
    record = pytester.path / "fixtures" / "oracle" / "test_tiny.json.xz"

    def run(text: str, *options: str, **outcomes: int) -> str:
        tests.write_text(text, encoding="utf-8")
        done = pytester.runpytest_inprocess("-m", "oracle", "-p", "no:cacheprovider", *options)
        done.assert_outcomes(**outcomes)
        entries.cache_clear()
        return done.stdout.str()

    name = "tests/test_tiny.py::test_kinds"
    shown = run(TESTS, failed=2)
    assert f"{name}[first] has no entry in the record; nox -s oracle -- --record" in shown
    run(TESTS, "--record", "-k", "second", passed=1, deselected=1)
    assert [*entries(record)] == [f"{name}[second]"]
    run(TESTS, "--record", "-k", "first", passed=1, deselected=1)
    assert [*entries(record)] == [f"{name}[first]", f"{name}[second]"]
    run(TESTS, passed=2)
    run(TESTS, "-n", "1", "--dist", "loadgroup", passed=2)
    changed = run(TESTS.replace("SCALE = 1", "SCALE = 1.001"), failed=2)
    assert f"{name}[second]: differs from its entry by " in changed
    alone = TESTS.replace('"first", "second"', '"first"')
    left = f"fixtures/oracle has an entry that no test gave: {name}[second]"
    assert left not in run(alone, "-k", "first", passed=1)
    assert left in run(alone, passed=1)
    run(alone, "--record", passed=1)
    assert [*entries(record)] == [f"{name}[first]"]
