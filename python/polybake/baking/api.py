"""``polybake.bake``: the way in for programs."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from polybake.baking.bake import BakeReport
from polybake.baking.bake_config import bake_config
from polybake.baking.steps import Step
from polybake.base.files.hub_reference import parse_source
from polybake.base.files.model_name import model_name
from polybake.base.files.validation import first_fault
from polybake.config import Config
from polybake.errors import InputError
from polybake.generation.names import names_for


def bake(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    name: str | None = None,
    description: str = "",
    task: str | None = None,
    labels: Sequence[str] = (),
    steps: Sequence[Step | Mapping[str, object]] | None = None,
    prompts: Mapping[str, str] | None = None,
    default_prompt: str | None = None,
    rerank: Mapping[str, object] | None = None,
    encoder: str = "native",
    pickle: str = "refused",
    attention: str | None = None,
    adapter: str | None = None,
    allow_unknown: Sequence[str] = (),
    precision: str = "float32",
    calibration: str | os.PathLike[str] | None = None,
    storage: str = "checkpoint",
    weights: str = "inside",
    functions: bool = False,
    expose: Sequence[str] = (),
) -> BakeReport:
    """Bake an encoder and its steps into one model file, and prove it.

    Example: ``polybake.bake("models/all-MiniLM-L6-v2", "minilm.onnx", steps=[{"step": "pool",
    "mode": "mean"}, polybake.steps.Normalize()])``

    Args:
        source: A model folder, ``hub:owner/name@revision``, or an ``.onnx`` file.
        output: The model file to write; an earlier bake is overwritten, and nothing else.
        name: The name of the clients' packages and modules; None derives it from the source's.
        description: A description for people.
        task: The task of the file, such as ``classify``; None means ``embed`` if steps are given,
            else the task that the source was trained for.
        labels: The label of each number of a classifier; empty takes the source's own.
        steps: The steps as tables of polybake.toml, or as objects of `polybake.steps`; None takes
            the source's own. Files that a table names are relative to the working folder.
        prompts: Prompt texts by name; None takes the source's.
        default_prompt: The prompt for calls that name none; None takes the source's.
        rerank: How a causal language model is asked about a pair, as the table ``[rerank]``.
        encoder: ``native``, or ``torch`` for an export by PyTorch.
        pickle: ``tensors`` reads the tensors of weights that are there as a pickle alone, and runs
            nothing of it; ``refused`` reads safetensors only.
        attention: ``both`` or ``causal``, where only a decoder's own code says to which side its
            tokens attend; None takes what its files say.
        adapter: The checkpoint's adapter to merge into the weights, such as ``retrieval.query``;
            its prompt becomes the default where the source has none. None merges none.
        allow_unknown: Unknown keys of the source's files that, as you say, change no vector.
        precision: What the graph's large products are computed in: ``float32``, ``float16``,
            ``int8``, or ``int4``, which rounds their weights alone.
        calibration: A file of texts, one a line, by which ``int8`` and ``int4`` are chosen; None
            takes random tokens.
        storage: The type of the stored weights: ``checkpoint``, the checkpoint's own; ``float16``;
            or ``float16-table``, which rounds those of the token table alone.
        weights: ``inside`` the model file, or ``beside`` it, in a file of their own that may be
            larger than 2 GiB.
        functions: Bake a step as an ONNX function, which viewers show as one node; not steps that
            change more than the embeddings, such as ``leave_out``.
        expose: Values to add as outputs, for debugging.

    Raises:
        InputError: The source, a step or a setting is not what was expected.
        CheckFailed: A proof failed; nothing is written.
        RequirementMissing: A package or the hub is not available.
    """
    place = parse_source(source)
    settings = {
        "model": {
            "name": model_name(place) if name is None else name,
            "source": place,
            "output": Path(output),
            "description": description,
            "task": task,
            "labels": tuple(labels),
            "default_prompt": default_prompt,
            "encoder": encoder,
            "pickle": pickle,
            "attention": attention,
            "adapter": adapter,
            "allow_unknown": tuple(allow_unknown),
            "precision": precision,
            "calibration": calibration and Path(calibration),
            "storage": storage,
            "weights": weights,
            "functions": functions,
            "expose": tuple(expose),
        },
        "prompts": None if prompts is None else dict(prompts),
        "rerank": None if rerank is None else dict(rerank),
    }
    try:
        config = Config.model_validate(settings)
    except ValidationError as error:
        raise InputError(first_fault(error)) from error
    names_for("python", config.model.name)
    return bake_config(config, steps)
