"""OpenVINO. Usage: run.py THREADS EXPORT_FOLDER (f32 | bf16 | int8) BATCH_SIZE."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import openvino
from answer import answer
from inputs import inputs, read_tokenizer

threads, folder, precision, size = (
    int(sys.argv[1]),
    Path(sys.argv[2]),
    sys.argv[3],
    int(sys.argv[4]),
)
tokenizer, core = read_tokenizer(folder), openvino.Core()
with tempfile.TemporaryDirectory() as place:
    file = folder / "onnx" / "model.onnx"
    if precision == "int8":  # in a process of its own, as its memory is not the runner's
        source, file = file, Path(place) / "int8.xml"
        subprocess.run([sys.executable, "quantize.py", folder, source, file], check=True)
    # With THROUGHPUT two batches ran side by side, and a text alone had one thread.
    options = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "bf16" if precision == "bf16" else "f32",
    }
    model = core.compile_model(core.read_model(file), "CPU", options)


def embed(texts):
    """Batches of texts sorted by length, each the mean of its tokens, of length 1."""
    order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    found = np.empty((len(texts), 384), "f4")
    for begin in range(0, len(order), size):
        places = order[begin : begin + size]
        given = inputs(tokenizer, [texts[place] for place in places])
        mask = given["attention_mask"][..., None].astype("f4")
        mean = (model(given)[0] * mask).sum(1) / mask.sum(1)
        found[places] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return found


answer(embed, ["openvino", "nncf", "tokenizers", "numpy"])
