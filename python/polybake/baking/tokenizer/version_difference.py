"""Find where transformers 5 and transformers 4 get different token ids from a tokenizer.json.

Version 4 kept the file. Version 5 keeps its vocabulary, and its classes make the rest anew.
"""

import json
from collections.abc import Mapping
from typing import Any, get_args

from tokenizers import Tokenizer

from polybake.baking.tokenizer.class_parts import ClassParts
from polybake.baking.tokenizer.known_classes import CLASSES, KEEPING, class_of
from polybake.baking.tokenizer.model_config import ModelConfig
from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig
from polybake.baking.tokenizer.tokenizer_json import Component, TokenizerJson
from polybake.base.files.model_folder import ModelFolder
from polybake.base.modelfile.manifest import TokenizerDifference, TokenizerPart

#: Texts by which parts are told apart: kinds of white space, case, accents, width, quotes, digits,
#: punctuation, marks of words and bytes, scripts, emoji and signs that are dropped.
TEXTS = [
    "The water's edge, and the OLD Harbour: don't stop!",
    "  two  spaces \t tab\r\nline\n\n end  ",
    "\u3000wide\u00a0space\u2003x\u200b\u200d\ufeff\u00ad\x00\x7f\ufffd y",
    "na\u00efve caf\u00e9 e\u0301e a\u0300\u0316b \u0130I\u0131 \u1e9e\u00df \u03a3\u03c2",
    "\uff21\uff22\uff43 \ufb01x \u2460\u2461 \u00bd \u2122 \u210c\U0001d518",
    "``quoted'' \u201cquoted\u201d 'll 've 'S",
    "1234567890 2023-04-05 3.14159 12,500 1st A1B22C333",
    "a.b,c;d:e!f?g(h)[i]{j}<k>/l\\m|n#o$p%q&r*s+t=u~v^w_x`y@z --- ...",
    "\u2581the \u2581\u2581 the\u2581water \u0120the ##ing",
    "\u4e2d\u6587\u5b57 \u304b\u306a\uff76\uff85 \ud55c\uad6d \u0e20\u0e32\u0e29\u0e32",
    "\u0395\u03bb\u03bb \u0420\u0443\u0441\u0441 \u0639\u0631\u0628 \u0939\u093f\u0928\u094d",
    "\U0001f469\u200d\U0001f680 \u2603 \u2600\ufe0f \U0001f1ea\U0001f1fa",
    "camelCase snake_case http://a.example/b?c=1 " + "x" * 120,
]

#: Stands in for a vocabulary, which may take a second to read.
_SMALL: dict[str, object] = {
    "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
    "added_tokens": [],
    "post_processor": None,
}


def version_difference(
    folder: ModelFolder, config: TokenizerConfig, model: ModelConfig, data: TokenizerJson
) -> TokenizerDifference | None:
    """Return what transformers 5 makes differently; None if its ids are those of tokenizer.json."""
    name = class_of(config, model)
    in_bytes = any(part.type == "ByteLevel" for part in data.parts("pre_tokenizer"))
    # Source: transformers AutoTokenizer, which keeps the files of Llama 3.
    if name in KEEPING or (name == "LlamaTokenizer" and in_bytes):
        return None
    known = CLASSES.get(name)
    if known is None:
        return TokenizerDifference(tokenizer_class=name)
    if not known.fits(data):
        return TokenizerDifference(tokenizer_class=name, parts=("model",))
    parts = _other_parts(folder, data, known.parts(config, data))
    return TokenizerDifference(tokenizer_class=name, parts=parts) if parts else None


def _other_parts(
    folder: ModelFolder, data: TokenizerJson, spec: ClassParts
) -> tuple[TokenizerPart, ...]:
    """Return the parts for which a class's own give other ids."""
    _, tokenizer = data.model_copy(update=_SMALL).make(folder)
    others: dict[str, object] = {}
    if _plain(tokenizer.normalizer) != _plain(spec.normalizer):
        others["normalizer"] = _component(spec.normalizer)
    if _plain(tokenizer.pre_tokenizer) != _plain(spec.pre_tokenizer):
        others["pre_tokenizer"] = _component(spec.pre_tokenizer)
    model = _remade(data.model, spec)
    if _options(data.model) != _options(model):
        others["model"] = model
    if not others:
        return ()
    ids = _ids(data.make(folder)[1])

    def differ(parts: dict[str, object]) -> bool:
        return _ids(data.model_copy(update=parts).make(folder)[1]) != ids

    if not differ(others):
        return ()
    names = tuple(part for part in get_args(TokenizerPart) if part in others)
    # Where only all of them together give other ids, all are named.
    return tuple(part for part in names if differ({part: others[part]})) or names


def _ids(tokenizer: Tokenizer) -> list[list[int]]:
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return [encoding.ids for encoding in tokenizer.encode_batch(TEXTS, add_special_tokens=False)]


def _plain(part: Any) -> list[object]:
    """Return the members of a normalizer or a pre-tokenizer, however it is written."""
    if part is None:
        return []
    return [member.model_dump() for member in Component.model_validate(_saved(part)).parts]


def _component(part: Any) -> Component | None:
    return None if part is None else Component.model_validate(_saved(part))


def _saved(part: Any) -> object:
    return json.loads(part.__getstate__())


def _remade(model: Mapping[str, Any], spec: ClassParts) -> dict[str, Any]:
    """Return the model with the class's options; a class keeps what it does not set."""
    vocabulary = {key: model[key] for key in ("vocab", "merges") if key in model}
    unknown = {"WordPiece": "unk_token", "Unigram": "unk_id"}.get(spec.model, "")
    own = {unknown: model[unknown]} if unknown in model else {}
    return {"type": spec.model, **vocabulary, **own, **spec.options}


def _options(model: Mapping[str, Any]) -> dict[str, object]:
    """Return a model's options that are not null, false or empty."""
    others = ("type", "vocab", "merges", "dropout")
    return {key: value for key, value in model.items() if value and key not in others}
