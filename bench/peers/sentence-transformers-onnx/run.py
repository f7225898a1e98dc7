"""sentence-transformers' ONNX backend. Usage: run.py THREADS EXPORT_FOLDER FILE."""

import sys

import onnxruntime
import torch
from answer import answer
from sentence_transformers import SentenceTransformer

threads, folder, file = int(sys.argv[1]), sys.argv[2], sys.argv[3]
torch.set_num_threads(threads)  # pooling stays PyTorch's
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = threads
model = SentenceTransformer(
    folder,
    device="cpu",
    backend="onnx",
    model_kwargs={
        "file_name": file,
        "provider": "CPUExecutionProvider",
        "session_options": options,
    },
)
assert model.max_seq_length == 256, model.max_seq_length
answer(
    lambda texts: model.encode(texts, show_progress_bar=False),
    ["sentence-transformers", "optimum-onnx", "transformers", "onnxruntime"],
)
