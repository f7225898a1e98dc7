"""A function of the user's own as a step: its numbers, its proof, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from models.bake import bake
from models.folders.tiny_folders import CONFIG, write_bert
from models.onnx.tiny_onnx import write_encoder
from polybake.baking.bake import BakeReport
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.errors import CheckFailed, InputError
from polybake.steps import PythonFile, Step

RANDOM = np.random.default_rng(31)
X = RANDOM.normal(size=(3, 7)).astype(np.float32)
MASK = np.ones((3, 2), np.int64)
HIDDEN = CONFIG["hidden_size"]

#: A weight of its own, a parameter, and NumPy that another function of the file uses.
FILE = """
import numpy as np
from onnxscript import ir

def weight(size, to):
    return np.random.default_rng(4).normal(size=(size, to)).astype(np.float32)

def step(op, embedding, to=3):
    matrix = op.initializer(ir.tensor(weight(embedding.shape[1], to)), "matrix")
    return op.Tanh(op.MatMul(embedding, matrix))

def reference(embedding, to=3):
    return np.tanh(embedding @ weight(embedding.shape[1], to))
"""
ALONE = FILE.split("def reference")[0]


def expected(x: np.ndarray, to: int) -> np.ndarray:
    matrix = np.random.default_rng(4).normal(size=(x.shape[1], to)).astype(np.float32)
    return np.tanh(x.astype(np.float64) @ matrix)


def steps(folder: Path, text: str, **values: object) -> list[Step]:
    """Write the file, and resolve the step behind a pooling as polybake.toml would."""
    (folder / "own.py").write_text(text, encoding="utf-8")
    specs = [{"step": "pool", "mode": "mean"}, {"step": "python", "file": "own.py", **values}]
    return resolve(specs, base=folder, source=open_source(write_bert(folder / "model")))


def step(folder: Path, text: str = FILE, **values: object) -> PythonFile:
    found = steps(folder, text, **values)[1]
    assert isinstance(found, PythonFile)
    return found


def baked(folder: Path, text: str, **values: object) -> BakeReport:
    listed = steps(folder, text, **values)
    return bake(open_source(folder / "model"), listed, folder / "out.onnx", name="tiny")


def pooled(folder: Path) -> list[np.ndarray]:
    """What the step is given in each golden case."""
    source = open_source(folder / "model")
    specs = [{"step": "pool", "mode": "mean"}]
    path = bake(
        source, resolve(specs, base=folder, source=source), folder / "pool.onnx", name="tiny"
    ).path
    return [decode_vectors(case.embeddings) for case in read_head(path).fixture.cases]


def test_computes_what_the_function_does(run_step, opset: int, tmp_path: Path) -> None:
    """The graph gives the formula at every opset, with the parameters of polybake.toml."""
    own = step(tmp_path, parameters={"to": 5})
    assert run_step(own, X, MASK, opset) == pytest.approx(expected(X, 5), abs=1e-6)
    assert run_step(step(tmp_path), X, MASK, opset) == pytest.approx(expected(X, 3), abs=1e-6)


def test_another_function_of_the_file(run_step, tmp_path: Path) -> None:
    """A file may hold several steps."""
    more = FILE + "\ndef negative(op, embedding):\n    return op.Neg(embedding)\n"
    assert run_step(step(tmp_path, more, function="negative"), X, MASK) == pytest.approx(-X)


@pytest.mark.parametrize(("text", "shown"), [(FILE, ""), (ALONE, " unproven")])
def test_is_baked(text: str, shown: str, tmp_path: Path) -> None:
    """The file's numbers are the formula's; without a reference the manifest says: unproven.

    The model file holds ONNX's own operators, and neither the code nor its path.
    """
    report = baked(tmp_path, text, parameters={"to": 5})
    (_, named) = report.manifest.steps
    assert named == f"python(file=own.py, function=step, parameters={{'to': 5}}){shown}"
    cases = read_head(report.path).fixture.cases
    for case, given in zip(cases, pooled(tmp_path), strict=True):
        assert decode_vectors(case.embeddings) == pytest.approx(expected(given, 5), abs=1e-5)
    (tmp_path / "own.py").unlink()
    model = onnx.load(report.path)
    assert {node.domain for node in model.graph.node} == {""}
    assert "steps.1.matrix" in {weight.name for weight in model.graph.initializer}
    assert str(tmp_path).encode() not in report.path.read_bytes()


def test_same_file_twice(tmp_path: Path) -> None:
    """Weights of one name in two steps are two weights."""
    listed = [*steps(tmp_path, FILE, parameters={"to": 5}), step(tmp_path)]
    path = bake(open_source(tmp_path / "model"), listed, tmp_path / "out.onnx", name="tiny").path
    cases = read_head(path).fixture.cases
    for case, given in zip(cases, pooled(tmp_path), strict=True):
        wanted = expected(expected(given, 5), 3)
        assert decode_vectors(case.embeddings) == pytest.approx(wanted, abs=1e-5)


def test_takes_an_onnx_source(tmp_path: Path) -> None:
    """The step takes the opset of the file it is added to."""
    (tmp_path / "own.py").write_text(FILE, encoding="utf-8")
    source = open_source(write_encoder(tmp_path / "model"))
    specs = [{"step": "pool", "mode": "mean"}, {"step": "python", "file": "own.py"}]
    listed = resolve(specs, base=tmp_path, source=source)
    report = bake(source, listed, tmp_path / "out.onnx", name="tiny")
    assert (report.manifest.opset, report.manifest.contract.output.dimension) == (12, 3)


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        ("embedding * 0.999", r"in case .* nothing was .*\(file=own.py"),
        ("embedding[:, :2]", r"shape \[1, 12\], and its source .* \[1, 2\]"),
    ],
)
def test_a_reference_that_disagrees(reference: str, shown: str, tmp_path: Path) -> None:
    """A bake whose function and reference differ fails, and writes nothing."""
    text = f"def step(op, embedding): return op.Identity(embedding)\n\
def reference(embedding): return {reference}\n"
    with pytest.raises(CheckFailed, match=shown):
        baked(tmp_path, text)
    assert not (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("raise SystemExit('bye')", r"step of own\.py raised SystemExit: bye"),
        ("return embedding.shape", "returned Shape"),
        ("return op.ReduceSum(embedding)", r"returned FLOAT \[1,1\]"),
        ("return op.Relu(op.NoSuch(embedding))", "NoSuch is not in"),
        ("return op.Op(embedding, _domain='my')", r"my\.Op is not in"),
        ("return op.Cast(embedding, to=7)", r"returned INT64 \[batch,12\]"),
    ],
)
def test_names_what_the_function_did(body: str, shown: str, tmp_path: Path) -> None:
    """An exception, or a result that is no embedding, is an error with the file's name."""
    with pytest.raises(InputError, match=rf"^steps\[1\]: python: .*{shown}"):
        baked(tmp_path, f"def step(op, embedding):\n    {body}\n")


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        ("embedding.astype(str)", r"reference of own\.py returned an array of <U32"),
        ("embedding.astype(object)", r"reference of own\.py returned an array of object"),
        ("exit(0)", r"reference of own\.py raised SystemExit: 0"),
    ],
)
def test_names_what_the_reference_did(returned: str, shown: str, tmp_path: Path) -> None:
    """A reference that fails, or gives other rows, is named with what it did."""
    text = f"def step(op, embedding): return op.Identity(embedding)\n\
def reference(embedding): return {returned}\n"
    with pytest.raises(InputError, match=shown):
        baked(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "values", "shown"),
    [
        ("def step(op)", {}, r"\.file: .*own\.py raised SyntaxError"),
        ("import sys; sys.exit(3)", {}, r"\.file: .*own\.py raised SystemExit: 3"),
        ("step = 3", {}, r"\.function: own\.py .* only: none; write def step"),
        (FILE, {"parameters": 3}, r"\.parameters: .* found 3"),
        (FILE, {"limit": 3}, r"\.limit: unknown key; .*: file, function, parameters"),
    ],
)
def test_names_what_does_not_fit(
    text: str, values: dict[str, object], shown: str, tmp_path: Path
) -> None:
    """A file that does not run, a function it lacks, and unknown keys are errors by key."""
    with pytest.raises(InputError, match=rf"^steps\[1\]{shown}"):
        steps(tmp_path, text, **values)


def test_runs_nothing_of_a_model_s_folder(tmp_path: Path) -> None:
    """A Python file inside the model's folder is refused, and not run."""
    folder = write_bert(tmp_path / "model")
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')", encoding="utf-8")
    (tmp_path / "link.py").symlink_to(folder / "own.py")
    for name in ("model/own.py", "link.py"):
        with pytest.raises(InputError, match="lies in the model's folder, from which no code is"):
            resolve([{"step": "python", "file": name}], base=tmp_path, source=open_source(folder))
    assert not (tmp_path / "ran").exists()
