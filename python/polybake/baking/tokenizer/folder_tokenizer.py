"""The tokenizer of a model's folder, with its limits and its padding baked in."""

import json
from collections.abc import Sequence

from tokenizers import Tokenizer

from polybake.baking.tokenizer.added_tokens import check_added_edges, missing_tokens
from polybake.baking.tokenizer.known_classes import rebuilt_class
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.baking.tokenizer.older_vocabularies import VOCABULARIES, check_tokenizer_json, convert
from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig
from polybake.baking.tokenizer.tokenizer_json import (
    Component,
    TokenizerJson,
    read_tokenizer,
    tokens_behind,
)
from polybake.baking.tokenizer.version_difference import version_difference
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer, Side

_FILE = "tokenizer.json"

#: The settings of a limit and of a padding token that only the user knows, and what they mean.
_LIMIT, _PAD = '"model_max_length": N', '"pad_token": "P"'
_MEANT = {
    _LIMIT: "N is the most tokens of a text, which the model card says, or max_position_embeddings "
    "in the model's config.json",
    _PAD: "P is the token that fills up rows, which the model's own tokenizer_config.json names",
}
#: The usual names of the padding token.
_PADDING = ("[PAD]", "<pad>", "<PAD>", "<|padding|>", "<|pad|>")


def open_tokenizer(
    folder: ModelFolder, *, max_seq_length: int | None = None, lowercase: bool = False
) -> BakedTokenizer:
    """Read the tokenizer of a model's folder and bake its limits and padding."""
    note = ""
    if folder.file(_FILE) is None:
        data, note = convert(folder)
    else:
        check_tokenizer_json(folder)
        data = read_tokenizer(folder)
    config = TokenizerConfig.of(folder)
    model = ModelConfig.of(folder)
    max_length = _max_length(folder, config, model, data, max_seq_length)
    side: Side = config.truncation_side
    if "truncation_side" not in config.model_fields_set and data.truncation is not None:
        side = "left" if data.truncation.direction == "Left" else "right"
    rebuilt = rebuilt_class(config, model)
    if rebuilt is not None and not rebuilt.fits(data):
        rebuilt = None
    baked = data if rebuilt is None else rebuilt.rebuild(config, data)
    differs = None if note else version_difference(folder, config, model, baked)
    baked = _with_end(config, baked).cut_at(max_length, side).model_copy(update={"padding": None})
    if lowercase:
        baked = _lowercased(baked)
    text, tokenizer = baked.make(folder)
    if missing := missing_tokens(folder, config, baked, tokenizer):
        added = [*baked.added_tokens, *missing]
        text, tokenizer = baked.model_copy(update={"added_tokens": added}).make(folder)
    special = tokenizer.num_special_tokens_to_add(False)
    if max_length < special:
        raise InputError(
            f"{folder.path}: max length {max_length} is below the tokenizer's {special} special "
            f"tokens; set max_seq_length in sentence_bert_config.json to {special + 1} or more"
        )
    if rebuilt is not None:
        rebuilt.check_edges(config, tokenizer)
    check_added_edges(config, tokenizer)
    pad_id = _pad_id(config, model, data, tokenizer)
    if pad_id is None:
        raise _unknown(folder, ["no padding token is known"], [_padding(tokenizer)])
    return BakedTokenizer(text, max_length, pad_id, config.padding_side, note, differs)


def with_tokenizer(folders: Sequence[ModelFolder]) -> ModelFolder:
    """The first of some folders with a tokenizer.json, else with older files, else the first."""
    for names in ((_FILE,), VOCABULARIES):
        for folder in folders:
            if any(folder.file(name) is not None for name in names):
                return folder
    return folders[0]


def _pad_id(
    config: TokenizerConfig, model: ModelConfig, data: TokenizerJson, tokenizer: Tokenizer
) -> int | None:
    content = config.token("pad_token")
    configured = None if content is None else tokenizer.token_to_id(content)
    shipped = None if data.padding is None else data.padding.pad_id
    numbers = (configured, shipped, model.pad_token_id)
    return next((number for number in numbers if number is not None and number >= 0), None)


def _unknown(folder: ModelFolder, missing: Sequence[str], keys: Sequence[str]) -> InputError:
    """The error of facts that no file has, with the settings that would say them.

    A limit is not guessed: one that is too small would cut texts in silence.
    """
    listed = ", ".join(keys)
    remedy = f"set in its tokenizer_config.json: {listed}"
    if folder.file("tokenizer_config.json") is None:
        remedy = f"write the file tokenizer_config.json there: {{{listed}}}"
    meant = "".join(f"; {sign}" for key, sign in _MEANT.items() if key in keys)
    return InputError(f"{folder.path}: {', and '.join(missing)}; {remedy}{meant}")


def _padding(tokenizer: Tokenizer) -> str:
    """The setting of the padding token, by what the vocabulary calls so."""
    known = next((token for token in _PADDING if tokenizer.token_to_id(token) is not None), None)
    return _PAD if known is None else f'"pad_token": {json.dumps(known)}'


def _max_length(
    folder: ModelFolder,
    config: TokenizerConfig,
    model: ModelConfig,
    data: TokenizerJson,
    length: int | None,
) -> int:
    """Apply sentence-transformers' rule for ``max_seq_length``, as far as the positions reach.

    Source: sentence-transformers ``Transformer``.
    """
    rows, held = model.position_rows, model.tokens_held
    if length is not None:
        if rows is not None and length > rows:
            raise InputError(
                f"{folder.path}: max length {length} exceeds max_position_embeddings {rows}; "
                "lower max_seq_length in sentence_bert_config.json"
            )
        return length if held is None else min(length, held)
    limits = [limit for limit in (config.limit, held) if limit is not None]
    # transformers writes 1e30 for "no limit".
    if not limits or not 0 < min(limits) < 2**31:
        missing, keys = [f"no length limit is known (found {limits})"], [_LIMIT]
        tokenizer = data.make(folder)[1]
        if _pad_id(config, model, data, tokenizer) is None:
            missing, keys = [*missing, "no padding token is"], [*keys, _padding(tokenizer)]
        raise _unknown(folder, missing, keys)
    return min(limits)


def _lowercased(tokenizer: TokenizerJson) -> TokenizerJson:
    """Lowercase before everything else, unless that is done already.

    Source: sentence-transformers ``Transformer``, ``do_lower_case``.
    """
    parts = tokenizer.parts("normalizer")
    if any(part.type == "Lowercase" for part in parts):
        return tokenizer
    normalizers = [Component(type="Lowercase"), *parts]
    sequence = Component(type="Sequence", normalizers=normalizers)
    return tokenizer.model_copy(update={"normalizer": sequence})


def _with_end(config: TokenizerConfig, data: TokenizerJson) -> TokenizerJson:
    """Return the tokenizer that puts ``eos_token`` behind each text, where the model's code does.

    Source: ``tokenization_qwen.Qwen2TokenizerFast.update_post_processor`` of gte-Qwen2.
    """
    if not config.qwen_of_gte:
        return data
    end = config.token("eos_token")
    known = {token.get("content"): token.get("id") for token in data.added_tokens}
    if config.add_eos_token is not True or end not in known:
        key, expected = ("eos_token", "a token that tokenizer.json adds")
        if config.add_eos_token is not True:
            key, expected = "add_eos_token", "true, as the code in auto_map ends texts"
        raise config.refused(
            key, expected, "correct it, or leave auto_map out to end texts as tokenizer.json does"
        )
    return data.model_copy(update={"post_processor": tokens_behind([(end, known[end])])})
