"""tokenizer.json with everything baked in that tokenisation needs, so that a client only pads."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

from tokenizers import Encoding, Tokenizer

from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.manifest import NO_LIMIT, Contract, TokenizerDifference
from polybake.errors import InputError
from polybake.runtime.tokenization.added_edges import check_added_edges
from polybake.runtime.tokenization.added_tokens import missing_tokens
from polybake.runtime.tokenization.known_classes import rebuilt_class
from polybake.runtime.tokenization.model_config import ModelConfig
from polybake.runtime.tokenization.qwen_of_gte import with_end
from polybake.runtime.tokenization.tokenizer_config import TokenizerConfig
from polybake.runtime.tokenization.tokenizer_json import (
    Component,
    Side,
    TokenizerJson,
    read_tokenizer,
    truncation,
)
from polybake.runtime.tokenization.version_difference import version_difference

#: The settings of a limit and of a padding token that only the user knows, and what they mean.
_LIMIT, _PAD = '"model_max_length": N', '"pad_token": "P"'
_MEANT = {
    _LIMIT: "N is the most tokens of a text, which the model card says, or max_position_embeddings "
    "in the model's config.json",
    _PAD: "P is the token that fills up rows, which the model's own tokenizer_config.json names",
}
#: The usual names of the padding token.
_PADDING = ("[PAD]", "<pad>", "<PAD>", "<|padding|>", "<|pad|>")


@dataclass(frozen=True)
class BakedTokenizer:
    """A tokenizer in the form that the model file carries.

    Attributes:
        json: The whole tokenizer.json: truncation set if there is a limit, padding null.
        max_length: The most tokens of a text, with special tokens, or `NO_LIMIT`.
        pad_id: The id of padding.
        pad_side: The side that is padded.
        note: A sentence for the user on where it comes from.
        differs: What transformers 5 makes differently of the tokenizer.json that it is; None for
            nothing.
    """

    json: str = field(repr=False)
    max_length: int
    pad_id: int
    pad_side: Side
    note: str = field(default="", compare=False)
    differs: TokenizerDifference | None = field(default=None, compare=False)

    @classmethod
    def of(cls, text: str, contract: Contract) -> Self:
        """Return the tokenizer of a model file; its contract holds the other facts."""
        return cls(text, contract.max_length, contract.pad_id, contract.pad_side)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Turn each text into token ids, special tokens included, cut at ``max_length``."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]

    def bare(self, texts: Sequence[str]) -> list[Encoding]:
        """Turn each text into tokens without special tokens, cut at ``max_length``."""
        return self._tokenizer.encode_batch(list(texts), add_special_tokens=False)

    def count(self, text: str) -> int:
        """Count a text's tokens, special tokens included, without cutting it."""
        # A batch, as the library lets other threads run only during batches.
        return len(self.untruncated.encode_batch_fast([text])[0])

    def beginning(self, text: str) -> list[int]:
        """Return the ids of a text without a special token behind it."""
        ids = self.encode([text])[0]
        last = self._tokenizer.get_added_tokens_decoder().get(ids[-1]) if ids else None
        return ids[:-1] if last is not None and last.special else ids

    def token(self, number: int) -> str:
        """Return the token of an id; empty without one, as for rows that fill up a table."""
        return self._tokenizer.id_to_token(number) or ""

    def id_of(self, token: str) -> int | None:
        """Return the id of a token; None if the token is unknown."""
        return self._tokenizer.token_to_id(token)

    def cut_right(self) -> Self:
        """Return the tokenizer that cuts the end of long texts."""
        return self._cut(self.max_length, "right")

    def cut_at(self, max_length: int) -> Self:
        """Return the tokenizer that cuts texts at another limit; `NO_LIMIT` cuts none."""
        return self._cut(max_length, self.cut_side)

    @property
    def cut_side(self) -> Side:
        """The side on which long texts are cut."""
        cut = json.loads(self.json).get("truncation")
        return "left" if cut and cut["direction"] == "Left" else "right"

    def with_parts(self, **parts: object) -> Self:
        """Return the tokenizer with other values of these keys of tokenizer.json."""
        data = json.loads(self.json) | parts
        return replace(self, json=json.dumps(data, ensure_ascii=True, separators=(",", ":")))

    def _cut(self, max_length: int, side: Side) -> Self:
        cut = None if max_length == NO_LIMIT else truncation(max_length, side).model_dump()
        return replace(self.with_parts(truncation=cut), max_length=max_length)

    @property
    def special_tokens(self) -> tuple[int, int]:
        """How many stand before a text, and how many behind it."""
        found = self.untruncated.encode("a")
        own = [place for place, text in enumerate(found.sequence_ids) if text is not None]
        return (own[0], len(found.ids) - 1 - own[-1]) if own else (0, 0)

    @cached_property
    def untruncated(self) -> Tokenizer:
        """The same without a limit."""
        tokenizer = self._read()
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return self._read()

    def _read(self) -> Tokenizer:
        try:
            return Tokenizer.from_str(self.json)
        except Exception as error:  # tokenizers raises bare Exception
            raise InputError(
                f"the tokenizer cannot be read by tokenizers ({error}); bake the model again"
            ) from error


