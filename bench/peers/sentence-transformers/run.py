"""sentence-transformers on PyTorch. Usage: run.py THREADS MODEL_FOLDER."""

import sys

import torch
from answer import answer
from sentence_transformers import SentenceTransformer

threads, folder = int(sys.argv[1]), sys.argv[2]
torch.set_num_threads(threads)
model = SentenceTransformer(folder, device="cpu")
assert model.max_seq_length == 256, model.max_seq_length
answer(
    lambda texts: model.encode(texts, show_progress_bar=False),
    ["sentence-transformers", "torch", "transformers"],
)
