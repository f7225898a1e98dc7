"""SentencePiece's models of the algorithm Unigram: XLM-R, CamemBERT, ALBERT, T5, DeBERTa-v2."""

from tokenizers import Tokenizer, processors

from polybake.baking.sources.tokenizer_files.asked import Asked
from polybake.baking.sources.tokenizer_files.edges import asked_edges, template
from polybake.baking.sources.tokenizer_files.pieces import (
    Scored,
    check_first,
    listed_tokens,
    scored,
    unigram,
)
from polybake.baking.sources.tokenizer_files.saved_tokens import special
from polybake.baking.sources.tokenizer_files.sentencepiece_model import (
    SentencePieceModel,
    read_sentencepiece,
)
from polybake.runtime.tokenization import class_parts

XLM_R_FILE, T5_FILE, DEBERTA_FILE = "sentencepiece.bpe.model", "spiece.model", "spm.model"


def xlm_roberta(asked: Asked) -> Tokenizer:
    """Source: transformers ``XLMRobertaTokenizer``, ``XLMRobertaConverter``."""
    saved = read_sentencepiece(asked.folder, XLM_R_FILE, "Unigram")
    check_first(asked, XLM_R_FILE, saved, 3)
    *first, last = (asked.token(f"{name}_token") for name in ("bos", "pad", "eos", "unk", "mask"))
    pieces = [*((token, 0.0) for token in first), *scored(saved, 3), (last, 0.0)]
    return _between_bos_and_eos(asked, saved, pieces)


def camembert(asked: Asked) -> Tokenizer:
    """Source: transformers ``CamembertTokenizer``, ``CamembertConverter``."""
    saved = read_sentencepiece(asked.folder, XLM_R_FILE, "Unigram")
    check_first(asked, XLM_R_FILE, saved, 1)
    pad, unk, mask = (asked.token(f"{name}_token") for name in ("pad", "unk", "mask"))
    first = [("<s>NOTUSED", 0.0), (pad, 0.0), ("</s>NOTUSED", 0.0), (unk, 0.0)]
    pieces = [*first, ("<unk>NOTUSED", -100.0), *scored(saved, 1), (mask, 0.0)]
    return _between_bos_and_eos(asked, saved, pieces)


def albert(asked: Asked) -> Tokenizer:
    """Source: transformers ``AlbertTokenizer``."""
    saved = read_sentencepiece(asked.folder, T5_FILE, "Unigram")
    made = unigram(asked, T5_FILE, [*scored(saved)], 1)
    class_parts.albert(asked.config, saved.characters_map).put_into(made)
    asked.add_tokens(made, listed_tokens(saved))
    if asked.config.model_fields_set.isdisjoint(("add_bos_token", "add_eos_token")):
        # The template has the tokens' names by default, whatever names they have.
        ids = [(f"[{key}]", asked.token(f"{key.lower()}_token")) for key in ("CLS", "SEP")]
        made.post_processor = processors.TemplateProcessing(
            single="[CLS]:0 $A:0 [SEP]:0",
            pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
            special_tokens=[(name, made.token_to_id(token)) for name, token in ids],
        )
    else:
        made.post_processor = asked_edges(asked, made)
    return made


def t5(asked: Asked) -> Tokenizer:
    """Source: transformers ``T5Tokenizer``, ``T5Converter``."""
    saved = read_sentencepiece(asked.folder, T5_FILE, "Unigram")
    extra = [f"<extra_id_{number}>" for number in range(asked.settings.extra_ids)]
    pieces = [*scored(saved), *((token, 0.0) for token in reversed(extra))]
    made = unigram(asked, T5_FILE, pieces, 2)
    class_parts.t5(asked.config, saved.characters_map).put_into(made)
    asked.add_tokens(made, (*listed_tokens(saved), *map(special, extra)))
    # The template has the token's name by default, whatever name it has.
    number = made.token_to_id(asked.token("eos_token"))
    made.post_processor = processors.TemplateProcessing(
        single=["$A", "</s>"], pair=["$A", "</s>", "$B", "</s>"], special_tokens=[("</s>", number)]
    )
    return made


def deberta_v2(asked: Asked) -> Tokenizer:
    """Source: transformers ``DebertaV2Tokenizer``, which leaves out the file's replacements."""
    saved = read_sentencepiece(asked.folder, DEBERTA_FILE, "Unigram")
    pieces, wanted = [*scored(saved)], (asked.token("unk_token"), 0.0)
    unknown = pieces.index(wanted) if wanted in pieces else saved.unknown
    made = unigram(asked, DEBERTA_FILE, pieces, unknown)
    class_parts.deberta_v2(asked.config, b"").put_into(made)
    asked.add_tokens(made, listed_tokens(saved))
    cls, sep = asked.token("cls_token"), asked.token("sep_token")
    single = [cls, "$A", sep]
    made.post_processor = template(made, single, [*single, "$B:1", f"{sep}:1"], [cls, sep])
    return made


def _between_bos_and_eos(
    asked: Asked, saved: SentencePieceModel, pieces: list[Scored]
) -> Tokenizer:
    """A tokenizer like XLM-R's, whose unknown token is the fourth piece."""
    made = unigram(asked, XLM_R_FILE, pieces, 3)
    class_parts.xlm_roberta(asked.config, saved.characters_map).put_into(made)
    asked.add_tokens(made, listed_tokens(saved))
    bos, eos = asked.token("bos_token"), asked.token("eos_token")
    single = [bos, "$A", eos]
    made.post_processor = template(made, single, [*single, eos, "$B", eos], [bos, eos])
    return made
