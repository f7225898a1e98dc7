"""The kinds of model folders, told apart by the settings of the library that saved a folder."""

from typing import Literal

from polybake.baking.sources.checkpoint import STANFORD_COLBERT, refuse_adapter
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError

Kind = Literal[
    "sentence_transformers",
    "cross_encoder",
    "multi_vector",
    "model2vec",
    "stanford_colbert",
    "hugging_face",
]

#: The settings of a whole folder of sentence-transformers or PyLate.
SETTINGS = "config_sentence_transformers.json"
#: The settings of a folder of GLiNER, and the model_type of GLiNER2, whose folder has none.
_GLINER, _GLINER2 = "gliner_config.json", "extractor"
#: The class of a folder whose texts have a vector for each token.
SAVED_AS = "MultiVectorEncoder"


class SavedBy(JsonModel):
    """The class and library that saved a folder; older versions of PyLate only wrote prefixes."""

    model_type: str | None = None
    query_prefix: str | None = None

    @property
    def pylate(self) -> bool:
        """Whether PyLate saved it."""
        plain = self.model_type in (None, "SentenceTransformer")
        return self.model_type == "ColBERT" or (plain and "query_prefix" in self.model_fields_set)


def kind_of(folder: ModelFolder) -> Kind:
    """Return the kind of a folder."""
    if folder.file(_GLINER) is not None:
        raise InputError(
            f"{folder.path / _GLINER}: is of a GLiNER model, which is not baked; run it with "
            "gliner, or choose a model for a fixed set of labels (task tag)"
        )
    refuse_adapter(folder)
    if folder.file("modules.json") is not None:
        settings = folder.read(SETTINGS, SavedBy)
        if settings.model_type == "CrossEncoder":
            return "cross_encoder"
        several = settings.pylate or settings.model_type == SAVED_AS
        return "multi_vector" if several else "sentence_transformers"
    if folder.file("config.json") is None:
        raise InputError(
            f"{folder.path}: has neither modules.json nor config.json; give the folder that "
            "sentence-transformers or transformers saved, or an .onnx file"
        )
    config = ModelConfig.of(folder)
    if config.model_type == _GLINER2:
        raise InputError(
            f"{folder.path / 'config.json'}: model_type {_GLINER2!r} is GLiNER2, which is not "
            "baked; run it with gliner2, or choose a model for a fixed set of labels (task tag)"
        )
    if config.model_type == "model2vec" or config.embedding_dtype is not None:
        return "model2vec"
    if (config.architectures or ("",))[0] == STANFORD_COLBERT:
        return "stanford_colbert"
    return "hugging_face"
