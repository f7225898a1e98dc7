"""What the files that steps name are refused for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from models.folders.tiny_folders import CONFIG, write_bert
from models.onnx.tiny_onnx import encoder, write_encoder
from polybake.cli.main import app
from remedies.followed import MEAN, bake, refused

pytestmark = pytest.mark.slow

SIZE = CONFIG["hidden_size"]
CUBE = "import numpy as np\n\n\ndef {name}(op, embedding):\n    return {value}\n"
#: An encoder's graph that is one in every opset.
TANH = "rows = Gather (table, input_ids)  last_hidden_state = Tanh (rows)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A BERT, and its folder the working folder."""
    monkeypatch.chdir(tmp_path)
    return write_bert(tmp_path / "model")


def polybake(*arguments: str) -> None:
    """Run a command that a remedy names."""
    app([*arguments], standalone_mode=False)


def test_a_python_file_is_written(folder: Path) -> None:
    """The command writes a template, which bakes as it is."""
    steps = [*MEAN, {"step": "python", "file": "step.py"}]
    with refused("recipe/step_files.py: write one with", "polybake init --step FILE"):
        bake(folder, steps=steps)
    polybake("init", "--step", "step.py")
    bake(folder, steps=steps)


def test_a_python_file_gets_a_reference(tmp_path: Path) -> None:
    """An operator of the encoder's opset alone is proven with NumPy."""
    source = write_encoder(tmp_path / "model", encoder(body=TANH, opset=20))
    steps = [*MEAN, {"step": "python", "file": "step.py"}]
    swish = CUBE.format(name="step", value="op.Mul(embedding, op.Gelu(embedding))")
    file = tmp_path / "step.py"
    file.write_text(swish)
    with refused("steps/python_file.py: does not run alone", "add def reference"):
        bake(source, steps=steps)
    erf = "np.vectorize(math.erf)(embedding / 2**0.5)"
    file.write_text(
        f"import math\n{swish}\n\ndef reference(embedding):\n"
        f"    return embedding * 0.5 * embedding * (1 + {erf})\n"
    )
    bake(source, steps=steps)


def head(body: str, inputs: str = f"float[N, {SIZE}] x", opset: int = 18) -> None:
    """Write head.onnx."""
    domains = ', "own" : 1' if "own" in body else ""
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {opset}{domains}]>\n'
        f"head ({inputs}) => (float[N, {SIZE}] y) {{{body}}}"
    )
    onnx.save(model, "head.onnx")


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("recipe/step_files.py: name an .onnx file", None, "head.onnx is no file; name an"),
        (
            "graph/operators.py: export it with standard operators",
            {"body": "y = own.Tanh (x)"},
            "uses the custom operator own.Tanh, .*; export it with standard operators",
        ),
        (
            "graph/operators.py: expected {opsets[0]} to",
            {"body": "y = Tanh (x)", "opset": 99},
            "has opset 99, expected 1 to .*; export it again",
        ),
        (
            "steps/onnx_fragment.py: is not valid ONNX",
            {"body": "y = Tanh (z)"},
            "is not valid ONNX .*; export it again",
        ),
        (
            "steps/onnx_fragment.py: export it so",
            {"body": "y = Tanh (x)", "inputs": f"float[3, {SIZE}] x"},
            r"takes x FLOAT \[3,.*; expected one float32 \[batch, in\].*; export it so",
        ),
        (
            "steps/onnx_fragment.py: to which it does not convert",
            {"body": "y = Gelu (x)", "opset": 20},
            "has opset 20 and the encoder 18, .*; export it again at opset 18",
        ),
    ],
)
def test_an_onnx_file_is_exported_again(
    folder: Path, name: str, wrong: dict[str, object] | None, message: str
) -> None:
    """The file is as the remedy says."""
    steps = [*MEAN, {"step": "onnx", "file": "head.onnx"}]
    if wrong is not None:
        head(**wrong)
    with refused(name, message):
        bake(folder, steps=steps)
    head("y = Tanh (x)")
    bake(folder, steps=steps)


def test_fitted_arrays_stand_behind_the_steps_that_they_were_fitted_to(folder: Path) -> None:
    """The step is moved to where fit has it."""
    Path("corpus.txt").write_text("\n".join(f"{letter} boat" for letter in "abcdef"))
    bake(folder, steps=MEAN)
    polybake("fit", "tiny.onnx", "corpus.txt")
    mean = {"step": "subtract", "vector": "fitted/mean.npy"}
    with refused("recipe/step_files.py: was fitted to", "; move the step, or bake without"):
        bake(folder, steps=[*MEAN, {"step": "normalize"}, mean])
    bake(folder, steps=[*MEAN, mean, {"step": "normalize"}])


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("steps/quantize.py: write ranges.npy", {}, "int8 needs ranges; write ranges.npy"),
        (
            "steps/quantize.py: write them with",
            {"ranges": "three.npy"},
            r"found shape \[3, 12\]; write them with: polybake fit --ranges",
        ),
    ],
)
def test_fit_writes_ranges(folder: Path, name: str, wrong: dict[str, str], message: str) -> None:
    """The command's file is one that the step takes."""
    np.save("three.npy", np.ones((3, SIZE), np.float32))
    Path("corpus.txt").write_text("\n".join(f"{letter} boat" for letter in "abcdef"))
    with refused(name, message):
        bake(folder, steps=[*MEAN, {"step": "quantize", "precision": "int8", **wrong}])
    bake(folder, steps=MEAN)
    polybake("fit", "tiny.onnx", "corpus.txt", "--ranges")
    ranges = {"precision": "int8", "ranges": "fitted/ranges.npy"}
    bake(folder, steps=[*MEAN, {"step": "quantize", **ranges}])


def test_layers_of_a_file_that_gives_no_hidden_states(tmp_path: Path) -> None:
    """The model's folder is baked in place of its export."""
    np.save(tmp_path / "3.npy", np.ones(3, np.float32))
    layers = {"step": "weighted_layer_pooling", "weights": "3.npy", "layer_start": 0}
    with refused(
        "steps/weighted_layer_pooling.py: needs the hidden states", "use such a model folder"
    ):
        bake(write_encoder(tmp_path / "exported"), steps=[layers, *MEAN])
    bake(write_bert(tmp_path / "model"), steps=[layers, *MEAN])
