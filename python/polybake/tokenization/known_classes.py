"""transformers' tokenizer classes that make anew what tokenizer.json says, and who gets which."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from polybake.tokenization.rebuilt_class import Data, RebuiltClass
from polybake.tokenization.tokenizer_config import TokenizerConfig

#: The class of a model that names none, by model_type.
_OF_MODELS = {
    **dict.fromkeys(
        (
            "bert",
            "convbert",
            "distilbert",
            "electra",
            "ernie",
            "layoutlm",
            "megatron-bert",
            "mobilebert",
            "nomic_bert",
            "squeezebert",
        ),
        "BertTokenizer",
    ),
    **dict.fromkeys(
        ("data2vec-text", "ibert", "longformer", "roberta", "roberta-prelayernorm"),
        "RobertaTokenizer",
    ),
    **dict.fromkeys(("gte", "jina_embeddings_v3", "xlm-roberta", "xmod"), "XLMRobertaTokenizer"),
    **dict.fromkeys(("qwen2", "qwen3"), "Qwen2Tokenizer"),
    **dict.fromkeys(("mt5", "t5"), "T5Tokenizer"),
    "albert": "AlbertTokenizer",
    "camembert": "CamembertTokenizer",
    "deberta-v2": "DebertaV2Tokenizer",
    "mpnet": "MPNetTokenizer",
}
#: Models whose tokenizer.json is kept, whatever class they name.
_KEPT = ("mistral", "modernbert", "modernbert-decoder", "nystromformer", "umt5", "xlm-roberta-xl")
#: Models that get their own class, whatever class they name.
_NOT_DECLARED = ("qwen2",)


def rebuilt_class(config: TokenizerConfig, model: Mapping[str, object]) -> RebuiltClass | None:
    """The class that transformers takes, or None for one that keeps tokenizer.json.

    Args:
        config: May name the class.
        model: config.json.

    Raises:
        InputError: the name is no text.

    Source: transformers ``AutoTokenizer.from_pretrained``.
    """
    kind = model.get("model_type")
    own = _OF_MODELS.get(kind) if isinstance(kind, str) else None
    declared = config.name("tokenizer_class") or model.get("tokenizer_class")
    if kind in _KEPT:
        return None
    if not isinstance(declared, str) or kind in _NOT_DECLARED:
        return CLASSES.get(own or "")
    return CLASSES.get(declared.removesuffix("Fast"))


def _parts(component: object) -> list[dict[str, object]]:
    """A normalizer or pre-tokenizer, or the members of a Sequence of them."""
    if not isinstance(component, dict):
        return []
    inner = component.get("normalizers") or component.get("pretokenizers")
    if not isinstance(inner, list):
        return [component]
    return [found for part in inner for found in _parts(part)]


def _has(component: str, kind: str) -> Callable[[Data], bool]:
    return lambda data: any(part.get("type") == kind for part in _parts(data.get(component)))


def _byte_prefix(data: Data) -> bool:
    return any(
        part.get("type") == "ByteLevel" and part.get("add_prefix_space") is True
        for part in _parts(data.get("pre_tokenizer"))
    )


def _piece_prefix(data: Data) -> bool:
    """Metaspace's, which older files write as ``add_prefix_space``."""
    return any(
        part.get("type") == "Metaspace"
        and part.get("prepend_scheme", "always") != "never"
        and part.get("add_prefix_space", True) is True
        for part in _parts(data.get("pre_tokenizer"))
    )


_BERT = RebuiltClass("WordPiece", ("cls_token", "[CLS]"), ("sep_token", "[SEP]"), "[UNK]")
_ROBERTA = RebuiltClass(
    "BPE",
    ("cls_token", "<s>"),
    ("sep_token", "</s>"),
    flags={"add_prefix_space": (False, _byte_prefix)},
)
_XLM_ROBERTA = RebuiltClass(
    "Unigram",
    ("bos_token", "<s>"),
    ("eos_token", "</s>"),
    flags={"add_prefix_space": (True, _piece_prefix)},
)

#: By name, without ``Fast``.
CLASSES = {
    **dict.fromkeys(
        (
            "BertTokenizer",
            "DistilBertTokenizer",
            "ElectraTokenizer",
            "LayoutLMTokenizer",
            "LxmertTokenizer",
            "MobileBertTokenizer",
            "SqueezeBertTokenizer",
        ),
        _BERT,
    ),
    "MPNetTokenizer": RebuiltClass(
        "WordPiece", ("cls_token", "<s>"), ("sep_token", "</s>"), "[UNK]"
    ),
    **dict.fromkeys(
        ("BartTokenizer", "LEDTokenizer", "LongformerTokenizer", "RobertaTokenizer"), _ROBERTA
    ),
    "Qwen2Tokenizer": RebuiltClass("BPE", flags={"add_prefix_space": (False, _byte_prefix)}),
    "XLMRobertaTokenizer": _XLM_ROBERTA,
    "CamembertTokenizer": _XLM_ROBERTA,
    "T5Tokenizer": RebuiltClass("Unigram", last=("eos_token", "</s>")),
    "AlbertTokenizer": RebuiltClass(
        "Unigram",
        ("cls_token", "[CLS]"),
        ("sep_token", "[SEP]"),
        flags={
            "do_lower_case": (True, _has("normalizer", "Lowercase")),
            "keep_accents": (False, lambda data: not _has("normalizer", "StripAccents")(data)),
        },
    ),
    "DebertaV2Tokenizer": RebuiltClass(
        "Unigram",
        ("cls_token", "[CLS]"),
        ("sep_token", "[SEP]"),
        flags={
            "do_lower_case": (False, _has("normalizer", "Lowercase")),
            "split_by_punct": (False, _has("pre_tokenizer", "Punctuation")),
        },
    ),
}
