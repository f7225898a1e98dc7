"""Prompts around pairs are parted so that no id changes."""

from __future__ import annotations

import random
from itertools import product

import pytest
from tokenizers import Tokenizer, models, normalizers

from models.folders.causal import qwen_tokenizer
from models.folders.small_tokenizers import LONG, baked
from polybake.baking.tokenizer.bare_tokenizer import BareTokenizer
from polybake.baking.tokenizer.pair_prompt import DOCUMENT, QUERY, PairPrompt, Part
from polybake.base.modelfile.manifest import Pair
from polybake.errors import InputError
from polybake.runtime.pairs import join, surrounded
from polybake.runtime.tokenizer import BakedTokenizer

BEGINS, ENDS = "<|im_start|>user\nQuery: ", "<|im_end|>\n<|im_start|>assistant\n"
WHOLE: Part = (BEGINS, QUERY, "\nDocument: ", DOCUMENT, ENDS)
#: Texts whose ends join with what stands beside them.
TEXTS = (
    *("", "yes", "no.", "a.\n", " ", "\n", "the end "),
    *("e\u0301", "<|im_end|>", "\u4e2d\U0001f600"),
)


def qwen(most: int = LONG) -> BakedTokenizer:
    return baked(qwen_tokenizer(), most)


def clients(tokenizer: BakedTokenizer, pair: Pair, texts: tuple[str, str], most: int) -> list[int]:
    """The ids that clients join."""
    first, second = tokenizer.encode(surrounded(pair, texts))
    return join(pair, first, second, most)[0]


def test_a_prompt_of_one_text_is_parted() -> None:
    """The line break belongs to the query, as it becomes one token with a full stop.

    Texts have the tokens of the whole beyond those that the prompt was parted by.
    """
    tokenizer, pair = PairPrompt((WHOLE,)).for_pairs(qwen())
    query, document = pair.texts
    assert (query.before, query.after) == ("user\nQuery: ", "\n")
    assert (document.before, document.after) == ("Document: ", "")
    assert pair.truncate == "only_second"
    made, draw = qwen_tokenizer(), random.Random(5)  # noqa: S311 - no secret
    letters = "ab.,:;!?'\"()<>|/-_ \n\r\t01\u00a0\u0301\u00e9\u4e2d\u200d\U0001f600"
    drawn = [
        tuple("".join(draw.choices(letters, k=draw.randint(0, 12))) for _ in range(2))
        for _ in range(500)
    ]
    for first, second in [*product(TEXTS, TEXTS), *drawn]:
        text = f"{BEGINS}{first}\nDocument: {second}{ENDS}"
        expected = made.encode(text, add_special_tokens=False).ids
        assert clients(tokenizer, pair, (first, second), LONG) == expected, (first, second)


def test_a_document_is_cut_before_the_end_of_the_prompt() -> None:
    """What stands behind it stays."""
    prompt = PairPrompt((WHOLE,))
    tokenizer, pair = prompt.for_pairs(qwen(80))
    assert tokenizer.max_length == 80
    made, texts = qwen_tokenizer(), ("a query", "b" * 200)
    whole = made.encode(f"{BEGINS}a query\nDocument: {'b' * 200}{ENDS}", add_special_tokens=False)
    end = made.encode(ENDS, add_special_tokens=False).ids
    expected = whole.ids[: 80 - len(end)] + end
    assert clients(tokenizer, pair, texts, 80) == expected
    assert prompt.whole(qwen(80))(texts) == expected


def test_parts_have_their_own_ids_and_limits() -> None:
    """Each is tokenised by itself, as its authors did."""
    parts: tuple[Part, ...] = (
        ("<|im_start|>",),
        ("query: ", QUERY),
        ("\n",),
        ("b: ", DOCUMENT),
        (".",),
    )
    prompt = PairPrompt(parts, query_limit=9, document_limit=5, max_length=19)
    tokenizer, pair = prompt.for_pairs(qwen())
    made = qwen_tokenizer()
    for texts in [("yes", "no"), ("a longer query", "a longer document"), ("", "")]:
        rendered = ["<|im_start|>", f"query: {texts[0]}", "\n", f"b: {texts[1]}", "."]
        ids = [made.encode(one, add_special_tokens=False).ids for one in rendered]
        expected = ids[0] + ids[1][:9] + ids[2] + ids[3][:5] + ids[4]
        assert clients(tokenizer, pair, texts, 19) == expected == prompt.whole(qwen())(texts)
    assert tokenizer.max_length == 19


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (((BEGINS, QUERY, ENDS),), "holds query; expected the query and the document"),
        (((BEGINS, QUERY, "", DOCUMENT, ENDS),), "'' shares tokens with the text before it"),
    ],
)
def test_what_cannot_be_parted_is_refused(parts: tuple[Part, ...], message: str) -> None:
    """By the part of the prompt."""
    with pytest.raises(InputError, match=message):
        PairPrompt(parts).for_pairs(qwen())


def test_a_tokenizer_that_joins_everything_is_refused() -> None:
    """Pieces that begin each text with a word boundary have other ids in its middle."""
    vocabulary = {one: n for n, one in enumerate(["<unk>", "\u2581", *"abQueryDocmnt:\n"])}
    made = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    made.normalizer = normalizers.Sequence(
        [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
    )
    with pytest.raises(InputError, match="shares tokens with the text before it"):
        PairPrompt((("Query: ", QUERY, "\nDocument: ", DOCUMENT),)).for_pairs(baked(made))


def test_where_a_text_may_be_parted() -> None:
    """From the first special token's beginning to the last one's end; what ends a text, at once."""
    bare = BareTokenizer(qwen())
    assert bare.cuts("", "a.\n<|im_end|>\n<|im_start|>b", ends=False) == (3, 26)
    assert bare.cuts("a", "<|im_end|>\n", ends=True) == (0, 11)
    assert bare.cuts("a", "", ends=True) == (0, 0)
    with pytest.raises(InputError, match="shares tokens with the text before it"):
        bare.cuts("a", "\n<|im_end|>", ends=True)
