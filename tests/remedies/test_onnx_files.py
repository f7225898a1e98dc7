"""What .onnx files are refused for; what exports them again is `encoder` with other arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from safetensors.numpy import save_file

from models.folders.drawn import write_drawn
from models.folders.tiny_folders import (
    CONFIG,
    VOCABULARY,
    change_json,
    write_bert,
    write_json,
    write_router,
    write_sentence_transformers,
)
from models.onnx.quantized_onnx import quantize_dynamic
from models.onnx.tiny_onnx import BODY, INPUTS, POOLED, TOKENS, encoder, write_encoder
from remedies.followed import MEAN, bake, refused

pytestmark = pytest.mark.slow

#: An encoder that reads no mask.
TANH = "rows = Gather (table, input_ids)  last_hidden_state = Tanh (rows)"
#: Two numbers of a head.
HEAD = """
    first = Constant <value_ints = [0]> ()  end = Constant <value_ints = [2]> ()
    axis = Constant <value_ints = [1]> ()  logits = Slice (pooler_output, first, end, axis)
"""
#: A weight for each word of the vocabulary.
SPLADE = """
    columns = Transpose <perm = [1, 0]> (table)  numbers = MatMul (weighted, columns)
    kept_numbers = Relu (numbers)
    sentence_embedding = ReduceMax <axes = [1], keepdims = 0> (kept_numbers)
