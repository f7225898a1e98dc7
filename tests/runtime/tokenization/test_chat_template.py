"""Chat templates are programs of whoever made the model."""

from __future__ import annotations

import pytest

from polybake.runtime.tokenization import chat_template
from polybake.runtime.tokenization.chat_template import rendered

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
    """After a minute; here after two seconds."""
    monkeypatch.setattr(chat_template, "_SECONDS", 2)
    loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    with pytest.raises(ValueError, match="took more than 2 seconds"):
        rendered(loops, CHAT, {})
