"""Write the models of the session `arm`: ``python -m support.arm_models FOLDER``.

They are small enough that an emulated processor comes to an end: each kind of `every_feed`, one of
each task, and a BERT in each precision. All precisions of the BERT have one contract, and so share
a client.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import ml_dtypes

import polybake
from models.files.every_feed import write_every_feed_model
from models.files.task_models import TASK_MODELS
from models.files.weights_beside import move_weights
from models.folders.drawn import DRAWN, STEPS
from models.folders.tiny_folders import bert_weights, write_bert

#: What sets a kind of `every_feed` apart from ``every-feed``, by the model's name.
KINDS: dict[str, dict[str, str]] = {
    "every-feed": {},
    "every-feed-left": {"pad_side": "left"},
    "every-feed-default": {"default_prompt": "document"},
    "every-feed-int8": {"precision": "int8"},
    "every-feed-bits": {"precision": "ubinary"},
}

#: The name of the BERT, and its files: a precision of the bake, or the type of its weights.
BERT = "small-bert"
PRECISIONS = ("float32", "bfloat16", "float16", "int8", "int4")


def write_small_bert(path: Path, precision: str) -> None:
    """Bake a BERT of size 128, whose products are worth another type than float32."""
    config = DRAWN["bert"]
    weights = bert_weights(config)
    if precision == "bfloat16":
        weights = {name: array.astype(ml_dtypes.bfloat16) for name, array in weights.items()}
        precision = "float32"
    with TemporaryDirectory() as folder:
        source = write_bert(Path(folder), config, weights)
        polybake.bake(source, path, name=BERT, steps=STEPS, precision=precision)


def main(folder: Path) -> None:
    """Write ``FOLDER/NAME.onnx`` for each model."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, changes in KINDS.items():
        write_every_feed_model(folder / f"{name}.onnx", name=name, **changes)
    move_weights(folder / "every-feed.onnx", folder / "every-feed-beside.onnx")
    for task, write in TASK_MODELS.items():
        write(folder / f"tiny-{task}.onnx")
    for precision in PRECISIONS:
        write_small_bert(folder / f"{BERT}-{precision}.onnx", precision)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