def bake_tokenizer(
    folder: ModelFolder,
    *,
    made: TokenizerJson | None = None,
    note: str = "",
    max_seq_length: int | None = None,
    lowercase: bool = False,
) -> BakedTokenizer:
    """Read the tokenizer of a model's folder and bake its limits and padding.

    Args:
        folder: The folder with tokenizer.json and, if they exist, tokenizer_config.json,
            special_tokens_map.json and config.json.
        made: A tokenizer.json that was made of all these settings, for a folder without one.
        note: A sentence for the user on where it comes from.
        max_seq_length: sentence-transformers' own limit; None takes the tokenizer's and the
            model's.
        lowercase: sentence-transformers' ``do_lower_case``.

    Raises:
        InputError: tokenizer.json is missing or cannot be read, settings beside it contradict it,
            the length limit or padding token is unknown, or the limit is below the number of
            special tokens.
    """
    data = read_tokenizer(folder) if made is None else made
    config = TokenizerConfig.of(folder)
    model = folder.read("config.json", ModelConfig)
    max_length = _max_length(folder, config, model, data, max_seq_length)
    side: Side = config.truncation_side
    if "truncation_side" not in config.model_fields_set and data.truncation is not None:
        side = "left" if data.truncation.direction == "Left" else "right"
    rebuilt = rebuilt_class(config, model) if made is None else None
    if rebuilt is not None and not rebuilt.fits(data):
        rebuilt = None
    baked = data if rebuilt is None else rebuilt.rebuild(config, data)
    differs = version_difference(folder, config, model, baked) if made is None else None
    baked = with_end(config, baked)
    baked = baked.model_copy(update={"truncation": truncation(max_length, side), "padding": None})
    if lowercase:
        baked = _lowercased(baked)
    text, tokenizer = baked.make(folder)
    if made is None and (missing := missing_tokens(folder, config, baked, tokenizer)):
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
    if made is None:
        check_added_edges(config, tokenizer)
    pad_id = _pad_id(config, model, data, tokenizer)
    if pad_id is None:
        raise _unknown(folder, ["no padding token is known"], [_padding(tokenizer)])
    return BakedTokenizer(text, max_length, pad_id, config.padding_side, note, differs)


def _pad_id(
    config: TokenizerConfig, model: ModelConfig, data: TokenizerJson, tokenizer: Tokenizer
) -> int | None:
    content = config.token("pad_token")
    configured = None if content is None else tokenizer.token_to_id(content)
    shipped = None if data.padding is None else data.padding.pad_id
    found = (configured, shipped, model.pad_token_id)
    return next((one for one in found if one is not None and one >= 0), None)


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
    known = next((one for one in _PADDING if tokenizer.token_to_id(one) is not None), None)
    return _PAD if known is None else f'"pad_token": {json.dumps(known)}'


def _max_length(
    folder: ModelFolder,
    config: TokenizerConfig,
    model: ModelConfig,
    data: TokenizerJson,
    given: int | None,
) -> int:
    """Apply sentence-transformers' rule for ``max_seq_length``, as far as the positions reach.

    Source: sentence-transformers ``Transformer``.
    """
    rows, held = model.position_rows, model.tokens_held
    if given is not None:
        if rows is not None and given > rows:
            raise InputError(
                f"{folder.path}: max length {given} exceeds max_position_embeddings {rows}; "
                "lower max_seq_length in sentence_bert_config.json"
            )
        return given if held is None else min(given, held)
    known = [limit for limit in (config.limit, held) if limit is not None]
    # transformers writes 1e30 for "no limit".
    if not known or not 0 < min(known) < 2**31:
        missing, keys = [f"no length limit is known (found {known})"], [_LIMIT]
        tokenizer = data.make(folder)[1]
        if _pad_id(config, model, data, tokenizer) is None:
            missing, keys = [*missing, "no padding token is"], [*keys, _padding(tokenizer)]
        raise _unknown(folder, missing, keys)
    return min(known)


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
