"""vocab.txt: BERT's tokenizer and MPNet's."""

from tokenizers import Tokenizer, models, processors

from polybake.baking.sources.tokenizer_files.asked import Asked
from polybake.baking.sources.tokenizer_files.edges import identified, template
from polybake.baking.sources.tokenizer_files.vocabulary_files import read_vocab_txt
from polybake.runtime.tokenization import class_parts


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
    class_parts.bert(asked.config, b"").put_into(made)
    return made
