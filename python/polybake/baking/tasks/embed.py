"""A vector for each text."""

from typing import ClassVar

from polybake.baking.sources.source import Recipe, Source
from polybake.baking.tasks.task import Task
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.base.files.published_models import Published, published_model
from polybake.errors import InputError

#: The purposes of transformers' architectures that no task covers, by the ends of their names.
_OTHERS = {
    "ForCausalLM": "go on with a text",
    "LMHeadModel": "go on with a text",
    "ForConditionalGeneration": "write a text for another",
    "ForNextSentencePrediction": "tell whether a text follows another",
    "ForMultipleChoice": "choose among answers",
}
#: The steps that need no weights.
_WITHOUT_WEIGHTS = {"pool", "normalize"}


class Embed(Task):
    """Gives embeddings: clients return what the steps make of token embeddings."""

    name: ClassVar[str] = "embed"
    output: ClassVar[str] = "sentence_embedding"
    prompted: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:  # noqa: ARG002
        """Return True: the tokens of every model have embeddings."""
        return True

    def recipe(self, source: Source) -> Recipe:
        """Return the steps that the source lists, or those of the published model that it is."""
        model = published_model(source.folder) if _may_lack_steps(source) else None
        if model is not None and model.steps and not model.is_base:
            return _known(source, model)
        if source.assumed and source.encoder.name != "onnx":
            config = ModelConfig.of(source.folder)
            (name, *_) = config.architectures or ("",)
            for ending, purpose in _OTHERS.items():
                if name.endswith(ending):
                    hint = "; if it scores pairs, say in [rerank] how it is asked"
                    raise InputError(
                        f"{source.folder.path}: {name} was trained to {purpose}, and no task does "
                        "that; give a model that was saved by sentence-transformers, or as one of "
                        "ForSequenceClassification, ForTokenClassification and ForQuestionAnswering"
                        "; if its own authors pool it for embeddings, list their [[steps]]"
                        f"{hint if name.endswith('ForCausalLM') else ''}"
                    )
        return source.recipe


def _may_lack_steps(source: Source) -> bool:
    """Return whether nothing says which steps follow what the encoder gives.

    A pooled output of an ONNX file may have been normalized or not, unless modules.json says it.
    """
    if source.recipe:
        return False
    if source.assumed:
        return True
    alone = source.encoder.name == "onnx" and source.folder.file("modules.json") is None
    return alone and source.head is None


def _known(source: Source, model: Published) -> Recipe:
    """Return the published model's steps, without the pooling that an output has behind it.

    To normalize twice changes nothing, so it is right whatever a pooled output went through.
    """
    names = [step["step"] for step in model.steps]
    if source.assumed and not _WITHOUT_WEIGHTS.issuperset(names):
        lacking = next(name for name in names if name not in _WITHOUT_WEIGHTS)
        raise InputError(
            f"{source.folder.path}: is {model.repository} by {model.known_by}, whose steps are "
            f"{', '.join(names)} ({model.steps_source}), and the weights of {lacking} are not "
            f"here; give the model's whole folder, or hub:{model.repository}, or list the [[steps]]"
        )
    if source.assumed:
        return tuple(dict(step) for step in model.steps)
    return ({"step": "normalize"},) if names == ["pool", "normalize"] else ()
