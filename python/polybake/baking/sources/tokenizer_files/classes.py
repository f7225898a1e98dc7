"""transformers' tokenizer classes that are made of files, and those that no tokenizer.json does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tokenizers import Tokenizer

from polybake.baking.sources.tokenizer_files import byte_fallback, byte_level, unigram, wordpiece
from polybake.baking.sources.tokenizer_files.asked import Asked
from polybake.baking.sources.tokenizer_files.saved_tokens import special
from polybake.runtime.tokenization.tokenizer_config import AddedToken


@dataclass(frozen=True)
class FileClass:
    """A class that makes its tokenizer of files.

    Attributes:
        make: Makes it.
        files: Their names, the vocabulary's first.
        named: The special tokens by key that the settings need not name.
    """

    make: Callable[[Asked], Tokenizer]
    files: tuple[str, ...]
    named: Mapping[str, AddedToken]


def _named(**tokens: str) -> dict[str, AddedToken]:
    """Special tokens by the keys' first words."""
    return {f"{key}_token": special(token) for key, token in tokens.items()}


_BERT = _named(unk="[UNK]", sep="[SEP]", pad="[PAD]", cls="[CLS]", mask="[MASK]")
_DEBERTA = _BERT | _named(bos="[CLS]", eos="[SEP]")
_ENDS = _named(bos="<s>", eos="</s>", unk="<unk>")
_ROBERTA = _ENDS | _named(sep="</s>", cls="<s>", pad="<pad>", mask="<mask>")
_WIDE_MASK = {"mask_token": special("<mask>", lstrip=True)}
_ALBERT = _DEBERTA | _named(unk="<unk>", pad="<pad>")
_TEXT = "<|endoftext|>"

_WORDS, _BYTES = ("vocab.txt",), ("vocab.json", "merges.txt")
_BERTS = (
    "Bert ConvBert DistilBert DPRContextEncoder DPRQuestionEncoder Electra LayoutLM Lxmert "
    "MobileBert SqueezeBert"
)
_MADE = (
    (_BERTS, FileClass(wordpiece.bert, _WORDS, _BERT)),
    ("MPNet", FileClass(wordpiece.mpnet, _WORDS, _ROBERTA | _named(unk="[UNK]") | _WIDE_MASK)),
    ("Bart LED Longformer Roberta", FileClass(byte_level.roberta, _BYTES, _ROBERTA)),
    ("Deberta", FileClass(byte_level.deberta, _BYTES, _DEBERTA)),
    ("GPT2", FileClass(byte_level.gpt2, _BYTES, _named(unk=_TEXT, bos=_TEXT, eos=_TEXT))),
    ("Qwen2", FileClass(byte_level.qwen2, _BYTES, _named(unk=_TEXT, eos=_TEXT, pad=_TEXT))),
    ("XLMRoberta", FileClass(unigram.xlm_roberta, (unigram.XLM_R_FILE,), _ROBERTA)),
    ("Camembert", FileClass(unigram.camembert, (unigram.XLM_R_FILE,), _ROBERTA | _WIDE_MASK)),
    ("Albert", FileClass(unigram.albert, (unigram.T5_FILE,), _ALBERT)),
    ("T5", FileClass(unigram.t5, (unigram.T5_FILE,), _named(eos="</s>", unk="<unk>", pad="<pad>"))),
    ("DebertaV2", FileClass(unigram.deberta_v2, (unigram.DEBERTA_FILE,), _DEBERTA)),
    ("Llama", FileClass(byte_fallback.llama, (byte_fallback.LLAMA_FILE,), _ENDS)),
    (
        "Gemma",
        FileClass(
            byte_fallback.gemma,
            (byte_fallback.LLAMA_FILE,),
            _named(unk="<unk>", bos="<bos>", eos="<eos>", pad="<pad>", mask="<mask>"),
        ),
    ),
)

#: The classes by name.
CLASSES = {f"{name}Tokenizer": made for names, made in _MADE for name in names.split()}

#: Classes of which each does what no tokenizer.json can: it runs a program for a language's words,
#: reads other inputs than texts, or has rules of its own in Python.
_PYTHON_ALONE = (
    "Bartpho BertGeneration BertJapanese Bertweet BioGpt ByT5 Canine CpmAnt CTRL Esm Flaubert FSMT "
    "Luke M2M100 Marian MyT5 Perceiver Phobert ProphetNet RoCBert RoFormer Siglip Tapas XLM"
)
PYTHON_ALONE = frozenset(f"{name}Tokenizer" for name in _PYTHON_ALONE.split())
#: Those of them that are published with a tokenizer.json, which gives other ids: SigLIP's texts are
#: normalised by SentencePiece, which composes what ``tokenizers`` leaves apart or drops.
OTHER_IDS = frozenset({"SiglipTokenizer"})

#: The names of all files that a tokenizer is made of.
FILES = tuple(dict.fromkeys(name for made in CLASSES.values() for name in made.files))
