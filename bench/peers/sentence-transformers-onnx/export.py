"""Export MiniLM as users get it: Optimum's graph, sentence-transformers' qint8, CTranslate2's.

Usage: export.py MODEL_FOLDER EXPORT_FOLDER
"""

import json
import sys
from pathlib import Path

from ctranslate2.converters import TransformersConverter
from sentence_transformers import SentenceTransformer, export_dynamic_quantized_onnx_model

source, export = sys.argv[1], Path(sys.argv[2])
provider = {"provider": "CPUExecutionProvider", "export": True}
model = SentenceTransformer(source, device="cpu", backend="onnx", model_kwargs=provider)
model.save_pretrained(str(export))
export_dynamic_quantized_onnx_model(model, "avx512_vnni", str(export))
TransformersConverter(source).convert(str(export / "ctranslate2"))

# Where transformers.js and informers read the limit; fastembed takes the smaller of the two.
limits = {"model_max_length": 256, "max_length": 256}
settings = export / "tokenizer_config.json"
written = json.loads(settings.read_text(encoding="utf-8")) | limits
settings.write_text(json.dumps(written, indent=2), encoding="utf-8")
(export / "model.onnx").symlink_to("onnx/model.onnx")  # where fastembed's own entry looks

# LangChain4j and hugot cut and pad as tokenizer.json says, at 128, and have no option for it.
cut = export / "cut-at-256"
cut.mkdir()
tokenizer = json.loads((export / "tokenizer.json").read_text(encoding="utf-8"))
tokenizer["truncation"]["max_length"], tokenizer["padding"] = 256, None
(cut / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
for name in ("model.onnx", "config.json"):
    (cut / name).symlink_to(f"../{name}")
