"""The precision in which a graph computes, and the storage of its weights."""

from collections.abc import Sequence
from pathlib import Path

from onnxscript import ir

from polybake.baking.graph.storage import store_narrow, token_tables
from polybake.baking.quantization import int4, int8
from polybake.baking.quantization.calibration import random_texts
from polybake.baking.quantization.float16 import narrow
from polybake.base.modelfile.fixture import Case, Text
from polybake.base.modelfile.manifest import Contract, Storage
from polybake.config import ModelTable
from polybake.errors import InputError
from polybake.runtime.pairs import surrounded
from polybake.runtime.runner import tokenized
from polybake.runtime.tokenizer import BakedTokenizer

#: What makes integers of the weights of matmuls and of tables, by precision.
_QUANTIZE = {"int8": int8.quantize, "int4": int4.quantize}


def stored(settings: ModelTable) -> Storage:
    """How weights are stored: a graph that computes in float16 needs no more digits."""
    return "float16" if settings.precision == "float16" else settings.storage


def is_reduced(settings: ModelTable) -> bool:
    """Whether the precision may change any vector."""
    return (settings.precision, settings.storage) != ("float32", "checkpoint")


def check_storage(settings: ModelTable, model: ir.Model, contract: Contract) -> None:
    """Check that there is what is to be rounded, before any weight is read."""
    if settings.storage != "float16-table":
        return
    if settings.precision in _QUANTIZE:
        raise InputError(
            f'storage = "float16-table": precision = "{settings.precision}" makes integers of the '
            'token table; say storage = "checkpoint"'
        )
    if not any(token_tables(model, contract.vocab_size)):
        raise InputError(
            f'storage = "float16-table": the graph has no float32 table of '
            f"{contract.vocab_size} rows that token ids choose rows of; say storage = "
            '"float16", or "checkpoint"'
        )


def reduce_precision(
    settings: ModelTable,
    model: ir.Model,
    contract: Contract,
    tokenizer: BakedTokenizer,
    golden: Sequence[Case],
    calibration: Sequence[str],
    folder: Path,
) -> None:
    """Reduce the precision of ``model``, whose weights are float32, in place.

    Integers are chosen by the texts of ``calibration``, or by random tokens where there are none.
    The values of ``golden`` must be in float16's range. ``folder`` holds copies of the graph.
    """
    if settings.precision in _QUANTIZE:
        texts = calibration or random_texts(contract, tokenizer)
        rows = texts if contract.pair is None else _pairs(texts, contract, tokenizer)
        _QUANTIZE[settings.precision](model, contract, tokenized(contract, tokenizer, rows), folder)
    if settings.precision == "float16":
        narrow(
            model,
            contract,
            [row for case in golden for row in case.rows(contract.vocab_size)],
            folder,
        )
    store_narrow(model, stored(settings), contract.vocab_size)


def _pairs(texts: Sequence[str], contract: Contract, tokenizer: BakedTokenizer) -> Sequence[Text]:
    """Pair each text with the next; a text that may not be cut is shortened to leave room."""
    others = [*texts[1:], texts[0]]
    if contract.pair is None or contract.pair.truncate == "longest_first":
        return [*zip(texts, others, strict=True)]
    around = sum(len(row.ids) for row in tokenizer.bare([*surrounded(contract.pair, ("", ""))]))
    room = contract.max_length - (around and around + contract.pair.special)
    shorter = [_half(text, room, tokenizer) for text in texts]
    if contract.pair.truncate == "only_second":
        return [*zip(shorter, others, strict=True)]
    return [*zip(others, shorter, strict=True)]


def _half(text: str, limit: int, tokenizer: BakedTokenizer) -> str:
    """The beginning of a text, of no more than half as many tokens as there is room for."""
    while text and 2 * len(tokenizer.bare([text])[0].ids) > limit:
        text = text[: len(text) // 2]
    return text