"""
POOLING = ("Pooling", {"pooling_mode": "mean"})


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        (
            "signature.py: unknown input",
            {"inputs": f"{INPUTS}, float[batch_size, length] scale"},
            "unknown input 'scale'; known are: input_ids, .*; export it with these alone",
        ),
        (
            "signature.py: expected int64",
            {"inputs": INPUTS.replace("int64[batch_size, length] att", "float[batch_size] att")},
            r"'attention_mask' is FLOAT .*, expected int64 \[batch, sequence\]; export it again",
        ),
        (
            "signature.py: export it with dynamic axes",
            {
                "inputs": INPUTS.replace("batch_size", "7"),
                "outputs": "float[7, length, 6] x",
                "x": 1,
            },
            r"'input_ids' has the fixed shape \[7,.*; export it with dynamic axes",
        ),
        (
            "signature.py: export it with input_ids and attention_mask",
            {"inputs": INPUTS.split(", int64")[0], "body": TANH},
            "has no input attention_mask, only input_ids; export it with input_ids and attention",
        ),
        (
            "signature.py: no output is surely the embeddings",
            {"outputs": TOKENS.replace("last_hidden_state", "rows") + f", {TOKENS[:-17]}x", "x": 1},
            "surely the embeddings: rows FLOAT .*; export it with float32 last_hidden_state",
        ),
        (
            "validate.py: is not a valid ONNX graph",
            {"body": BODY.replace("Tanh (rows)", "Tanh (nothing)")},
            "is not a valid ONNX graph .*; download or export it again",
        ),
    ],
)
def test_it_is_exported_again(
    tmp_path: Path, name: str, wrong: dict[str, Any], message: str
) -> None:
    """As the remedy says."""
    given = {"body": BODY} | wrong
    if given.pop("x", None):
        given["body"] += " x = Identity (last_hidden_state)"
    file = write_encoder(tmp_path / "model", encoder(**given))
    with refused(name, message):
        bake(file, steps=MEAN)
    write_encoder(tmp_path / "model")
    bake(file, steps=MEAN)


def test_positions_behind_padding(tmp_path: Path) -> None:
    """The export counts them itself."""
    folder = tmp_path / "model"
    file = write_encoder(
        folder, encoder(inputs=f"{INPUTS}, int64[batch_size, length] position_ids")
    )
    write_json(folder / "config.json", {"model_type": "roberta", "pad_token_id": 0})
    with refused("onnx/file.py: position_ids", "as roberta counts them, .*; export it without"):
        bake(file, steps=MEAN)
    write_encoder(folder)
    bake(file, steps=MEAN)


def test_operators_at_two_opsets(tmp_path: Path) -> None:
    """One is left."""
    file = write_encoder(tmp_path / "model")
    model = onnx.load(file)
    model.opset_import.add(domain="ai.onnx", version=13)
    onnx.save(model, file)
    with refused("operators.py: export it with one", "at the opsets 12 and 13; export it with one"):
        bake(file, steps=MEAN)
    write_encoder(tmp_path / "model")
    bake(file, steps=MEAN)


def test_weights_that_lie_beside_it(tmp_path: Path) -> None:
    """They are put there, too."""
    options = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
    file = write_encoder(tmp_path / "model", **options)
    weights = (file.parent / "weights.bin").rename(tmp_path / "weights.bin")
    with refused("external_data.py: download it too", "lies in 'weights.bin', which is not beside"):
        bake(file, steps=MEAN)
    weights.rename(file.parent / "weights.bin")
    bake(file, steps=MEAN)


def test_what_is_quantized_dynamically(tmp_path: Path) -> None:
    """It is rebuilt, or the float32 file is given."""
    folder = write_bert(tmp_path / "model")
    exact, normalize = folder / "exact.onnx", [{"step": "normalize"}]
    bake(folder, steps=MEAN, output="model/exact.onnx")
    file = quantize_dynamic(exact, folder / "quantized.onnx")
    with refused(
        "onnx/dynamic.py: was quantized dynamically in", "give the float32 .* dequantize = t"
    ):
        bake(file, steps=normalize)
    bake(file, steps=normalize, dequantize=True)
    bake(exact, steps=normalize)


def test_what_is_baked_already(tmp_path: Path) -> None:
    """Its source is baked."""
    folder = write_bert(tmp_path / "model")
    tanh = {"step": "quantize", "precision": "int8", "function": "tanh"}
    bake(folder, steps=[*MEAN, tanh], output="model/tiny.onnx")
    with refused("signature.py: bake its source", "already; bake its source, with other steps"):
        bake(folder / "tiny.onnx", steps=MEAN, output="other.onnx")
    bake(folder, steps=[*MEAN, {"step": "normalize"}], output="other.onnx")


def test_steps_that_an_output_went_through(tmp_path: Path) -> None:
    """Tokens are exported, or the file lies in a folder of its own."""
    folder = write_sentence_transformers(tmp_path / "model", POOLING, ("Normalize", {}))
    pooled = encoder(outputs=POOLED)
    file = write_encoder(folder, pooled)
    with refused(
        "remaining_steps.py: which of the folder's steps", r"\(pool, .*; export last.*, or"
    ):
        bake(file)
    own = write_encoder(tmp_path / "own", pooled)
    bake(own, steps=[{"step": "normalize"}])
    write_encoder(folder)
    bake(file)


def test_an_export_of_one_route(tmp_path: Path) -> None:
    """Tokens are exported."""
    folder = write_sentence_transformers(tmp_path / "model", POOLING, ("Router", {}))
    (folder / "2_Router" / "config.json").unlink()
    kind = "sentence_transformers.base.modules.normalize.Normalize"
    routes = {"query": ["one"], "document": []}
    write_router(folder / "2_Router", routes, {"one": kind}, default_route="document")
    renamed = BODY.replace("pooler_output", "sentence_embedding")
    pooled = encoder(outputs=POOLED.replace("pooler_output", "sentence_embedding"), body=renamed)
    file = write_encoder(folder, pooled)
    with refused("remaining_steps.py: one route of the folder's", "; export last_hidden_state"):
        bake(file)
    write_encoder(folder)
    bake(file)


def test_a_head_of_another_family(tmp_path: Path) -> None:
    """The whole model is exported."""
    folder = write_drawn(tmp_path / "model", "t5")
    head = {"architectures": ["T5ForSequenceClassification"], "id2label": {"0": "no", "1": "yes"}}
    change_json(folder / "config.json", **head)
    with refused("families.py: {remedy}", "'t5' is not known; known are: .*; export the whole"):
        bake(folder)
    outputs = "float[batch_size, 2] logits"
    bake(write_encoder(folder, encoder(outputs=outputs, body=BODY + HEAD)))


def test_a_masked_language_model_of_another_family(tmp_path: Path) -> None:
    """It is exported with its pooling."""
    folder = write_drawn(tmp_path / "model", "t5")
    change_json(folder / "config.json", architectures=["T5ForMaskedLM"])
    with refused(
        "families.py: {remedy}", 'with its pooling, .* task = "sparse" in .* steps = .. bef'
    ):
        bake(folder, task="sparse")
    outputs = f"float[batch_size, {len(VOCABULARY)}] sentence_embedding"
    file = write_encoder(folder, encoder(outputs=outputs, body=BODY + SPLADE))
    bake(file, task="sparse", steps=[])


def test_numbers_that_no_file_explains(tmp_path: Path) -> None:
    """The task is said, or the architecture."""
    outputs = "float[batch_size, 2] logits"
    file = write_encoder(tmp_path / "model", encoder(outputs=outputs, body=BODY + HEAD))
    with refused("tasks/__init__.py: {head.unsaid}", '; name it .* task = .*"classify"'):
        bake(file)
    bake(file, task="classify", labels=["no", "yes"])
    head = {"architectures": ["OwnForSequenceClassification"], "id2label": {"0": "no", "1": "yes"}}
    write_json(file.parent / "config.json", head)
    bake(file)


def test_a_cross_encoder_of_more_modules(tmp_path: Path) -> None:
    """All of it is exported."""
    folder = write_sentence_transformers(tmp_path / "model", POOLING)
    write_json(folder / "config_sentence_transformers.json", {"model_type": "CrossEncoder"})
    with refused("cross_encoder.py: is not baked", 'of Transformer, Pooling .*; export .*"rerank"'):
        bake(folder)
    outputs = "float[batch_size, 2] logits"
    whole = write_encoder(tmp_path / "own", encoder(outputs=outputs, body=BODY + HEAD))
    bake(whole, task="rerank", steps=[{"step": "head"}, {"step": "select", "places": [1]}])


def test_a_cross_encoder_of_several_numbers(tmp_path: Path) -> None:
    """All of it is exported, and the numbers are named."""
    size = CONFIG["hidden_size"]
    dense = {"in_features": size, "out_features": 2, "module_output_name": "scores"}
    folder = write_sentence_transformers(tmp_path / "model", POOLING, ("Dense", dense))
    write_json(folder / "config_sentence_transformers.json", {"model_type": "CrossEncoder"})
    arrays = {"linear.weight": np.ones((2, size)), "linear.bias": np.ones(2)}
    file = folder / "2_Dense" / "model.safetensors"
    save_file({name: one.astype(np.float32) for name, one in arrays.items()}, file)
    with refused("cross_encoder.py: numbers of a pair", 'gives 2 .* "classify-pairs" and labels'):
        bake(folder)
    outputs = "float[batch_size, 2] logits"
    whole = write_encoder(tmp_path / "own", encoder(outputs=outputs, body=BODY + HEAD))
    bake(whole, task="classify-pairs", labels=["no", "yes"])
