"""Notes on what a bake assumed, where a user may want something else."""

import re
from collections.abc import Iterable, Iterator, Mapping

from polybake.baking.sources.heads.bge_m3 import BGE_M3
from polybake.baking.sources.source import Source
from polybake.baking.tasks import Embed, Rerank, Task
from polybake.baking.tokenizer.known_classes import gave_types, gives_types
from polybake.base.files.published_models import Published, published_model
from polybake.base.modelfile.manifest import TokenizerDifference

_ASSUMED = (
    "the source names no steps, and the mean of a text's tokens was assumed, which "
    "sentence-transformers takes then"
)
_RERANKER = re.compile(r"rerank|cross-?encoder")


def notes(
    source: Source,
    task: Task,
    prompts: Mapping[str, str] | None,
    *,
    asked: bool,
    listed: bool = False,
) -> Iterator[str]:
    """Yield notes on what the user has not set.

    These are steps, weights, the tokenizer's files, adapters, a family's prompts and a single
    label's task.
    """
    unsaid_steps = None if listed else steps_note(source, task)
    if unsaid_steps is not None:
        yield unsaid_steps
    yield from source.folder.notes
    if source.tokenizer.note:
        yield source.tokenizer.note
    if source.tokenizer.differs is not None:
        yield _other_ids(source, task, source.tokenizer.differs)
    if task.cut is not None and source.pair_prompt is None and gave_types(source.folder):
        yield (
            f"{source.folder.path}: the tokens of a pair have no types, as in transformers 5; if "
            "the model was trained with transformers 4, which gave types, set model_input_names to "
            '["input_ids", "token_type_ids", "attention_mask"] in tokenizer_config.json'
        )
    if source.adapters and source.folder.settings.adapter is None:
        yield (
            f"{source.folder.path} holds adapters, and none is applied, as without a task in "
            "sentence-transformers; to merge one into the weights, set adapter in [model] to one "
            f"of: {', '.join(source.adapters)}"
        )
    unsaid = unsaid_prompts(source, task) if prompts is None else None
    if unsaid is not None:
        yield (
            f"{unsaid.named} was trained with prompts, and the model's files say none: "
            f"{', '.join(unsaid.settings())}; say them in [prompts] of polybake.toml, or leave "
            f"that table empty{unsaid.remark and f' ({unsaid.remark})'}"
        )
    layers = source.head is not None and source.head.kind == BGE_M3
    if layers and task.name == Embed.name and not asked:
        yield (
            f"{source.folder.path} has layers of sparse and multi-vector outputs, too; to bake "
            'all three, set task = "hybrid" and pickle = "tensors"'
        )
    if task.name == Rerank.name and not asked and not _is_a_reranker(source):
        yield (
            f"{source.folder.path} has one label and was taken for a reranker; "
            'if it labels single texts, set task = "classify"'
        )


def steps_note(source: Source, task: Task) -> str | None:
    """Return a sentence on the steps of an embedder whose source names none, else None."""
    recipe = task.recipe(source)
    if source.recipe or not (recipe or source.assumed):
        return None
    model = published_model(source.folder)
    if recipe:
        # The heads of other tasks have steps of their own.
        if task.name != Embed.name or model is None:
            return None
        return (
            f"the source names no steps; it is {model.repository} by {model.known_by}, and has "
            f"that model's: {_shown(recipe)} ({model.steps_source})"
        )
    if model is not None and model.steps:
        return (
            f"{_ASSUMED}; config.json names {model.repository}, whose steps are "
            f"{_shown(model.steps)} ({model.steps_source}): if yours was made from it, list them"
        )
    return f'{_ASSUMED}; if the model was trained with its first token, write mode = "cls"'


def _shown(steps: Iterable[Mapping[str, object]]) -> str:
    """Steps in a sentence, such as *pool with mode = "cls", then normalize*."""
    return ", then ".join(
        f'{step["step"]} with mode = "{step["mode"]}"' if "mode" in step else str(step["step"])
        for step in steps
    )


def unsaid_prompts(source: Source, task: Task) -> Published | None:
    """Return what a published model was trained with, where its own files have no prompts."""
    if not task.prompted or any(source.prompts.values()):
        return None
    model = published_model(source.folder)
    return model if model is not None and model.prompts else None


def _other_ids(source: Source, task: Task, difference: TokenizerDifference) -> str:
    """Say why sentence-transformers of today gives, or may give, other token ids."""
    name, parts = difference.tokenizer_class, difference.parts
    theirs = (
        f"{name} of transformers 5 makes its own {' and '.join(parts)} and gives other ids"
        if parts
        else f"whether {name} of transformers 5 gives the same ids is not known"
    )
    # The class that keeps the file gives no types unless it is told to.
    typed = bool(parts) and task.cut is not None and gives_types(source.folder)
    types = ' and model_input_names = ["input_ids", "token_type_ids", "attention_mask"]'
    return (
        f"{source.folder.path}: token ids are those of tokenizer.json, as in transformers 4; "
        f'{theirs}; to have it keep the file, too, set tokenizer_class = "TokenizersBackend"'
        f"{types if typed else ''} in tokenizer_config.json"
    )


def _is_a_reranker(source: Source) -> bool:
    """Return whether its name or its files say so; a single label says nothing."""
    of_pairs = source.head is not None and source.head.of_pairs
    return of_pairs or _RERANKER.search(source.folder.identifier.lower()) is not None
