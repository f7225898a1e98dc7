"""vocab.txt: BERT's tokenizer and MPNet's."""

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from polybake.baking.sources.tokenizer_files.asked import Asked
from polybake.baking.sources.tokenizer_files.edges import identified, template
from polybake.baking.sources.tokenizer_files.vocabulary_files import read_vocab_txt


def bert(asked: Asked) -> Tokenizer:
    """Source: transformers ``BertTokenizer``."""
    made = _pieces(asked)
    asked.add_tokens(made)
    cls, sep = asked.token("cls_token"), asked.token("sep_token")
    single = [cls, "$A", sep]
    made.post_processor = template(made, single, [*single, "$B:1", f"{sep}:1"], [cls, sep])
    return made


def mpnet(asked: Asked) -> Tokenizer:
    """Source: transformers ``MPNetTokenizer``."""
    made = _pieces(asked)
    asked.add_tokens(made)
    cls, sep = asked.token("cls_token"), asked.token("sep_token")
    made.post_processor = processors.RobertaProcessing(
        identified(made, sep),
        identified(made, cls),
        trim_offsets=True,
        add_prefix_space=False,
    )
    return made


def _pieces(asked: Asked) -> Tokenizer:
    ids = read_vocab_txt(asked.folder)
    made = Tokenizer(models.WordPiece(ids, unk_token=asked.token("unk_token")))
    made.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=asked.flag("tokenize_chinese_chars", default=True),
        strip_accents=asked.config.strip_accents,
        lowercase=asked.flag("do_lower_case", default=True),
    )
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece(prefix="##")
    return made
