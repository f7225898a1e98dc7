"""Sizes of the exporter's example that are constants in the graph, though declared dynamic."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest

import polybake
from models.onnx.tiny_onnx import BODY, HIDDEN, INPUTS, POOLED, TOKENS, encoder, write_encoder
from polybake.errors import InputError, RunFailed


def traced(shape: Sequence[int], outputs: str) -> onnx.ModelProto:
    """An encoder that reshapes its embeddings to numbers, as code with ``int(x.shape[0])`` does."""
    embedded = "flat = Tanh (rows)\nlast_hidden_state = Reshape (flat, shape)"
    model = encoder(body=BODY.replace("last_hidden_state = Tanh (rows)", embedded), outputs=outputs)
    sizes = np.array([*shape, HIDDEN], np.int64)
    model.graph.initializer.append(onnx.numpy_helper.from_array(sizes, "shape"))
    return model


STEPS = {
    "mean": (TOKENS, [{"step": "pool", "mode": "mean"}]),
    "cls": (TOKENS, [{"step": "pool", "mode": "cls"}]),
    "pooled": (POOLED, [{"step": "normalize"}]),
}


@pytest.mark.parametrize("way", STEPS)
@pytest.mark.parametrize(
    ("shape", "shown"),
    [
        ((1, -1), "one text but not two: a batch size of 1"),
        ((2, -1), "2 texts but not one: a batch size of 2"),
        ((-1, 3), "3 tokens but not 4: a sequence length of 3"),
        ((-1, 5), "5 tokens but not 3: a sequence length of 5"),
    ],
)
def test_the_constant_is_named(
    shape: tuple[int, int], shown: str, way: str, tmp_path: Path
) -> None:
    """Found by what runs and what does not; the tokenizer is not blamed."""
    outputs, steps = STEPS[way]
    path = write_encoder(tmp_path / "m", traced(shape, outputs))
    with pytest.raises(InputError, match=f"the graph runs on {shown} is a .*; export"):
        polybake.bake(path, tmp_path / "out.onnx", name="m", steps=steps)
    assert not (tmp_path / "out.onnx").exists()


def test_another_fault_is_said_as_it_is(tmp_path: Path) -> None:
    """Fewer positions than the tokenizer leaves of a text: short ones run, of any number."""
    embedded = "places = Gather (positions, position_ids)\nlast_hidden_state = Add (rows, places)"
    model = encoder(
        body=BODY.replace("last_hidden_state = Tanh (rows)", embedded),
        inputs=f"{INPUTS}, int64[batch_size, length] position_ids",
    )
    positions = np.zeros((10, HIDDEN), np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(positions, "positions"))
    path = write_encoder(tmp_path / "m", model)
    with pytest.raises(RunFailed, match="give it the tokenizer that it was trained with"):
        polybake.bake(path, tmp_path / "out.onnx", name="m", steps=STEPS["mean"][1])
