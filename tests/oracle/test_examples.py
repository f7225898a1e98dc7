"""Every network of examples/ against PyTorch, with the weights that PyTorch saves."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LENGTHS = torch.tensor([5, 2, 1, 4, 3])
MASK = (torch.arange(5) < LENGTHS[:, None]).long()


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 16), nn.Linear(16, 8), nn.Linear(8, 3)])

    def forward(self, x: Any) -> Any:
        first, second, third = self.layers
        return third(second(first(x).relu()).relu())


class Cnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.head = nn.Linear(16, 10)

    def forward(self, x: Any) -> Any:
        for conv in (self.conv1, self.conv2):
            x = nn.functional.max_pool2d(conv(x).relu(), 2)
        return self.head(x.mean((2, 3)))


class Block(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        if stride > 1:
            self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: Any) -> Any:
        y = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        return (y + (self.shortcut(x) if hasattr(self, "shortcut") else x)).relu()


class ResidualCnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.blocks = nn.Sequential(Block(8, 8, 1), Block(8, 12, 2))
        self.head = nn.Linear(12, 10)

    def forward(self, x: Any) -> Any:
        return self.head(self.blocks(self.stem(x).relu()).mean((2, 3)))


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(10, 4)

    def forward(self, x: Any, lengths: Any) -> Any:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=5)
        return self.head(states)


class Transformer(nn.Module):
    """PyTorch's own layer, which keeps query, key and value in one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(
            12, 3, 20, dropout=0, activation="gelu", batch_first=True, norm_first=True
        )

    def forward(self, x: Any, mask: Any) -> Any:
        return self.layer(x, src_key_padding_mask=mask == 0)

    def state_dict(self, *_: Any, **__: Any) -> dict[str, Any]:
        state = {
            name.replace("self_attn.out_proj", "attention.output"): tensor
            for name, tensor in self.layer.state_dict().items()
        }
        for kind in ("weight", "bias"):
            packed = state.pop(f"self_attn.in_proj_{kind}")
            for name, part in zip(("query", "key", "value"), packed.chunk(3), strict=True):
                state[f"attention.{name}.{kind}"] = part.contiguous()
        return state


torch.manual_seed(7)
NETWORKS: dict[str, tuple[type[nn.Module], dict[str, Any]]] = {
    "mlp": (Mlp, {"x": torch.randn(5, 6)}),
    "cnn": (Cnn, {"image": torch.randn(5, 3, 9, 14)}),
    "residual_cnn": (ResidualCnn, {"image": torch.randn(5, 3, 9, 14)}),
    "lstm": (Tagger, {"x": torch.randn(5, 5, 6), "lengths": LENGTHS}),
    "transformer": (Transformer, {"x": torch.randn(5, 5, 12), "mask": MASK}),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_agrees_with_pytorch(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs are within 1e-5, for one row and for several."""
    network, fed = NETWORKS[name][0](), NETWORKS[name][1]
    torch.manual_seed(3)
    with torch.no_grad():
        for key, tensor in network.named_parameters():
            nn.init.normal_(tensor, float("bn" in key and "weight" in key), 0.2)
        for key, tensor in network.named_buffers():
            if key.endswith("running_var"):
                tensor.uniform_(0.5, 2)
            elif key.endswith("running_mean"):
                tensor.normal_(0, 0.2)
    weights, out = tmp_path / "weights.safetensors", tmp_path / "network.onnx"
    save_file(network.state_dict(), weights)
    script = str(EXAMPLES / f"{name}.py")
    monkeypatch.setattr(sys, "argv", [script, str(out), "--weights", str(weights)])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_path(script, run_name="__main__")
    session = ort.InferenceSession(out, providers=["CPUExecutionProvider"])
    for batch in (1, 2, 5):
        given = {key: value[:batch] for key, value in fed.items()}
        with torch.no_grad():
            expected = network.eval()(*given.values()).numpy()
        (found,) = session.run(["y"], {key: value.numpy() for key, value in given.items()})
        difference = float(np.abs(found - expected).max())
        print(f"\n{name}, batch {batch}: largest difference {difference:.2e}")  # noqa: T201
        assert found.shape == expected.shape
        assert difference <= 1e-5
