"""CLIP's text tower against an independent forward pass in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from models.folders.tiny_folders import VOCABULARY, write_bert
from models.formulas.rotary_numpy import (
    IDS,
    MASK,
    Floats,
    Weights,
    heads_of,
    layer_norm,
    linear,
    mixed,
    near,
    weights_of,
)
from models.parts.tiny_encoders import token_embeddings
from polybake.baking.sources import open_source
from polybake.errors import InputError

HIDDEN, WIDE, LAYERS, HEADS, ROWS, SIZE = 24, 28, 3, 4, 12, 10
#: Token 3 ends the texts of `IDS`; padding is 0.
END = 3
TEXT: dict[str, Any] = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": HIDDEN,
    "intermediate_size": WIDE,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "max_position_embeddings": ROWS,
    "eos_token_id": END,
}
CLIP: dict[str, Any] = {
    "model_type": "clip",
    "architectures": ["CLIPModel"],
    "text_config": TEXT,
    "vision_config": {"hidden_size": 16, "patch_size": 4},
    "projection_dim": SIZE,
    "logit_scale_init_value": 2.6592,
}


def weights(projected: bool = True) -> dict[str, Floats]:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.token_embedding.weight": (len(VOCABULARY), HIDDEN),
        "embeddings.position_embedding.weight": (ROWS, HIDDEN),
    }
    names = ["final_layer_norm"]
    for number in range(LAYERS):
        layer = f"encoder.layers.{number}"
        for part in "qkv":
            shapes[f"{layer}.self_attn.{part}_proj.weight"] = (HIDDEN, HIDDEN)
            shapes[f"{layer}.self_attn.{part}_proj.bias"] = (HIDDEN,)
        for part, size in (("self_attn.out_proj", HIDDEN), ("mlp.fc2", WIDE)):
            shapes[f"{layer}.{part}.weight"] = (HIDDEN, size)
            shapes[f"{layer}.{part}.bias"] = (HIDDEN,)
        shapes[f"{layer}.mlp.fc1.weight"] = (WIDE, HIDDEN)
        shapes[f"{layer}.mlp.fc1.bias"] = (WIDE,)
        names += [f"{layer}.layer_norm1", f"{layer}.layer_norm2"]
    for name in names:
        shapes |= {f"{name}.weight": (HIDDEN,), f"{name}.bias": (HIDDEN,)}
    made = {f"text_model.{name}": array for name, array in weights_of(shapes).items()}
    pictures = weights_of({"vision_model.post_layernorm.bias": (16,), "logit_scale": (1,)})
    projection = weights_of({"text_projection.weight": (SIZE, HIDDEN)}) if projected else {}
    return made | projection | (pictures if projected else {})


def text_features(w: Weights, ids: NDArray[np.int64], place: int) -> Floats:
    """The embedding of a text whose end stands at this place."""
    named = {name.removeprefix("text_model."): array.astype(float) for name, array in w.items()}
    x = named["embeddings.token_embedding.weight"][ids]
    x = x + named["embeddings.position_embedding.weight"][: len(ids)]
    for number in range(LAYERS):
        layer = f"encoder.layers.{number}"
        normed = layer_norm(x, named, f"{layer}.layer_norm1", 1e-5)
        parts = (linear(normed, named, f"{layer}.self_attn.{part}_proj") for part in "qkv")
        query, key, value = (heads_of(part, HIDDEN // HEADS) for part in parts)
        attended = mixed(query, key, value, near(len(ids), after=0))
        x = x + linear(attended, named, f"{layer}.self_attn.out_proj")
        wide = linear(layer_norm(x, named, f"{layer}.layer_norm2", 1e-5), named, f"{layer}.mlp.fc1")
        x = x + linear(wide / (1 + np.exp(-1.702 * wide)), named, f"{layer}.mlp.fc2")
    end = layer_norm(x, named, "final_layer_norm", 1e-5)[place]
    return linear(end, named, "text_projection") if "text_projection.weight" in named else end


def assert_gives(
    config: dict[str, Any], w: Weights, scratch: Path, places: list[int], ids: Any = IDS[:2]
) -> None:
    folder = write_bert(scratch / "model", config, dict(w))
    found = token_embeddings(folder, scratch, input_ids=np.array(ids), attention_mask=MASK[:2])
    kept = [np.array(row)[mask == 1] for row, mask in zip(ids, MASK[:2], strict=True)]
    expected = [text_features(w, row, place) for row, place in zip(kept, places, strict=True)]
    np.testing.assert_allclose(found, expected, atol=2e-6 * np.abs(expected).max())


def test_the_token_that_ends_a_text(tmp_path: Path) -> None:
    """Each row, padded on the right, gives the embedding of its first such token."""
    assert_gives(CLIP, weights(), tmp_path, [7, 3])


def test_a_text_that_spells_its_end(tmp_path: Path) -> None:
    """The first such token counts; padding of the same id does not."""
    ids = [[2, 6, END, 17, 8, 30, 5, END], [2, 30, 8, END, END, END, END, END]]
    assert_gives(CLIP, weights(), tmp_path, [2, 3], ids)


def test_old_configurations(tmp_path: Path) -> None:
    """With the wrong id 2 the first token of the largest id is the end; padding's never is."""
    old = CLIP | {"text_config": TEXT | {"eos_token_id": 2}}
    ids = [[2, 6, 30, 17, 8, 30, 5, 3], [2, 8, 30, 3, 40, 40, 40, 40]]
    assert_gives(old, weights(), tmp_path, [2, 2], ids)


def test_the_text_tower_alone(tmp_path: Path) -> None:
    """Its class says whether the projection belongs to it."""
    alone = TEXT | {"model_type": "clip_text_model", "projection_dim": SIZE}
    named = {"architectures": ["CLIPTextModelWithProjection"]}
    assert_gives(alone | named, weights(), tmp_path / "projected", [7, 3])
    plain = alone | {"architectures": ["CLIPTextModel"]}
    assert_gives(plain, weights(projected=False), tmp_path / "plain", [7, 3])


def test_the_older_name_of_its_settings_wins(tmp_path: Path) -> None:
    """With the defaults of the class for what it does not say."""
    wrong = TEXT | {"num_attention_heads": 2, "eos_token_id": 2, "hidden_act": "gelu"}
    older = CLIP | {"text_config": wrong, "text_config_dict": TEXT}
    assert_gives(older, weights(), tmp_path, [7, 3])


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"is_causal": False}, "is_causal: "),
        ({"hidden_act": "mish"}, "hidden_act: .*'mish'"),
        ({"num_attention_heads": 5}, "hidden_size 24 is no multiple of num_attention_heads 5"),
        ({"rope_theta": 5.0}, "unknown key rope_theta = 5.0"),
        ({"eos_token_id": [2, 3]}, "eos_token_id: "),
    ],
)
def test_refuses_what_it_does_not_compute(
    changes: dict[str, object], shown: str, tmp_path: Path
) -> None:
    """A key of the text tower is named, as one of any encoder is."""
    config = CLIP | {"text_config": TEXT | changes}
    folder = write_bert(tmp_path / "model", config, weights())
    with pytest.raises(InputError, match=shown):
        open_source(folder)


def test_refuses_settings_that_are_none(tmp_path: Path) -> None:
    """``text_config`` is an object."""
    folder = write_bert(tmp_path / "model", CLIP | {"text_config": 3}, weights())
    with pytest.raises(InputError, match="text_config"):
        open_source(folder)
