"""A vector for each text."""

from typing import ClassVar

from polybake.baking.sources.source import Recipe, Source
from polybake.baking.tasks.task import Task
from polybake.errors import InputError
from polybake.runtime.tokenization.model_config import ModelConfig

#: What transformers' architectures were trained for that no task does, by how their names end.
_OTHERS = {
    "ForCausalLM": "go on with a text",
    "LMHeadModel": "go on with a text",
    "ForConditionalGeneration": "write a text for another",
    "ForNextSentencePrediction": "tell whether a text follows another",
    "ForMultipleChoice": "choose among answers",
}


class Embed(Task):
    """Embeddings: what the steps make of token embeddings is what clients give."""

    name: ClassVar[str] = "embed"
    output: ClassVar[str] = "sentence_embedding"
    prompted: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:  # noqa: ARG002
        """Whatever a model was trained for, its tokens have embeddings."""
        return True

    def recipe(self, source: Source) -> Recipe:
        """The steps that the source lists.

        Raises:
            InputError: it is a checkpoint that lists none, and was trained for something else, so
                that a mean of its token embeddings would mean nothing.
        """
        if source.assumed and source.encoder.name != "onnx":
            config = source.folder.read("config.json", ModelConfig)
            (name, *_) = config.architectures or ("",)
            for ending, purpose in _OTHERS.items():
                if name.endswith(ending):
                    raise InputError(
                        f"{source.folder.path}: {name} was trained to {purpose}, and no task does "
                        "that; give a model that was saved by sentence-transformers, or as one of "
                        "ForSequenceClassification, ForTokenClassification and ForQuestionAnswering"
                        "; if its own authors pool it for embeddings, list their [[steps]]"
                    )
        return source.recipe
