"""A folder of gliner, whose model finds spans for labels that are named with each text.

Source: gliner ``UniEncoderSpanGLiNER`` and ``UniEncoderSpanModel``, in evaluation.
"""

import json
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ValidationError
from tokenizers import AddedToken, Tokenizer

from polybake.baking.encoders import ENCODERS
from polybake.baking.encoders.architecture import EncoderConfig, Size
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.layers.stored_tensor import stored_tensors
from polybake.baking.sources.checkpoint import Checkpoint
from polybake.baking.sources.heads.layers import Layers
from polybake.baking.sources.pickled import or_read_it, pickled_file
from polybake.baking.sources.source import HeadKind, Source, TaskHead
from polybake.baking.sources.tokenizer import open_tokenizer
from polybake.baking.steps import Dense, LabelSpans, Lstm, Step
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel, first_fault
from polybake.errors import InputError
from polybake.runtime.tokenization.label_prompt import LabelPrompt
from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.runtime.tokenization.tokenizer_config import TokenizerConfig

GLINER: HeadKind = "GLiNER"
SETTINGS = "gliner_config.json"

_ENCODER = "deberta-v2"
_BODY, _PROJECTION = "token_rep_layer.bert_layer.model.", "token_rep_layer.projection"
_LSTM, _SPANS = "rnn.lstm.", "span_rep_layer.span_rep_layer."
_HEAD = (f"{_PROJECTION}.", "rnn.", "span_rep_layer.", "prompt_rep_layer.")
#: Two linear layers with a ReLU and dropout between. Source: gliner ``create_projection_layer``.
_FIRST, _SECOND = 0, 3
_PAIRS = {
    "start": f"{_SPANS}project_start",
    "end": f"{_SPANS}project_end",
    "span": f"{_SPANS}out_project",
    "of_label": "prompt_rep_layer",
}

#: Tokens of a row for each word: DeBERTa's positions are relative, and its tokenizer has no limit.
_TOKENS_A_WORD = 4


class GlinerConfig(JsonModel, KnownKeys):
    """gliner_config.json: the keys that decide the computation, with gliner's defaults."""

    # Those of training, beside the usual.
    passed_over: ClassVar[Collection[str]] = PASSED_OVER | {
        *("fine_tune", "freeze_token_rep", "num_post_fusion_layers", "id_to_classes", "model_name"),
        *("max_types", "max_neg_type_ratio", "neg_spans_ratio", "random_drop", "shuffle_types"),
        *("token_loss_coef", "span_loss_coef", "loss_alpha", "loss_gamma", "loss_reduction"),
        *("lr_encoder", "lr_others", "weight_decay_encoder", "weight_decay_other", "num_steps"),
        *("scheduler_type", "warmup_ratio", "train_batch_size", "eval_every", "save_total_limit"),
        *("train_data", "val_data_dir", "root_dir", "log_dir", "prev_path", "size_sup"),
    }

    model_type: Literal["gliner", "gliner_uni_encoder_span"] | None = None
    model_name: str = "microsoft/deberta-v3-small"
    encoder_config: dict[str, Any] | None = None
    span_mode: Literal["markerV0"] = "markerV0"
    hidden_size: Size = 512
    max_width: Size = 12
    max_len: Size = 384
    num_rnn_layers: int = 1
    has_rnn: Literal[True] = True
    subtoken_pooling: Literal["first"] = "first"
    words_splitter_type: Literal["whitespace"] = "whitespace"
    embed_ent_token: Literal[True] = True
    ent_token: str = "<<ENT>>"  # noqa: S105 - no secret
    sep_token: str = "<<SEP>>"  # noqa: S105
    class_token_index: int = -1
    vocab_size: int = -1

    @property
    def adds_tokens(self) -> bool:
        """Whether the library adds its tokens to the tokenizer when it opens the model."""
        return -1 in (self.class_token_index, self.vocab_size)


