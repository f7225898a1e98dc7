"""The saved configuration of a module behind an encoder, in sentence-transformers."""

import abc
from collections.abc import Collection
from typing import ClassVar

from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel

#: The keys for a module's input and output, which are checked elsewhere by its position.
NAMES = ("module_input_name", "module_output_name")


class SavedModule(JsonModel, KnownKeys, abc.ABC):
    """The keys of a module's configuration that its step needs, with the library's defaults."""

    #: Sizes that follow from other modules and arrays.
    passed_over: ClassVar[Collection[str]] = ("word_embedding_dimension", "embedding_dimension")

    @abc.abstractmethod
    def parameters(self, folder: ModelFolder) -> dict[str, object]:
        """Return the parameters of the step; its arrays lie in the module's folder."""


class SavedNothing(SavedModule):
    """A Normalize, or a Dropout, which does nothing outside training."""

    passed_over: ClassVar[Collection[str]] = (*NAMES, "dropout")

    def parameters(self, folder: ModelFolder) -> dict[str, object]:  # noqa: ARG002 - no arrays
        """None."""
        return {}
