"""Patterns that a text can make search forever."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.folders.tiny_folders import write_tokenizer
from polybake.baking.tokenizer.slow_patterns import slow_pattern
from polybake.baking.tokenizer.tokenizer_json import read_tokenizer
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from support.samples.weekly import weekly_but

pytestmark = pytest.mark.slow

_REST = r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"

#: Patterns of models in use.
KNOWN = [
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+{_REST}",
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+|{_UPPER}+{_LOWER}*{_REST}",
    " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+",
    r" {2,}",
    r"\s+$",
    r"(?m)\A(?:.{100}){15}.{36}\K.+",
]


def test_patterns_in_use_get_through() -> None:
    """No pattern of a model in use takes a second."""
    assert slow_pattern(KNOWN) is None


SLOW = [
    *(r"(a+)+$", r"(?:ab|ab)*c", r"^(\p{L}+)*\d", r".*.*=x"),
    *(r"x(a+)+y", r"(\w+\s?)*$", r"([a-z0-9]+-?)*:", r"(\s+)+x", r"(\d+\.?)+%", r"(.+)+\z"),
]


@pytest.mark.parametrize("pattern", weekly_but(4, SLOW))
def test_finds_repetitions_of_repetitions(pattern: str) -> None:
    """The first slow pattern of several is found, wherever its repetition stands."""
    assert slow_pattern([r"\s+", pattern, r"(b+)+$"]) == pattern


_SPLIT = '"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": false'
_REPLACE = '"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": ""'


@pytest.mark.parametrize(
    ("place", "part"),
    [
        ("normalizer", f'{{"type": "Sequence", "normalizers": [{{{_REPLACE}}}]}}'),
        ("normalizer", f'{{{_REPLACE}, "normalizers": [{{"type": "NFC"}}]}}'),
        ("pre_tokenizer", f'{{"type": "Sequence", "pretokenizers": [{{{_SPLIT}}}]}}'),
    ],
)
def test_refuses_a_tokenizer_with_one(place: str, part: str, tmp_path: Path) -> None:
    """Such a pattern can hang a client; the file, the pattern and the remedy are named."""
    write_tokenizer(tmp_path)
    path = tmp_path / "tokenizer.json"
    path.write_text(path.read_text().replace(f'"{place}": ', f'"{place}": {part}, "was": '))
    with pytest.raises(InputError, match=r"json: the pattern '\(a\+\)\+\$' takes too long"):
        read_tokenizer(ModelFolder.at(tmp_path))


def test_searches_nothing_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search runs no file of the folder in which it is started."""
    (tmp_path / "tokenizers.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    assert slow_pattern([r"\s+"]) is None
    assert not (tmp_path / "ran").exists()
