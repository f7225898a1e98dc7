"""tokenizer.json in the forms that published models have, each of a few tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from models.folders.causal import gemma_tokenizer
from models.folders.clip import MERGES as CLIP_MERGES
from models.folders.clip import clip_vocabulary
from models.folders.rotary import pieces_and_bytes
from models.folders.saved import MERGES, byte_vocabulary, unigram_vocabulary, wordpiece_vocabulary

BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
COLBERT = (*BERT, "[unused0]", "[unused1]")
GEMMA = (
    *("<pad>", "<eos>", "<bos>", "<unk>", "<mask>"),
    *("<start_of_image>", "<end_of_image>", "<image_soft_token>"),
)
QWEN = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")

#: Qwen's pattern, and GPT-2's that ModernBERT has.
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+"
)


def _edges(made: Tokenizer, first: str, last: str, *, pair: str) -> Tokenizer:
    """Put a token before a text and one behind it, and the same for a pair."""
    tokens = [(token, made.token_to_id(token)) for token in dict.fromkeys((first, last)) if token]
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}".strip(), pair=pair, special_tokens=tokens
    )
    return made


def wordpiece(
    special: Sequence[str] = BERT, *, lowercase: bool = True, chinese: bool = True
) -> Tokenizer:
    """A tokenizer like BERT's."""
    made = Tokenizer(models.WordPiece(wordpiece_vocabulary(*special), unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase, handle_chinese_chars=chinese)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.add_special_tokens(list(special))
    return _edges(made, "[CLS]", "[SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1")


def mpnet() -> Tokenizer:
    """A tokenizer like MPNet's: BERT's pieces between RoBERTa's tokens."""
    special = ("<s>", "<pad>", "</s>", "<unk>", "[UNK]", "<mask>")
    made = Tokenizer(models.WordPiece(wordpiece_vocabulary(*special), unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens(list(special))
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return made


def roberta() -> Tokenizer:
    """A tokenizer like RoBERTa's: bytes."""
    made = _bytes(ROBERTA)
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    made.add_special_tokens([*ROBERTA[:4], AddedToken("<mask>", lstrip=True, special=True)])
    return made


def modernbert() -> Tokenizer:
    """A tokenizer like ModernBERT's: bytes between BERT's tokens."""
    made = _bytes(BERT)
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return _edges(made, "[CLS]", "[SEP]", pair="[CLS] $A [SEP] $B [SEP]")


def xlm_roberta() -> Tokenizer:
    """A tokenizer like XLM-R's: pieces."""
    made = _pieces(*ROBERTA[:4], unk=3, last="<mask>")
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    return _edges(made, "<s>", "</s>", pair="<s> $A </s> </s> $B </s>")


def camembert() -> Tokenizer:
    """A tokenizer like CamemBERT's: pieces, with names that are not used."""
    special = ("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED", "<s>", "</s>")
    made = _pieces(*special, unk=3, last="<mask>")
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return _edges(made, "<s>", "</s>", pair="<s> $A </s> </s> $B </s>")


def deberta() -> Tokenizer:
    """A tokenizer like DeBERTa-v3's: pieces between BERT's tokens."""
    made = _pieces("[PAD]", "[CLS]", "[SEP]", "[UNK]", unk=3, last="[MASK]")
    made.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.NFKC()])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return _edges(made, "[CLS]", "[SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1")


def albert() -> Tokenizer:
    """A tokenizer like ALBERT's: pieces in lower case."""
    made = _pieces("<pad>", "<unk>", "[CLS]", "[SEP]", unk=1, last="[MASK]")
    made.normalizer = normalizers.Sequence(
        [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return _edges(made, "[CLS]", "[SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1")


def t5() -> Tokenizer:
    """A tokenizer like T5's: pieces, with a token behind a text only."""
    made = _pieces("<pad>", "</s>", "<unk>", unk=2, last="<extra_id_0>")
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return _edges(made, "", "</s>", pair="$A </s> $B </s>")


def qwen(*, ends: bool) -> Tokenizer:
    """A tokenizer like Qwen's: bytes; embedding models have a token behind a text."""
    made = _bytes(QWEN)
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    bytes_only = processors.ByteLevel(trim_offsets=False)
    made.post_processor = bytes_only
    if ends:
        _edges(made, "", "<|endoftext|>", pair="$A <|endoftext|> $B <|endoftext|>")
        made.post_processor = processors.Sequence([bytes_only, made.post_processor])
    return made


def gemma() -> Tokenizer:
    """A tokenizer like Gemma's: pieces and bytes between two tokens."""
    made = _pieces_and_bytes(*GEMMA)
    made.normalizer = normalizers.Replace(" ", "\u2581")
    return _edges(made, "<bos>", "<eos>", pair="<bos> $A <eos> <bos> $B <eos>")


def llama() -> Tokenizer:
    """A tokenizer like Llama's and Mistral's: pieces and bytes, with a token before a text only."""
    made = _pieces_and_bytes("<unk>", "<s>", "</s>")
    made.normalizer = normalizers.Sequence(
        [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
    )
    return _edges(made, "<s>", "", pair="<s> $A <s> $B")


def clip() -> Tokenizer:
    """A tokenizer like CLIP's: bytes in lower case, of which a word's last ends in </w>."""
    vocabulary = clip_vocabulary()
    made = Tokenizer(models.BPE(vocabulary, CLIP_MERGES, end_of_word_suffix="</w>"))
    made.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    start, end = "<|startoftext|>", "<|endoftext|>"
    made.add_special_tokens([start, end])
    made.post_processor = processors.RobertaProcessing(
        (end, vocabulary[end]), (start, vocabulary[start])
    )
    return made


def llama_3() -> Tokenizer:
    """A tokenizer like Llama 3's: bytes, with a token before a text only."""
    made = _bytes(("<|begin_of_text|>", "<|end_of_text|>"))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return _edges(made, "<|begin_of_text|>", "", pair="<|begin_of_text|> $A <|begin_of_text|> $B")


def _bytes(special: Sequence[str]) -> Tokenizer:
    made = Tokenizer(models.BPE(byte_vocabulary(*special), MERGES))
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(list(special))
    return made


def _pieces(*special: str, unk: int, last: str) -> Tokenizer:
    scored = [*unigram_vocabulary(*special), (last, 0.0)]
    made = Tokenizer(models.Unigram(scored, unk_id=unk))
    made.decoder = decoders.Metaspace()
    made.add_special_tokens([*special, last])
    return made


def _pieces_and_bytes(*special: str) -> Tokenizer:
    vocabulary = pieces_and_bytes(*special)
    made = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True))
    made.add_special_tokens(list(special))
    return made


#: By the name that a shape gives.
KINDS: dict[str, Callable[[], Tokenizer]] = {
    "albert": albert,
    "bert": wordpiece,
    "bert cased": lambda: wordpiece(lowercase=False),
    "camembert": camembert,
    "clip": clip,
    "colbert": lambda: wordpiece(COLBERT),
    "deberta": deberta,
    "gemma": gemma,
    "gemma of words": gemma_tokenizer,
    "llama": llama,
    "llama 3": llama_3,
    "modernbert": modernbert,
    "mpnet": mpnet,
    "qwen": lambda: qwen(ends=False),
    "qwen embedding": lambda: qwen(ends=True),
    "roberta": roberta,
    "t5": t5,
    "xlm-roberta": xlm_roberta,
}
