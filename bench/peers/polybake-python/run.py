"""polybake's Python client. Usage: run.py THREADS MODEL_FILE."""

import sys

from all_minilm_l6_v2 import Embedder
from answer import answer

embedder = Embedder(sys.argv[2], threads=int(sys.argv[1]))
answer(embedder.embed, ["onnxruntime", "tokenizers", "numpy"])
