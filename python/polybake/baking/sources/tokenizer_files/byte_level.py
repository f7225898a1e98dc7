"""vocab.json and merges.txt: the tokenizers of bytes, of RoBERTa, DeBERTa, GPT-2 and Qwen2."""

from tokenizers import AddedToken, Tokenizer, models, processors

from polybake.baking.sources.tokenizer_files.asked import Asked
from polybake.baking.sources.tokenizer_files.edges import asked_edges, identified, template
from polybake.baking.sources.tokenizer_files.vocabulary_files import read_merges, read_vocab_json
from polybake.runtime.tokenization import class_parts
from polybake.runtime.tokenization.class_parts import MakeParts


def roberta(asked: Asked) -> Tokenizer:
    """Source: transformers ``RobertaTokenizer``."""
    made = _bytes(asked)
    asked.add_tokens(made)
    cls, sep = asked.token("cls_token"), asked.token("sep_token")
    made.post_processor = processors.RobertaProcessing(
        identified(made, sep),
        identified(made, cls),
        trim_offsets=asked.settings.trim_offsets,
        add_prefix_space=asked.config.flag("add_prefix_space", default=False),
    )
    return made


def deberta(asked: Asked) -> Tokenizer:
    """Source: transformers ``DebertaTokenizer``."""
    made = _bytes(asked)
    asked.add_tokens(made)
    cls, sep = asked.token("cls_token"), asked.token("sep_token")
    single = [cls, "$A", sep]
    made.post_processor = template(made, single, [*single, sep, "$B", sep], [cls, sep])
    return made


def gpt2(asked: Asked) -> Tokenizer:
    """Source: transformers ``GPT2Tokenizer``."""
    made = _bytes(asked)
    asked.add_tokens(made)
    made.post_processor = asked_edges(asked, made)
    return made


def qwen2(asked: Asked) -> Tokenizer:
    """Source: transformers ``Qwen2Tokenizer``."""
    made = _bytes(asked, class_parts.qwen2)
    asked.add_tokens(made)
    # The class adds its special tokens once more, as texts alone.
    named = (token for token in asked.named.values() if token is not None)
    again = (*named, *(asked.mapped if asked.extra is None else asked.extra))
    made.add_tokens([AddedToken(token.content, special=True) for token in again])
    made.post_processor = asked_edges(asked, made)
    return made


def _bytes(asked: Asked, parts: MakeParts = class_parts.in_bytes) -> Tokenizer:
    ids = read_vocab_json(asked.folder)
    merges = read_merges(asked.folder, ids)
    pieces = models.BPE(
        ids, merges, continuing_subword_prefix="", end_of_word_suffix="", fuse_unk=False
    )
    made = Tokenizer(pieces)
    parts(asked.config, b"").put_into(made)
    return made
