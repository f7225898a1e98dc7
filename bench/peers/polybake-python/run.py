"""polybake's Python client. Usage: run.py THREADS MODEL_FILE [side-by-side]."""

import sys

from all_minilm_l6_v2 import Embedder
from answer import answer

threads = int(sys.argv[1])
shared = {"threads": 1, "concurrency": threads} if sys.argv[3:] else {"threads": threads}
embedder = Embedder(sys.argv[2], **shared)
answer(embedder.embed, ["onnxruntime", "tokenizers", "numpy"])
