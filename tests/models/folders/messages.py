"""Tiny embedders of language models whose texts are messages in a chat template."""

from __future__ import annotations

from pathlib import Path

from models.folders.causal import TRANSFORMER, write_language_model
from models.folders.tiny_folders import write_json, write_modules

#: As Qwen's have it: flat contents, with a system's message of its own.
CHATML = (
    "{%- if messages[0]['role'] != 'system' %}\n"
    "{{- '<|im_start|>system\\nYou embed.<|im_end|>\\n' }}\n"
    "{%- endif %}\n"
    "{%- for message in messages %}\n"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}\n"
    "{%- endfor %}\n"
    "{%- if add_generation_prompt %}\n"
    "{{- '<|im_start|>assistant\\n' }}\n"
    "{%- endif %}\n"
)
#: Contents as lists.
STRUCTURED = CHATML.replace("message.content", "message.content[0].text")

POOLING = "sentence_transformers.sentence_transformer.modules.pooling.Pooling"


def write_messages(
    folder: Path, template: str | None = CHATML, *, include_prompt: bool = True, **settings: object
) -> Path:
    """A model as sentence-transformers 5.4 and later save it.

    Args:
        folder: Where to.
        template: The chat template.
        include_prompt: Whether the mean counts a prompt's tokens, if the library tracks them.
        settings: Keys of config_sentence_transformers.json.
    """
    write_language_model(folder)
    write_modules(folder, ("", TRANSFORMER), ("1_Pooling", POOLING))
    whole = {"model_type": "SentenceTransformer", "similarity_fn_name": "cosine", **settings}
    write_json(folder / "config_sentence_transformers.json", whole)
    method = {"method": "forward", "method_output_name": "last_hidden_state"}
    write_json(
        folder / "sentence_bert_config.json",
        {
            "transformer_task": "feature-extraction",
            "modality_config": {"text": method, "message": method | {"format": "flat"}},
            "module_output_name": "token_embeddings",
        },
    )
    if template is not None:
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    (folder / "1_Pooling").mkdir(exist_ok=True)
    pooling = {"embedding_dimension": 24, "pooling_mode": "mean", "include_prompt": include_prompt}
    write_json(folder / "1_Pooling" / "config.json", pooling)
    return folder
