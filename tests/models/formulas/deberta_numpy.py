"""What the forward passes of both DeBERTas in NumPy share."""

from __future__ import annotations

import numpy as np

from models.parts.tiny_encoders import Floats


def linear(x: Floats, w: dict[str, Floats], name: str) -> Floats:
    result: Floats = x @ w[f"{name}.weight"].T + w[f"{name}.bias"]
    return result


def norm(x: Floats, w: dict[str, Floats], name: str) -> Floats:
    centred = x - x.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-7)
    result: Floats = scaled * w[f"{name}.LayerNorm.weight"] + w[f"{name}.LayerNorm.bias"]
    return result
