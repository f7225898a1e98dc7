"""A vector for each text."""

from typing import ClassVar

from polybake.baking.sources.source import Recipe, Source
from polybake.baking.tasks.task import Task
from polybake.errors import InputError
from polybake.runtime.tokenization.model_config import ModelConfig

#: The purposes of transformers' architectures that no task covers, by the ends of their names.
_OTHERS = {
    "ForCausalLM": "go on with a text",
    "LMHeadModel": "go on with a text",
    "ForConditionalGeneration": "write a text for another",
    "ForNextSentencePrediction": "tell whether a text follows another",
    "ForMultipleChoice": "choose among answers",
}


class Embed(Task):
    """Gives embeddings: clients return what the steps make of token embeddings."""

    name: ClassVar[str] = "embed"
    output: ClassVar[str] = "sentence_embedding"
    prompted: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:  # noqa: ARG002
        """Return True: the tokens of every model have embeddings."""
        return True

    def recipe(self, source: Source) -> Recipe:
        """Return the steps that the source lists.

        Raises:
            InputError: The source is a checkpoint without steps, trained for something else: a mean
                of its token embeddings would mean nothing.
        """
        if source.assumed and source.encoder.name != "onnx":
            config = source.folder.read("config.json", ModelConfig)
            (name, *_) = config.architectures or ("",)
            for ending, purpose in _OTHERS.items():
                if name.endswith(ending):
                    asked = "; if it scores pairs, say in [rerank] how it is asked"
                    raise InputError(
                        f"{source.folder.path}: {name} was trained to {purpose}, and no task does "
                        "that; give a model that was saved by sentence-transformers, or as one of "
                        "ForSequenceClassification, ForTokenClassification and ForQuestionAnswering"
                        "; if its own authors pool it for embeddings, list their [[steps]]"
                        f"{asked if name.endswith('ForCausalLM') else ''}"
                    )
        return source.recipe
