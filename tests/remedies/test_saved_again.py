"""A remedy that is done with PyTorch: weights of its old format are loaded, and saved anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from models.folders.tiny_folders import write_bert
from remedies.followed import MEAN, bake, refused

pytestmark = pytest.mark.oracle


def test_weights_of_an_old_pytorch(tmp_path: Path) -> None:
    """As the message says."""
    import torch
    from safetensors.torch import save_file

    folder = write_bert(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    state = {name: torch.from_numpy(np.array(one)) for name, one in weights.items()}
    torch.save(state, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    (folder / "model.safetensors").unlink()
    message = r"torch.load\(…, weights_only=True\), and w"
    with refused("torch_file.py: a PyTorch before 1.6", message):
        bake(folder, steps=MEAN, pickle="tensors")
    loaded = torch.load(folder / "pytorch_model.bin", weights_only=True)
    save_file(loaded, folder / "model.safetensors")
    bake(folder, steps=MEAN)
