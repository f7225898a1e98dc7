"""Whether a model file was baked with the settings that polybake.toml has now."""

from collections.abc import Iterator

from polybake.baking.assemble.lower import Lowering
from polybake.baking.assemble.prompts import bake_prompts
from polybake.baking.bake_config import opened
from polybake.base.modelfile.manifest import Manifest
from polybake.config import Config
from polybake.errors import CheckFailed


def check_same_settings(config: Config, manifest: Manifest) -> None:
    """Compare the settings with the manifest of a model file.

    Opens the source, and reads the files that its steps name. The numbers in arrays, and the
    source's weights, are not compared; only a bake does that.

    Raises:
        CheckFailed: They differ; the message names the setting's key.
        InputError: The source, a step or a setting is not what was expected.
        RequirementMissing: A package or the hub is not available.
    """
    for key, now, baked in _settings(config, manifest):
        if now != baked:
            raise CheckFailed(
                f"{config.model.output}: was baked with {key} {baked!r}, and polybake.toml says "
                f"{now!r}; bake it again: polybake build"
            )


def _settings(config: Config, manifest: Manifest) -> Iterator[tuple[str, object, object]]:
    """Yield the key of each setting, its value now, and its value when the file was baked."""
    model, contract = config.model, manifest.contract
    yield "name", model.name, manifest.name
    yield "description", model.description, manifest.description
    yield "precision", model.precision, manifest.precision
    yield "storage", Lowering(model.precision, model.storage).stored, manifest.storage
    yield "weights", model.weights, "inside" if manifest.weights is None else "beside"
    yield "expose", model.expose, manifest.exposed
    source, task, steps = opened(config)
    yield "source", source.folder.identifier, manifest.source.identifier
    allowed, baked = source.folder.allowed.keys, manifest.source.allow_unknown
    yield "allow_unknown", tuple(allowed), baked
    yield "attention", source.folder.attention, manifest.source.attention
    yield "adapter", source.folder.adapter, manifest.source.adapter
    yield "task", task.name, contract.task
    yield "steps", " -> ".join(map(str, steps)), " -> ".join(manifest.steps)
    settings = task.settings(source, contract.output.dimension)
    yield "labels", settings.get("labels"), contract.settings.get("labels")
    if source.pair_prompt is not None and contract.pair is not None:
        _, pair = source.pair_prompt.for_pairs(source.tokenizer)
        yield "rerank", pair.pieces, contract.pair.pieces
    prompts = bake_prompts(source, steps, config.prompts, model.default_prompt)
    yield "prompts", dict(prompts.texts), contract.prompts
    yield "default_prompt", prompts.default, contract.default_prompt
