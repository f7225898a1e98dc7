"""Sessions whose provider is the one asked for, and what is fed to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

from models.tiny_onnx import encoder, write_encoder
from polybake.errors import InputError, RequirementMissing
from polybake.modelfile.manifest import Contract, Input, Output
from polybake.runtime.session import feeds, open_session, run_ids

CONTRACT = Contract(
    vocab_size=1000,
    inputs=(
        Input(name="ids", feed="input_ids"),
        Input(name="mask", feed="attention_mask"),
        Input(name="types", feed="token_type_ids"),
        Input(name="places", feed="position_ids"),
        Input(name="prompt", feed="prompt_value", values={"": 0, "query": 4}),
    ),
    output=Output(name="sentence_embedding", dimension=3),
    max_length=8,
    pad_id=9,
)
ROWS = [[5, 6, 7], [8]]


def test_opens_on_the_cpu(tmp_path: Path) -> None:
    """A path and bytes open on the CPU with the threads asked for."""
    path = write_encoder(tmp_path)
    for model in (path, path.read_bytes()):
        session = open_session(model, threads=1)
        assert session.get_providers() == ["CPUExecutionProvider"]
        assert session.get_session_options().intra_op_num_threads == 1


def test_unknown_device(tmp_path: Path) -> None:
    """A device that does not exist is an error with the choices."""
    with pytest.raises(InputError, match="unknown device 'tpu'; choose one of: cpu, cuda"):
        open_session(write_encoder(tmp_path), "tpu")


@pytest.mark.skipif(
    "CUDAExecutionProvider" in ort.get_available_providers(), reason="this runtime has CUDA"
)
def test_no_fall_back_from_cuda(tmp_path: Path) -> None:
    """CUDA that is not there is an error naming the package, never a run on the CPU."""
    with pytest.raises(RequirementMissing, match=r"CUDAExecutionProvider is not .*onnxruntime-gpu"):
        open_session(write_encoder(tmp_path), "cuda")


def test_names_a_model_that_does_not_load(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A file that ONNX Runtime refuses is one line with its reason, and nothing on the console."""
    path = tmp_path / "broken.onnx"
    path.write_bytes(encoder().SerializeToString()[:-30])
    with pytest.raises(InputError, match=r"broken\.onnx: ONNX Runtime .* does not load") as raised:
        open_session(path)
    assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match=r"^models/own: ONNX Runtime .* does not load"):
        open_session(path, name="models/own")
    assert capfd.readouterr() == ("", "")


def test_feeds_every_input() -> None:
    """Each feed follows the contract, with padding on the right."""
    fed = feeds(CONTRACT, ROWS, prompt="query")
    assert {name: array.tolist() for name, array in fed.items()} == {
        "ids": [[5, 6, 7], [8, 9, 9]],
        "mask": [[1, 1, 1], [1, 0, 0]],
        "types": [[0, 0, 0], [0, 0, 0]],
        "places": [[0, 1, 2], [0, 0, 0]],
        "prompt": [4],
    }
    assert {array.dtype for array in fed.values()} == {np.dtype(np.int64)}
    assert feeds(CONTRACT, ROWS)["prompt"].tolist() == [0]


def test_feeds_padding_on_the_left() -> None:
    """On the left the tokens end the row, and positions start at the first token."""
    fed = feeds(CONTRACT.model_copy(update={"pad_side": "left"}), ROWS)
    assert fed["ids"].tolist() == [[5, 6, 7], [9, 9, 8]]
    assert fed["mask"].tolist() == [[1, 1, 1], [0, 0, 1]]
    assert fed["places"].tolist() == [[0, 1, 2], [0, 0, 0]]


def test_pads_further_on_request() -> None:
    """A length beyond the longest row is padding; one below it changes nothing."""
    assert feeds(CONTRACT, ROWS, length=5)["mask"].tolist() == [[1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]
    assert feeds(CONTRACT, ROWS, length=2)["ids"].shape == (2, 3)


def test_runs_rows_as_one_batch(tmp_path: Path) -> None:
    """Rows go through together and the contract's output comes back."""
    contract = CONTRACT.model_copy(
        update={
            "inputs": (
                Input(name="input_ids", feed="input_ids"),
                Input(name="attention_mask", feed="attention_mask"),
            ),
            "output": Output(name="last_hidden_state", dimension=6),
        }
    )
    found = run_ids(open_session(write_encoder(tmp_path)), contract, ROWS)
    assert found.shape == (2, 3, 6)
    assert found.dtype == np.float32
