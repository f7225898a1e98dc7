"""What stands around every text: a suffix, prefixes that become tokens, and chat templates."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from models.folders.causal import qwen_tokenizer
from models.folders.tiny_folders import write_bert
from polybake.baking.tokenizer import chat_template
from polybake.baking.tokenizer.chat_template import rendered
from polybake.baking.tokenizer.folder_tokenizer import open_tokenizer
from polybake.baking.tokenizer.prompt_tokens import with_prefix_tokens, with_suffix
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

BEFORE, BEHIND = "<|im_start|>", "<|im_end|>\n"


def limited(made: Tokenizer, most: int = 9) -> BakedTokenizer:
    return BakedTokenizer(made.to_str(), 100, 0, "right").cut_at(most)


@pytest.mark.parametrize("text", ["", "a.", "a river that is too long for it", "<|im_end|>"])
def test_it_stays_behind_a_text_that_is_cut(text: str) -> None:
    """As sentence-transformers writes it over the last ids of the whole."""
    made = qwen_tokenizer()
    whole, behind = (made.encode(one).ids for one in (BEFORE + text + BEHIND, BEHIND))
    expected = whole if len(whole) <= 9 else whole[: 9 - len(behind)] + behind
    found = with_suffix(limited(made), [BEFORE], BEHIND)
    assert found.encode([BEFORE + text]) == [expected]


@pytest.mark.parametrize(
    ("suffix", "most", "message"),
    [
        ("\nb", 9, r"'\\nb' shares tokens with the text before it"),
        (BEHIND, 2, "2 tokens stand behind each text, and a row has 2"),
    ],
)
def test_what_is_not_exact_is_refused(suffix: str, most: int, message: str) -> None:
    """A suffix that a text may join, and one that leaves no room."""
    with pytest.raises(InputError, match=message):
        with_suffix(limited(qwen_tokenizer(), most), [BEFORE], suffix)


def test_a_tokenizer_without_digits_is_refused() -> None:
    """The library takes its unknown token for a part of the suffix."""
    made = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "end": 2}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(InputError, match="one token for the ends of 0 and 4"):
        with_suffix(limited(made), [""], " end")


def baked(folder: Path, *added: AddedToken) -> BakedTokenizer:
    write_bert(folder)
    if added:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.add_tokens([*added])
        tokenizer.save(str(folder / "tokenizer.json"))
    return open_tokenizer(ModelFolder.at(folder))


def test_a_token_that_texts_cannot_hold_becomes_one(tmp_path: Path) -> None:
    """The prefix keeps its id as a token, and nothing else changes."""
    before = baked(tmp_path, AddedToken("[Q] ", normalized=True))
    after = with_prefix_tokens(before, ["[Q] "])
    number = after.id_of("[Q] ")
    assert number == before.id_of("[Q] ")
    (plain,) = before.encode(["the boat"])
    assert after.encode(["[Q] the boat"]) == [[plain[0], number, *plain[1:]]]
    assert after.encode(["the boat"]) == [plain]


def test_an_unknown_prefix_stays_text(tmp_path: Path) -> None:
    """A prefix without an id stays text, as no table has a row for it."""
    before = baked(tmp_path)
    after = with_prefix_tokens(before, ["[unused0] ", "query: ", ""])
    texts = ["[unused0] the boat", "query: the boat"]
    assert after.encode(texts) == before.encode(texts)


CHAT = [[{"role": "user", "content": "a <b>"}]]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{% for one in messages %}\n  {{ one.content }}!\n{% endfor %}\n", "  a <b>!\n"),
        ("{{ messages[0]['content'] | tojson }}{{ x }}", '"a <b>"1'),
        (
            "{% for one in [1, 2] %}{% if one == 2 %}{% break %}{% endif %}{{ one }}{% endfor %}",
            "1",
        ),
    ],
)
def test_it_is_rendered_as_transformers_renders_it(template: str, expected: str) -> None:
    """Blocks are trimmed, loops may be left, and HTML is no HTML."""
    assert rendered(template, CHAT, {"x": 1}) == [expected]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ raise_exception('no roles') }}", "ValueError: no roles"),
        ("{{ messages.__class__.__mro__ }}{{ ().__class__.__base__.__subclasses__() }}", "unsafe"),
        ("{% set x = 'a' * 3000000000 %}{{ x | length }}", "Memory"),
        (
            "{% for a in range(99999) %}{{ 'aaaaaaaaaaaaaaaaaaaaaaaa' }}{% endfor %}",
            "renders more than",
        ),
        ("{{ messages ", "TemplateSyntaxError"),
        ("{% include '/etc/passwd' %}", "no loader"),
    ],
)
def test_a_hostile_one_fails(template: str, message: str) -> None:
    """It reaches no file and no class, and has little memory."""
    with pytest.raises(ValueError, match=message):
        rendered(template, CHAT, {})


def test_one_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a minute; here after a second."""
    monkeypatch.setattr(chat_template, "_SECONDS", 1)
    loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    with pytest.raises(ValueError, match="took more than 1 seconds"):
        rendered(loops, CHAT, {})
