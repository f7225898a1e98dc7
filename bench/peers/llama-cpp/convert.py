"""Write BERT as GGUF, as llama.cpp's convert_hf_to_gguf.py does, which is in no package.

Usage: convert.py MODEL_FOLDER FILE.gguf (F32 | Q8_0)
"""

import json
import sys
from pathlib import Path

import gguf
from gguf.quants import quantize
from safetensors.numpy import load_file

folder, file, kind = Path(sys.argv[1]), sys.argv[2], gguf.GGMLQuantizationType[sys.argv[3]]
config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
writer = gguf.GGUFWriter(file, "bert")
writer.add_context_length(config["max_position_embeddings"])
writer.add_embedding_length(config["hidden_size"])
writer.add_feed_forward_length(config["intermediate_size"])
writer.add_block_count(config["num_hidden_layers"])
writer.add_head_count(config["num_attention_heads"])
writer.add_layer_norm_eps(config["layer_norm_eps"])
writer.add_causal_attention(False)
writer.add_pooling_type(gguf.PoolingType.MEAN)

# A word begins with a mark, where BERT marks what continues one.
words = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
special = [word.startswith("[") and word.endswith("]") for word in words]
writer.add_tokenizer_model("bert")
writer.add_tokenizer_pre("default")
writer.add_token_list(
    [
        word if kept else word.removeprefix("##") if word.startswith("##") else f"\u2581{word}"
        for word, kept in zip(words, special, strict=True)
    ]
)
writer.add_token_types(
    [gguf.TokenType.CONTROL if kept else gguf.TokenType.NORMAL for kept in special]
)
writer.add_token_type_count(config["type_vocab_size"])
writer.add_sep_token_id(words.index("[SEP]"))
writer.add_pad_token_id(words.index("[PAD]"))
writer.add_unk_token_id(words.index("[UNK]"))
writer.add_mask_token_id(words.index("[MASK]"))
writer.add_bos_token_id(words.index("[CLS]"))
writer.add_eos_token_id(words.index("[SEP]"))

names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, config["num_hidden_layers"])
for name, tensor in load_file(folder / "model.safetensors").items():
    if name.startswith("pooler.") or name.endswith("position_ids"):
        continue
    wide = tensor.ndim == 1 or "position" in name or "token_type" in name
    form = gguf.GGMLQuantizationType.F32 if wide else kind
    writer.add_tensor(
        names.get_name(name, (".weight", ".bias")),
        quantize(tensor.astype("f4"), form),
        raw_dtype=form,
    )
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
