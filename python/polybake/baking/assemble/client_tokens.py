"""Whether pairs are cut and joined as the model's own tokenizer does."""

from collections.abc import Sequence

from tokenizers import Tokenizer

from polybake.baking.tokenizer.pair_prompt import PairPrompt
from polybake.baking.tokenizer.words import stretches
from polybake.base.modelfile.fixture import Case
from polybake.base.modelfile.manifest import NO_LIMIT, SOUGHT, Pair
from polybake.errors import CheckFailed
from polybake.runtime.tokenizer import BakedTokenizer


def check_joined(
    whole: BakedTokenizer,
    pair: Pair,
    golden: Sequence[Case],
    prompt: PairPrompt | None = None,
) -> None:
    """Compare the ids and types of golden pairs with those of the tokenizer that joins pairs."""
    if prompt is not None:
        _check_prompt(prompt, whole, golden)
        return
    # Where the tokenizer's class gives no types, its post-processor may know of some.
    typed = any(piece.type_id % SOUGHT for piece in pair.pieces)
    tokenizer = Tokenizer.from_str(whole.json)
    tokenizer.no_truncation()
    if whole.max_length != NO_LIMIT:
        tokenizer.enable_truncation(
            whole.max_length, strategy=pair.truncate, direction=pair.truncation_side
        )
    for case in golden:
        for texts, ids, types in zip(case.texts, case.input_ids, case.type_ids or (), strict=True):
            encoding = tokenizer.encode(*texts)
            expected = (ids, tuple(kind % SOUGHT for kind in types))
            kinds = encoding.type_ids if typed else [0] * len(encoding.ids)
            if (tuple(encoding.ids), tuple(kinds)) != expected:
                raise CheckFailed(
                    f"case {case.id}: the tokenizer joins its pair to {encoding.ids[:20]}, and "
                    f"clients would to {[*ids[:20]]}; nothing was written; report the tokenizer's "
                    "post_processor"
                )


def _check_prompt(prompt: PairPrompt, whole: BakedTokenizer, golden: Sequence[Case]) -> None:
    ids_of = prompt.whole(whole)
    for case in golden:
        for pair, ids in zip(case.texts, case.input_ids, strict=True):
            row = ids_of(pair)
            if row != [*ids]:
                raise CheckFailed(
                    f"case {case.id}: the model's prompt has {row[-20:]} at its end, and clients "
                    f"would have {[*ids[-20:]]}; nothing was written; report the prompt"
                )


def check_split(tokenizer: BakedTokenizer, golden: Sequence[Case]) -> None:
    """Compare the ids of golden texts with those of their stretches."""
    for case in golden:
        for row in case.texts:
            text = row if isinstance(row, str) else row[1]
            parts = stretches(text)
            if len(parts) < 2:
                continue
            tokens = [token for encoding in tokenizer.bare(parts) for token in encoding.ids]
            whole = tokenizer.bare([text])[0].ids
            if tokens[: len(whole)] != whole:
                raise CheckFailed(
                    f"case {case.id}: the tokenizer makes {whole[:20]} of a text and {tokens[:20]} "
                    "of what lies between its gaps, so that no word's tokens are known; nothing "
                    "was written; take a model whose tokenizer splits at white space"
                )
