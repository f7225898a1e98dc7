"""fastembed. Usage: run.py THREADS EXPORT_FOLDER (own | custom BATCH_SIZE)."""

import sys

from answer import answer
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

threads, folder, entry, *batch = sys.argv[1:]
name = "sentence-transformers/all-MiniLM-L6-v2"
if entry == "custom":
    name = "all-MiniLM-L6-v2"
    TextEmbedding.add_custom_model(
        name,
        PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf=name),
        dim=384,
        model_file="onnx/model.onnx",
    )
model = TextEmbedding(name, threads=int(threads), specific_model_path=folder)
size = {"batch_size": int(batch[0])} if batch else {}
answer(lambda texts: list(model.embed(texts, **size)), ["fastembed", "onnxruntime", "tokenizers"])
