"""Check that a tokenizer splits texts at gaps, like clients that find words."""

from collections.abc import Sequence

from polybake.baking.tokenizer.words import stretches
from polybake.base.modelfile.fixture import Case
from polybake.errors import CheckFailed
from polybake.runtime.tokenizer import BakedTokenizer


def check_split(tokenizer: BakedTokenizer, golden: Sequence[Case]) -> None:
    """Compare the ids of golden texts with those of their stretches.

    Raises:
        CheckFailed: The ids of a text differ.
    """
    for case in golden:
        for row in case.texts:
            text = row if isinstance(row, str) else row[1]
            parts = stretches(text)
            if len(parts) < 2:
                continue
            found = [token for one in tokenizer.bare(parts) for token in one.ids]
            whole = tokenizer.bare([text])[0].ids
            if found[: len(whole)] != whole:
                raise CheckFailed(
                    f"case {case.id}: the tokenizer makes {whole[:20]} of a text and {found[:20]} "
                    "of what lies between its gaps, so that no word's tokens are known; nothing "
                    "was written; take a model whose tokenizer splits at white space"
                )
