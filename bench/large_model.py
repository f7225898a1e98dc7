"""What a model of 0.6 billion parameters costs: bake it, then verify it in every language.

Usage: python bench/large_model.py FOLDER [PRECISION ...]

The model is random and has the shape of Qwen3-Embedding-0.6B, its weights in bfloat16: 1.2 GB. The
folder gets it, the baked files, their clients, and ``large_model.json`` with the figures.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from bake_cost import measured
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

HIDDEN, LAYERS, HEADS, GROUPS, HEAD, INNER, VOCABULARY = 1024, 28, 16, 8, 128, 3072, 151_669
LANGUAGES = ("python", "node", "ruby", "csharp")
END = "<|endoftext|>"
CONFIG: dict[str, Any] = {
    "architectures": ["Qwen3Model"],
    "model_type": "qwen3",
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": GROUPS,
    "head_dim": HEAD,
    "hidden_act": "silu",
    "max_position_embeddings": 32768,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1_000_000,
    "attention_bias": False,
    "use_sliding_window": False,
    "torch_dtype": "bfloat16",
}


def shapes() -> dict[str, tuple[int, ...]]:
    """Return the shape of every weight by its name in the checkpoint."""
    found: dict[str, tuple[int, ...]] = {"embed_tokens.weight": (VOCABULARY, HIDDEN)}
    for layer in range(LAYERS):
        of_layer = {
            "self_attn.q_proj": (HEADS * HEAD, HIDDEN),
            "self_attn.k_proj": (GROUPS * HEAD, HIDDEN),
            "self_attn.v_proj": (GROUPS * HEAD, HIDDEN),
            "self_attn.o_proj": (HIDDEN, HEADS * HEAD),
            "self_attn.q_norm": (HEAD,),
            "self_attn.k_norm": (HEAD,),
            "mlp.gate_proj": (INNER, HIDDEN),
            "mlp.up_proj": (INNER, HIDDEN),
            "mlp.down_proj": (HIDDEN, INNER),
            "input_layernorm": (HIDDEN,),
            "post_attention_layernorm": (HIDDEN,),
        }
        found |= {f"layers.{layer}.{name}.weight": shape for name, shape in of_layer.items()}
    return found | {"norm.weight": (HIDDEN,)}


def write_weights(path: Path) -> int:
    """Write seeded weights in bfloat16; how many bytes they have."""
    random = np.random.default_rng(0)
    tensors = {}
    for name, shape in shapes().items():
        values = random.standard_normal(shape, np.float32)
        values = 1 + 0.2 * values if len(shape) == 1 else values * np.float32(shape[-1] ** -0.5)
        tensors[name] = values.astype(ml_dtypes.bfloat16)
    save_file(tensors, path)
    return sum(tensor.nbytes for tensor in tensors.values())


def write_tokenizer(path: Path) -> None:
    """Bytes, one token after every text, and words of a number up to the vocabulary's size."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = [f"{number:06d}" for number in range(VOCABULARY - len(letters) - 1)]
    vocabulary = {token: place for place, token in enumerate([*letters, *words])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(END)])
    end = tokenizer.token_to_id(END)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", special_tokens=[(END, end)]
    )
    tokenizer.save(str(path))


def write_model(folder: Path) -> int:
    """Write a sentence-transformers folder; how many bytes its weights have."""
    modules = [
        ("", "sentence_transformers.models.Transformer"),
        ("1_Pooling", "sentence_transformers.models.Pooling"),
        ("2_Normalize", "sentence_transformers.models.Normalize"),
    ]
    files: dict[str, Any] = {
        "config.json": CONFIG,
        "sentence_bert_config.json": {"max_seq_length": 32768, "do_lower_case": False},
        "tokenizer_config.json": {
            "tokenizer_class": "Qwen2Tokenizer",
            "pad_token": END,
            "eos_token": END,
            "padding_side": "left",
        },
        "modules.json": [
            {"idx": place, "name": str(place), "path": path, "type": kind}
            for place, (path, kind) in enumerate(modules)
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": HIDDEN,
            "pooling_mode_lasttoken": True,
            "pooling_mode_mean_tokens": False,
        },
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content, indent=2))
    (folder / "2_Normalize").mkdir(exist_ok=True)
    write_tokenizer(folder / "tokenizer.json")
    return write_weights(folder / "model.safetensors")


def figures(command: list[str]) -> dict[str, float]:
    """Seconds, and the peak memory of the largest process, in MB."""
    seconds, peak = measured(sys.executable, "-m", "polybake.cli.main", *command)
    return {"seconds": round(seconds, 1), "peak_mb": round(peak * 2**20 / 1e6)}


def main(folder: Path, precisions: list[str]) -> None:
    """Print a row for each step as it ends."""
    weights = write_model(folder / "model")
    print(f"{weights / 1e6:.0f} MB of weights")
    results: dict[str, Any] = {"weights_mb": round(weights / 1e6)}
    for precision in precisions:
        baked, clients = folder / f"{precision}.onnx", folder / precision
        bake = ["bake", str(folder / "model"), "--name", "large", "--output", str(baked)]
        rows = {"bake": figures([*bake, "--precision", precision])}
        rows["bake"]["file_mb"] = round(baked.stat().st_size / 1e6)
        print(f"{precision:<9} {'bake':<8} {rows['bake']}", flush=True)
        figures(["generate", str(baked), "--clients", str(clients)])
        for language in LANGUAGES:
            verify = ["verify", str(baked), "--clients", str(clients), "--language", language]
            figures([*verify, "--prepare"])
            rows[language] = figures(verify)
            print(f"{precision:<9} {language:<8} {rows[language]}", flush=True)
        results[precision] = rows
    (folder / "large_model.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or ["float32", "int8"])
