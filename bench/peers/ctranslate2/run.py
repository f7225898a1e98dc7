"""CTranslate2. Usage: run.py THREADS EXPORT_FOLDER COMPUTE_TYPE BATCH_SIZE."""

import sys
from pathlib import Path

import ctranslate2
import numpy as np
from answer import answer
from tokenizers import Tokenizer

threads, folder, compute_type, size = (
    int(sys.argv[1]),
    Path(sys.argv[2]),
    sys.argv[3],
    int(sys.argv[4]),
)
tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.enable_truncation(256)
tokenizer.no_padding()  # it pads, and leaves padding out of its products
model = ctranslate2.Encoder(
    str(folder / "ctranslate2"), compute_type=compute_type, intra_threads=threads
)


def embed(texts):
    """Batches of texts sorted by length, each the mean of its tokens, of length 1."""
    order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    found = np.empty((len(texts), 384), "f4")
    for begin in range(0, len(order), size):
        places = order[begin : begin + size]
        rows = tokenizer.encode_batch([texts[place] for place in places])
        tokens = np.asarray(model.forward_batch([row.ids for row in rows]).last_hidden_state)
        lengths = np.array([[len(row.ids)] for row in rows])
        mask = (np.arange(tokens.shape[1]) < lengths)[..., None]
        mean = (tokens * mask).sum(1) / lengths
        found[places] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return found


answer(embed, ["ctranslate2", "tokenizers", "numpy"])
