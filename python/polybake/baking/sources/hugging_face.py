"""A plain Hugging Face encoder folder: its steps come from polybake.toml."""

from polybake.baking.sources.checkpoint import Checkpoint
from polybake.baking.sources.heads import open_head
from polybake.baking.sources.source import MEAN, OpenEncoder, Source
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError


def open_hugging_face(folder: ModelFolder, open_encoder: OpenEncoder) -> Source:
    """Open a folder with config.json, model.safetensors and tokenizer.json."""
    tokenizer = open_tokenizer(folder)
    _check_no_chat_template(folder)
    encoder = open_encoder(folder, tokenizer)
    pooled = isinstance(encoder, Checkpoint) and encoder.pooled
    assumed = () if pooled else MEAN
    return Source(
        encoder=encoder, tokenizer=tokenizer, folder=folder, assumed=assumed, head=open_head(folder)
    )


def _check_no_chat_template(folder: ModelFolder) -> None:
    """Refuse a chat template, as sentence-transformers would render every text with it.

    sentence-transformers does so without a modules.json that says otherwise.

    Source: transformers ``PreTrainedTokenizerBase.from_pretrained``; sentence-transformers
    ``Transformer.infer_modalities``.
    """
    more = sorted((folder.path / "additional_chat_templates").glob("*.jinja"))
    if TokenizerConfig.of(folder).chat_template is not None:
        reason = "tokenizer_config.json has a chat_template"
    elif folder.file("chat_template.jinja") is not None:
        reason = "has chat_template.jinja"
    elif more:
        reason = f"has additional_chat_templates/{more[0].name}"
    else:
        return
    raise InputError(
        f"{folder.path}: {reason}, through which sentence-transformers renders every text; bake "
        "what SentenceTransformer(FOLDER).save_pretrained(NEW) saves, remove it to embed texts as "
        "they are, or say in [rerank] how a language model that scores pairs is asked"
    )
