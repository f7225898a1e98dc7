"""jina-embeddings-v3 as it was published, with each adapter and none, against transformers' class.

The code beside the weights is not run. Its formula merges an adapter into the weights that
transformers' class is given.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.folders.tiny_folders import change_json, write_bert, write_json
from models.formulas.jina_v3_numpy import CONFIG, TASKS, THETA, merged, weights
from models.formulas.rotary_numpy import SIZES, Floats
from support.oracle.agreement import agreement_with_source, bake
from support.oracle.proven import Proven

LIBRARY = SIZES | {
    "model_type": "jina_embeddings_v3",
    "architectures": ["JinaEmbeddingsV3Model"],
    "rope_parameters": {"rope_theta": THETA, "rope_type": "default"},
    "pad_token_id": 0,
}
OWN = "sentence_transformers.models."


def write(
    folder: Path, config: dict[str, Any], stored: dict[str, Floats], first: str, default: str | None
) -> Path:
    """Write a folder of sentence-transformers whose first module is of this type."""
    write_bert(folder, config, stored)
    modules = [
        (first, ""),
        *((f"sentence_transformers.models.{n}", n) for n in ("Pooling", "Normalize")),
    ]
    listed = [
        {"idx": i, "name": str(i), "path": path, "type": kind}
        for i, (kind, path) in enumerate(modules)
    ]
    write_json(folder / "modules.json", listed)
    (folder / "Pooling").mkdir()
    (folder / "Normalize").mkdir()
    pooling = {"word_embedding_dimension": SIZES["hidden_size"], "pooling_mode_mean_tokens": True}
    write_json(folder / "Pooling" / "config.json", pooling)
    settings = {"prompts": TASKS, "default_prompt_name": default, "similarity_fn_name": "cosine"}
    write_json(folder / "config_sentence_transformers.json", settings)
    return folder


@pytest.mark.parametrize("task", [None, *TASKS])
def test_adapters_agree(task: str | None, tmp_path: Path, proven: Proven) -> None:
    """Vectors are those of ``encode`` with the task and the prompt of its name.

    The checkpoint has 16 bits, as the published one, and is merged in float32.
    """
    stored = {name: array.astype(np.float16) for name, array in weights().items()}
    exact = {name: array.astype(np.float32) for name, array in stored.items()}
    library = write(tmp_path / "library", LIBRARY, merged(exact, task), f"{OWN}Transformer", task)
    folder = write(tmp_path / "model", CONFIG, stored, "custom_st.Transformer", None)
    change_json(folder / "tokenizer_config.json", pad_token="[PAD]")
    baked = tmp_path / "baked.onnx"
    bake(folder, baked, name="tiny", adapter=task)
    found = agreement_with_source(library, baked)
    proven(f"xlm_roberta_flash, {task or 'no adapter'}", found)
