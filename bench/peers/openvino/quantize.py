"""Quantize by NNCF, as sentence-transformers' export_static_quantized_openvino_model does.

Usage: quantize.py EXPORT_FOLDER GRAPH.onnx FILE.xml

That one calibrates with 300 sentences of a data set; these are paragraphs of Python's manual.
"""

import pydoc_data.topics
import sys
from pathlib import Path

import nncf
import openvino
from inputs import inputs, read_tokenizer

folder, graph, file = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
tokenizer = read_tokenizer(folder)
paragraphs = "\n\n".join(pydoc_data.topics.topics.values()).split("\n\n")
texts = [text for text in paragraphs if len(text) > 40][:300]
quantized = nncf.quantize(
    openvino.Core().read_model(graph),
    nncf.Dataset([inputs(tokenizer, [text]) for text in texts]),
    preset=nncf.QuantizationPreset.MIXED,
    model_type=nncf.ModelType.TRANSFORMER,
)
openvino.save_model(quantized, file, compress_to_fp16=False)
