"""Tiny causal rerankers, in the forms that sentence-transformers and their authors published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safetensors.numpy import save_file
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from models.folders.drawn import drawn_weights
from models.folders.rotary import pieces_and_bytes
from models.folders.saved import MERGES, byte_vocabulary
from models.folders.tiny_folders import write_json, write_modules

TRANSFORMER = "sentence_transformers.base.modules.transformer.Transformer"
LOGIT_SCORE = "sentence_transformers.cross_encoder.modules.logit_score.LogitScore"

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
GEMMA_SPECIAL = ("<pad>", "<eos>", "<bos>", "<unk>")
#: Further tokens, which templates write and texts may spell.
ADDED = ("<think>", "</think>")
#: What joins the last character of a text and the line break behind it, as in Qwen's vocabulary.
_JOINING = [*MERGES, (".", "\u010a"), ("\u010a", "\u010a"), ("y", "e"), ("ye", "s"), ("n", "o")]

#: Qwen 2's and 3's own.
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

#: As the Qwen3-Reranker models have it, with shorter sentences.
TEMPLATE = (
    '{%- set instruction = messages | selectattr("role", "eq", "system") | map(attribute="content")'
    ' | first | default("Find passages") -%}\n'
    '{%- set query_text = messages | selectattr("role", "eq", "query") | map(attribute="content")'
    " | first -%}\n"
    '{%- set document_text = messages | selectattr("role", "eq", "document")'
    ' | map(attribute="content") | first -%}\n'
    '<|im_start|>system\nAnswer "yes" or "no".<|im_end|>\n'
    "<|im_start|>user\n<Instruct>: {{ instruction }}\n<Query>: {{ query_text }}\n"
    "<Document>: {{ document_text }}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n\n"
)

#: Of both, the vocabulary's size aside.
_SIZES: dict[str, Any] = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 28,
    "max_position_embeddings": 256,
    "rope_parameters": {"rope_theta": 50.0, "rope_type": "default"},
    "tie_word_embeddings": True,
}


def qwen_tokenizer() -> Tokenizer:
    """Bytes, split as Qwen splits them, whose full stops join with the line breaks behind them."""
    merged = ["".join(pair) for pair in _JOINING]
    vocabulary = byte_vocabulary(*SPECIAL, *ADDED)
    for token in merged:
        vocabulary.setdefault(token, len(vocabulary))
    made = Tokenizer(models.BPE(vocabulary, _JOINING))
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(list(SPECIAL))
    made.add_tokens([AddedToken(token, normalized=False) for token in ADDED])
    return made


def gemma_tokenizer() -> Tokenizer:
    """Pieces and bytes behind ``<bos>``, of which some letters and line breaks join."""
    merges = [("e", "s"), ("Y", "es"), ("\u2581", "t"), ("\n", "\n")]
    vocabulary = pieces_and_bytes(*GEMMA_SPECIAL)
    for token in ("Y", "\n", *map("".join, merges)):
        vocabulary[token] = len(vocabulary)
    made = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", byte_fallback=True))
    made.normalizer = normalizers.Replace(" ", "\u2581")
    made.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    made.add_special_tokens(list(GEMMA_SPECIAL))
    made.post_processor = processors.TemplateProcessing(
        single="<bos> $A", pair="<bos> $A <bos> $B", special_tokens=[("<bos>", 2)]
    )
    return made


def write_language_model(
    folder: Path, kind: str = "qwen3", tokenizer: Tokenizer | None = None, **changes: object
) -> Path:
    """A plain folder of a causal language model; ``changes`` are keys of config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    made = tokenizer or qwen_tokenizer()
    made.save(str(folder / "tokenizer.json"))
    config = _SIZES | {"vocab_size": made.get_vocab_size(), "model_type": kind}
    config |= {"architectures": [f"{kind.title()}ForCausalLM"]}
    config |= {"head_dim": 10} if kind in ("gemma", "qwen3") else {}
    config |= changes
    write_json(folder / "config.json", config)
    pad, eos = GEMMA_SPECIAL[:2] if kind == "gemma" else (SPECIAL[0], SPECIAL[2])
    written: dict[str, Any] = {"pad_token": pad, "eos_token": eos, "model_max_length": 200}
    written["tokenizer_class"] = "GemmaTokenizer" if kind == "gemma" else "Qwen2Tokenizer"
    write_json(folder / "tokenizer_config.json", written)
    weights = drawn_weights(kind, config)
    save_file({f"model.{name}": one for name, one in weights.items()}, folder / "model.safetensors")
    return folder


def write_logit_score(
    folder: Path,
    kind: str = "qwen3",
    template: str | None = TEMPLATE,
    tokens: tuple[str, str | None] = ("yes", "no"),
    **settings: object,
) -> Path:
    """The same as a CrossEncoder, as sentence-transformers 5.4 and later save it.

    Args:
        folder: Where to.
        kind: The architecture.
        template: The chat template; None saves one that takes pairs as they are.
        tokens: Those whose logits are read.
        settings: Keys of config_sentence_transformers.json.
    """
    write_language_model(folder, kind)
    write_modules(folder, ("", TRANSFORMER), ("1_LogitScore", LOGIT_SCORE))
    whole = {"model_type": "CrossEncoder", "prompts": {}, "default_prompt_name": None, **settings}
    write_json(folder / "config_sentence_transformers.json", whole)
    method = {"method": "forward", "method_output_name": "logits"}
    message = {"message": method | {"format": "flat"}} if template is not None else {}
    write_json(
        folder / "sentence_bert_config.json",
        {
            "transformer_task": "text-generation",
            "modality_config": {"text": method, **message},
            "module_output_name": "causal_logits",
        },
    )
    if template is not None:
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    true, false = (None if token is None else made.token_to_id(token) for token in tokens)
    (folder / "1_LogitScore").mkdir(exist_ok=True)
    write_json(
        folder / "1_LogitScore" / "config.json", {"true_token_id": true, "false_token_id": false}
    )
    return folder