def open_gliner(folder: ModelFolder) -> Source:
    """Open a folder with gliner_config.json.

    Raises:
        InputError: Something is missing, is another kind of gliner's models, or is not supported.
    """
    config = folder.read(
        SETTINGS,
        GlinerConfig,
        needed=True,
        remedy="polybake bakes gliner's span models of DeBERTa (span_mode markerV0)",
    )
    given = _encoder_settings(folder, config)
    tokens = TokenizerConfig.of(folder).limit
    most = tokens if tokens and tokens < 2**31 else _TOKENS_A_WORD * config.max_len
    positions = given.max_position_embeddings
    tokenizer = open_tokenizer(folder, max_seq_length=min(most, positions)).cut_at(most)
    tokenizer, label = _with_tokens(folder, config, tokenizer)
    if config.vocab_size != -1 and config.encoder_config is None:
        given = given.model_copy(update={"vocab_size": config.vocab_size})
    elif config.adds_tokens:
        rows = tokenizer.untruncated.get_vocab_size()
        given = given.model_copy(update={"vocab_size": rows})
    file = folder.file("model.safetensors") or pickled_file(folder)
    if file is None:
        raise InputError(
            f"{folder.path}: has no model.safetensors; save the model with a recent gliner"
            f"{or_read_it(folder)}"
        )
    encoder = Checkpoint(_ENCODER, ENCODERS[_ENCODER], given, (file,), ignored=_HEAD, prefix=_BODY)
    return Source(
        encoder=encoder,
        tokenizer=tokenizer,
        folder=folder,
        head=TaskHead(GLINER, partial(_steps, config, file, label)),
        pair_prompt=LabelPrompt(config.ent_token, config.sep_token, config.max_len),
    )


def _encoder_settings(folder: ModelFolder, config: GlinerConfig) -> Any:
    """Return the configuration of the encoder, which older folders leave to another repository."""
    kind, place = ENCODERS[_ENCODER].Config, folder.path / SETTINGS
    remedy = "run it with gliner, or choose a model of DeBERTa-v3"
    if config.encoder_config is None:
        if folder.file("config.json") is None:
            raise InputError(
                f"{place}: has no encoder_config; put config.json and the tokenizer's files of "
                f"{config.model_name} into the folder, which gliner would download"
            )
        return folder.read("config.json", kind, remedy=remedy)
    found = config.encoder_config.get("model_type", _ENCODER)
    if found != _ENCODER:
        raise InputError(f"{place}: encoder_config is of {found!r}, expected {_ENCODER}; {remedy}")
    try:
        read: EncoderConfig = kind.model_validate_json(json.dumps(config.encoder_config))
    except ValidationError as error:
        raise InputError(f"{place}: encoder_config.{first_fault(error)}; {remedy}") from error
    folder.allowed.check(place, read, remedy)
    return read


def _with_tokens(
    folder: ModelFolder, config: GlinerConfig, tokenizer: BakedTokenizer
) -> tuple[BakedTokenizer, int]:
    """Return the tokenizer with gliner's own tokens, and the id of the one before labels.

    Source: gliner ``BaseGLiNER._resize_token_embeddings``.
    """
    if config.adds_tokens:
        made = Tokenizer.from_str(tokenizer.json)
        own = ("[FLERT]", config.ent_token, config.sep_token)
        made.add_special_tokens([AddedToken(token, normalized=False) for token in own])
        tokenizer = tokenizer.with_parts(added_tokens=json.loads(made.to_str())["added_tokens"])
    label = tokenizer.id_of(config.ent_token)
    if label is None or config.class_token_index not in (-1, label):
        raise InputError(
            f"{folder.path / SETTINGS}: class_token_index = {config.class_token_index}, and the "
            f"tokenizer's id of {config.ent_token!r} is {label}; use the tokenizer that was saved "
            "with the model"
        )
    return tokenizer, label


def _steps(config: GlinerConfig, file: Path, label: int) -> list[Step]:
    """Return the layers behind the encoder.

    Raises:
        InputError: One is missing or damaged, or there is another.
    """
    found = {one.name for one in stored_tensors(file) if one.name.startswith(_HEAD)}
    projection = [_PROJECTION] if f"{_PROJECTION}.weight" in found else []
    linear = [f"{name}.{place}" for name in _PAIRS.values() for place in (_FIRST, _SECOND)]
    lstm = [
        f"{kind}_l{layer}{way}"
        for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        for layer in range(config.num_rnn_layers)
        for way in ("", "_reverse")
    ]
    read = {f"{name}.{part}" for name in (*linear, *projection) for part in ("weight", "bias")}
    if unread := sorted(found - read - {_LSTM + name for name in lstm}):
        raise InputError(
            f"{file}: unexpected {', '.join(unread[:3])}; polybake bakes gliner's span models "
            "(span_mode markerV0) without further layers"
        )
    layers = Layers((file,))

    def pair(name: str) -> tuple[Dense, Dense]:
        return layers.dense(f"{name}.{_FIRST}", "relu"), layers.dense(f"{name}.{_SECOND}")

    context = None
    if lstm:
        context = Lstm(
            hidden=config.hidden_size // 2,
            layers=config.num_rnn_layers,
            bidirectional=True,
            weights={name: layers.array(_LSTM + name) for name in lstm},
        )
    spans = LabelSpans(
        label=label,
        width=config.max_width,
        context=context,
        **{name: pair(place) for name, place in _PAIRS.items()},
    )
    return [*map(layers.dense, projection), spans]
