"""Files that ``torch.save`` wrote are read as PyTorch wrote them."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

from models.folders.torch_saved import CLASSES, Parameter, Storage, Tensor, pickled, state_of
from polybake.baking.layers.torch_file import torch_tensors
from polybake.errors import InputError

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}


def numbers(tensor: Any) -> np.ndarray:
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    found: np.ndarray = tensor.numpy()
    return found


def check(state: Any, path: Path) -> None:
    """Save it, and read each of its tensors: the same dtype, shape and bytes."""
    torch.save(state, path)
    found = torch_tensors(path)
    assert [*found] == [*state]
    for name, tensor in state.items():
        array = found[name].array()
        expected = numbers(tensor)
        assert (array.dtype, array.shape) == (expected.dtype, expected.shape), name
        assert array.tobytes() == expected.tobytes(), name


def test_every_dtype(tmp_path: Path) -> None:
    """Each is called as safetensors calls it, and its numbers are the same."""
    drawn = torch.randn(5, 3, generator=torch.Generator().manual_seed(1)) * 9
    state = {name: drawn.to(dtype) for name, dtype in DTYPES.items()}
    check(state, tmp_path / "model.bin")
    found = torch_tensors(tmp_path / "model.bin")
    assert {name: one.view.storage.dtype for name, one in found.items()} == {n: n for n in DTYPES}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_views(dtype: Any, tmp_path: Path) -> None:
    """Views that share a storage, transposed, cut, stepped, of one number, and empty ones."""
    whole = torch.randn(6, 8, generator=torch.Generator().manual_seed(2)).to(dtype)
    check(
        {
            "whole": whole,
            "again": whole,
            "transposed": whole.T,
            "rows": whole[2:4],
            "columns": whole[:, 3:5],
            "steps": whole[::2, 1::3],
            "permuted": whole.view(2, 3, 8).permute(2, 0, 1),
            "line": whole.view(-1)[7:20],
            "one": whole[3, 4],
            "lead": whole[1].expand(1, 1, -1),
            "overlapping": whole.view(-1).as_strided((4, 3), (2, 1), 5),
            "nothing": whole[3:3],
            "empty": torch.empty(0, 4, dtype=dtype),
            "scalar": torch.tensor(3.5, dtype=dtype),
        },
        tmp_path / "model.bin",
    )


def test_a_state_dict_of_modules(tmp_path: Path) -> None:
    """Parameters, buffers, tied weights, and the versions that a module adds."""
    first = torch.nn.Linear(4, 4)
    model = torch.nn.ModuleDict(
        {
            "first": first,
            "tied": first,
            "norm": torch.nn.BatchNorm1d(4),
            "lstm": torch.nn.LSTM(4, 3, 2, bidirectional=True),
            "table": torch.nn.Embedding(7, 4),
            "attention": torch.nn.MultiheadAttention(4, 2),
        }
    )
    check(model.state_dict(), tmp_path / "model.bin")
    check(dict(model.named_parameters()), tmp_path / "parameters.bin")
    check(model.half().state_dict(), tmp_path / "half.bin")


@pytest.mark.parametrize("kind", ["name", "handle", "other name"])
def test_names_within_the_file(kind: str, tmp_path: Path) -> None:
    """PyTorch names its folder after the file."""
    path = tmp_path / ("weights of a model.bin" if kind == "other name" else "pytorch_model.bin")
    if kind == "handle":
        with path.open("wb") as file:
            torch.save({"a": torch.ones(3)}, file)
    else:
        torch.save({"a": torch.ones(3)}, path)
    assert torch_tensors(path)["a"].array().tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ({"a": torch.ones(1).expand(5)}, r"shape \[5\], strides \[0\] and offset 0"),
        ({"a": torch.ones(2).to(torch.float8_e4m3fn)}, "names 'torch._utils._rebuild_tensor_v3'"),
        ({"a": torch.ones(2, dtype=torch.complex64)}, "names 'torch.ComplexFloatStorage'"),
        ({"a": torch.view_as_complex(torch.ones(2, 2)).conj().imag}, "with other arguments"),
        ({"a": torch.ones(2).to_sparse()}, "names 'torch._utils._rebuild_sparse_tensor'"),
        ({"a": {"b": torch.ones(2)}}, "has 'a', of type dict, expected tensors alone"),
        ({"a": torch.ones(2), "step": 5}, "has 'step', 5, expected tensors alone"),
        (torch.ones(2), "is of type View, expected a dict of tensors"),
        (torch.nn.Linear(2, 2), "names 'torch.nn.modules.linear.Linear'"),
    ],
)
def test_refuses_what_is_no_weight(state: Any, shown: str, tmp_path: Path) -> None:
    """What is no plain tensor is refused by its name."""
    torch.save(state, tmp_path / "model.bin")
    with pytest.raises(InputError, match=shown):
        torch_tensors(tmp_path / "model.bin")


def test_refuses_the_old_format_and_other_protocols(tmp_path: Path) -> None:
    """Files of PyTorch before 1.6 are told from damaged ones."""
    path, state = tmp_path / "model.bin", {"a": torch.ones(2)}
    torch.save(state, path, _use_new_zipfile_serialization=False)
    with pytest.raises(InputError, match=r"before 1\.6 wrote it.* safetensors\.torch\.save_file"):
        torch_tensors(path)
    torch.save(state, path, pickle_protocol=4)
    with pytest.raises(InputError, match="its pickle has protocol 4, expected 2"):
        torch_tensors(path)


def test_our_writer_is_pytorchs(tmp_path: Path) -> None:
    """What other tests write without PyTorch is what PyTorch writes, byte for byte."""
    ours = {
        np.dtype(dtype): np.arange(6, dtype=np.float32).reshape(2, 3).astype(dtype)
        for dtype in CLASSES
    }
    arrays = {f"layers.{dtype}": array for dtype, array in ours.items()}
    state = state_of(arrays)
    module = torch.nn.Module()
    theirs = module.state_dict()
    theirs |= {
        name: torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        if array.dtype == ml_dtypes.bfloat16
        else torch.from_numpy(array)
        for name, array in arrays.items()
    }
    base = torch.arange(12.0)
    shared = Storage(base.numpy())
    state["a"] = Tensor(shared, 2, (3, 2), (1, 3))
    state["b"] = Parameter(Tensor(shared, 0, (12,), (1,)))
    theirs["a"] = base.as_strided((3, 2), (1, 3), 2)
    theirs["b"] = torch.nn.Parameter(base)
    torch.save(theirs, tmp_path / "archive.bin")
    data, storages = pickled(state)
    with zipfile.ZipFile(tmp_path / "archive.bin") as archive:
        assert archive.read("archive/data.pkl") == data
        for key, one in enumerate(storages):
            assert archive.read(f"archive/data/{key}") == one.tobytes()
