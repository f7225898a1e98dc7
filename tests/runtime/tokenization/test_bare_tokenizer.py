"""Where a text may be parted; test_pair_prompt.py parts whole prompts."""

from __future__ import annotations

import pytest

from models.folders.causal import qwen_tokenizer
from polybake.errors import InputError
from polybake.runtime.tokenization.bare_tokenizer import BareTokenizer
from polybake.runtime.tokenization.tokenizer import BakedTokenizer


@pytest.fixture(name="bare")
def _bare() -> BareTokenizer:
    return BareTokenizer(BakedTokenizer(qwen_tokenizer().to_str(), 100, 0, "right"))


def test_special_tokens_part_a_text(bare: BareTokenizer) -> None:
    """At the first one's beginning and the last one's end."""
    assert bare.cuts("", "a.\n<|im_end|>\n<|im_start|>b", ends=False) == (3, 26)


def test_what_ends_a_text_is_parted_at_once(bare: BareTokenizer) -> None:
    """Or refused, where its first token may be the text's last one, too."""
    assert bare.cuts("a", "<|im_end|>\n", ends=True) == (0, 11)
    assert bare.cuts("a", "", ends=True) == (0, 0)
    with pytest.raises(InputError, match="shares tokens with the text before it"):
        bare.cuts("a", "\n<|im_end|>", ends=True)
