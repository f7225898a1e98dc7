"""llama.cpp's embeddings. Usage: run.py THREADS MODEL_FOLDER (F32 | Q8_0)."""

import subprocess
import sys
import tempfile
from pathlib import Path

import llama_cpp
from answer import answer

threads, folder, kind = int(sys.argv[1]), sys.argv[2], sys.argv[3]
# Its products by AMX ended the process where this was written, so they are left out.
defaults = llama_cpp.llama_model_default_params()
defaults.use_extra_bufts = False
llama_cpp.llama_cpp.llama_model_default_params = lambda: defaults
with tempfile.TemporaryDirectory() as place:
    file = str(Path(place) / "model.gguf")
    subprocess.run([sys.executable, "convert.py", folder, file, kind], check=True)
    # Texts share a run, and each token is compared with those of all: 256 is least and fastest.
    model = llama_cpp.Llama(
        file,
        embedding=True,
        n_ctx=256,
        n_batch=256,
        n_ubatch=256,
        n_threads=threads,
        n_threads_batch=threads,
        verbose=False,
    )
answer(lambda texts: model.embed(texts, normalize=True), ["llama-cpp-python"])
