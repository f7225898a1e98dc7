"""``polybake.bake``: the way in for programs."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from polybake.baking.bake import BakeReport
from polybake.baking.bake_config import bake_config
from polybake.baking.steps import Step
from polybake.base.files.hub_reference import parse_source
from polybake.base.files.model_name import model_name
from polybake.config import config_of
from polybake.generation.names import names_for


def bake(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    name: str | None = None,
    steps: Sequence[Step | Mapping[str, object]] | None = None,
    prompts: Mapping[str, str] | None = None,
    rerank: Mapping[str, object] | None = None,
    **model: object,
) -> BakeReport:
    """Bake an encoder and its steps into one model file, and prove it.

    Example: ``polybake.bake("models/all-MiniLM-L6-v2", "minilm.onnx", steps=[{"step": "pool",
    "mode": "mean"}, polybake.steps.Normalize()])``

    Args:
        source: A model folder, ``hub:owner/name@revision``, or an ``.onnx`` file.
        output: The model file to write; an earlier bake is overwritten, and nothing else.
        name: The name of the clients' packages and modules; None derives it from the source's.
        steps: The steps as tables of polybake.toml, or as objects of `polybake.steps`; None takes
            the source's own. Files that a table names are relative to the working folder.
        prompts: Prompt texts by name; None takes the source's.
        rerank: How a causal language model is asked about a pair, as the table ``[rerank]``.
        model: Other keys of ``[model]`` in polybake.toml, such as ``task="classify"``,
            ``precision="int8"`` or ``pickle="tensors"``.

    Raises:
        InputError: The source, a step or a setting is not what was expected.
        CheckFailed: A proof failed; nothing is written.
        RequirementMissing: A package or the hub is not available.
    """
    origin = parse_source(source)
    config = config_of(
        {
            "model": {
                "name": model_name(origin) if name is None else name,
                "source": origin,
                "output": Path(output),
                **model,
            },
            "prompts": None if prompts is None else dict(prompts),
            "rerank": None if rerank is None else dict(rerank),
        }
    )
    names_for("python", config.model.name)
    return bake_config(config, steps)
