"""What a tokenizer class of transformers 5 makes anew, whatever tokenizer.json says.

Each class takes the vocabulary of the file, and these parts from its own code.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tokenizers import Regex, normalizers, pre_tokenizers

from polybake.baking.tokenizer.tokenizer_config import TokenizerConfig

#: The space that pieces begin with.
SPACE = "\u2581"

_QWEN_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CLIP_WORDS = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)


@dataclass(frozen=True)
class ClassParts:
    """The parts that a transformers tokenizer class makes from a folder's settings.

    Attributes:
        model: The type of the model.
        normalizer: None leaves texts as they are.
        pre_tokenizer: Cuts texts before the model does.
        options: The model's options beside its vocabulary that are not null, false or empty.
    """

    model: Literal["WordPiece", "BPE", "Unigram"]
    normalizer: normalizers.Normalizer | None
    pre_tokenizer: pre_tokenizers.PreTokenizer
    options: Mapping[str, object] = field(default_factory=dict)


#: A function of a folder's settings, and of the file's table of replacements, empty without one.
MakeParts = Callable[[TokenizerConfig, bytes], ClassParts]


def bert(config: TokenizerConfig, _: bytes) -> ClassParts:
    """Source: transformers ``BertTokenizer``, ``MPNetTokenizer``."""
    normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=config.flag("tokenize_chinese_chars", default=True),
        strip_accents=config.strip_accents,
        lowercase=config.flag("do_lower_case", default=True),
    )
    options = {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    return ClassParts("WordPiece", normalizer, pre_tokenizers.BertPreTokenizer(), options)


def in_bytes(config: TokenizerConfig, _: bytes) -> ClassParts:
    """Source: transformers ``RobertaTokenizer``, ``DebertaTokenizer``, ``GPT2Tokenizer``."""
    prefix = config.flag("add_prefix_space", default=False)
    return ClassParts("BPE", None, pre_tokenizers.ByteLevel(add_prefix_space=prefix))


def qwen2(config: TokenizerConfig, _: bytes) -> ClassParts:
    """Source: transformers ``Qwen2Tokenizer``."""
    words = pre_tokenizers.Split(Regex(_QWEN_WORDS), "isolated", invert=False)
    prefix = config.flag("add_prefix_space", default=False)
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=False)
    sequence = pre_tokenizers.Sequence([words, pieces])
    return ClassParts("BPE", normalizers.NFC(), sequence)


def clip(config: TokenizerConfig, _: bytes) -> ClassParts:
    """Source: transformers ``CLIPTokenizer``."""
    spaces = normalizers.Replace(Regex(r"\s+"), " ")
    normalizer = normalizers.Sequence([normalizers.NFC(), spaces, normalizers.Lowercase()])
    words = pre_tokenizers.Split(Regex(_CLIP_WORDS), "removed", invert=True)
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=False)
    unknown = config.token("unk_token") or "<|endoftext|>"
    options = {"end_of_word_suffix": "</w>", "unk_token": unknown}
    sequence = pre_tokenizers.Sequence([words, pieces])
    return ClassParts("BPE", normalizer, sequence, options)


def xlm_roberta(config: TokenizerConfig, replacements: bytes) -> ClassParts:
    """Source: transformers ``XLMRobertaTokenizer``."""
    prefix = config.flag("add_prefix_space", default=True)
    return _pieces(_replaced(replacements), prefix=prefix, unknown=3)


def camembert(config: TokenizerConfig, replacements: bytes) -> ClassParts:
    """Source: transformers ``CamembertTokenizer``."""
    prefix = config.flag("add_prefix_space", default=True)
    return _pieces(_replaced(replacements), prefix=prefix, unknown=None)


def t5(_: TokenizerConfig, replacements: bytes) -> ClassParts:
    """Source: transformers ``T5Tokenizer``."""
    return _pieces(_replaced(replacements), prefix=True, unknown=2)


def albert(config: TokenizerConfig, replacements: bytes) -> ClassParts:
    """Source: transformers ``AlbertTokenizer``."""
    keeps = config.flag("keep_accents", default=False)
    lowers = config.flag("do_lower_case", default=True)
    compiled = _replaced(replacements)
    parts: list[normalizers.Normalizer] = [
        *(normalizers.Replace(quotes, '"') for quotes in ("``", "''")),
        *(() if keeps else (normalizers.NFKD(), normalizers.StripAccents())),
        *((normalizers.Lowercase(),) if lowers else ()),
        *(() if compiled is None else (compiled,)),
    ]
    prefix = config.flag("add_prefix_space", default=True)
    return _pieces(normalizers.Sequence(parts), prefix=prefix, unknown=1)


def deberta_v2(config: TokenizerConfig, _: bytes) -> ClassParts:
    """Source: transformers ``DebertaV2Tokenizer``, which leaves out the file's replacements."""
    lowers = config.flag("do_lower_case", default=False)
    parts: list[normalizers.Normalizer] = [
        *((normalizers.Lowercase(),) if lowers else ()),
        normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "),
        normalizers.NFC(),
        normalizers.Strip(left=False, right=True),
    ]
    splits = config.flag("split_by_punct", default=False)
    punctuation = (pre_tokenizers.Punctuation("isolated"),) if splits else ()
    scheme = "always" if config.flag("add_prefix_space", default=True) else "first"
    words = pre_tokenizers.Sequence([*punctuation, pre_tokenizers.Metaspace(SPACE, scheme)])
    return ClassParts("Unigram", normalizers.Sequence(parts), words)


def llama(config: TokenizerConfig, _: bytes) -> ClassParts:
    """Source: transformers ``LlamaTokenizer``."""
    prefix = config.flag("add_prefix_space", default=True, null=True)
    legacy = (config.model_extra or {}).get("legacy")
    scheme = ("always" if legacy else "first") if prefix else "never"
    words = pre_tokenizers.Metaspace(SPACE, scheme, split=False)
    return ClassParts("BPE", None, words, {"byte_fallback": True, "fuse_unk": True})


def gemma(config: TokenizerConfig, _: bytes) -> ClassParts:
    """Source: transformers ``GemmaTokenizer``."""
    unknown = config.token("unk_token") or "<unk>"
    options = {"byte_fallback": True, "fuse_unk": True, "unk_token": unknown}
    words = pre_tokenizers.Split(" ", "merged_with_previous", invert=False)
    return ClassParts("BPE", normalizers.Replace(" ", SPACE), words, options)


def _pieces(
    normalizer: normalizers.Normalizer | None, *, prefix: bool, unknown: int | None
) -> ClassParts:
    """Cut texts at white space; each word begins with a space, or none does.

    ``unknown`` is the id of the unknown token; None leaves it to the vocabulary.
    """
    scheme = "always" if prefix else "never"
    spaces = pre_tokenizers.Metaspace(SPACE, scheme, split=True)
    words = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), spaces])
    options = {} if unknown is None else {"unk_id": unknown}
    return ClassParts("Unigram", normalizer, words, options)


def _replaced(replacements: bytes) -> normalizers.Normalizer | None:
    return normalizers.Precompiled(replacements) if replacements else None
