"""Random cases: any texts, drawn and searched by hypothesis."""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from pathlib import Path

import pytest
from hypothesis import strategies as st

from faulty.subject import SubjectFiles
from polybake.base.modelfile.container import read_head
from polybake.runtime.tokenizer import BakedTokenizer
from polybake.study.random.search import draw, smallest
from polybake.study.random.texts import BATCH, Drawn, drawn_cases
from polybake.study.random.verify_random import verify_random
from polybake.verification.verdict import Stage, Status
from support.clients.python_client import write_python_client
from support.processes.commandline import polybake as run

pytestmark = pytest.mark.slow

WORDS = st.lists(st.text(max_size=5), max_size=4)


def test_a_seed_gives_the_same_values() -> None:
    """One seed gives the same values each time; another seed gives others."""
    first = draw(WORDS, 30, 1)
    assert first == draw(WORDS, 30, 1)
    assert first != draw(WORDS, 30, 2)
    assert len(first) == 30


def test_the_search_begins_with_what_was_drawn() -> None:
    """The search repeats the drawn values in order, so that known results count again."""
    drawn = draw(WORDS, 30, 1)
    seen = list[list[str]]()
    assert smallest(WORDS, 30, 1, lambda value: bool(seen.append(value))) is None
    assert seen == drawn


def test_the_smallest_is_found() -> None:
    """The smallest of all failing values is found."""
    found = smallest(st.lists(st.integers()), 100, 1, lambda value: sum(value) > 100)
    assert found == [101]


def test_nothing_is_written_where_the_user_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No folder of hypothesis appears in the user's folder."""
    monkeypatch.chdir(tmp_path)
    smallest(st.text(st.characters(categories=["Lo"])), 50, 1, lambda value: len(value) > 2)
    assert [*tmp_path.iterdir()] == []


@pytest.fixture(scope="module")
def tokenizer(every_feed: Path) -> BakedTokenizer:
    head = read_head(every_feed)
    return BakedTokenizer.of(head.tokenizer, head.manifest.contract)


@pytest.fixture(scope="module")
def drawn(every_feed: Path, tokenizer: BakedTokenizer) -> list[Drawn]:
    return draw(drawn_cases(read_head(every_feed).manifest.contract, tokenizer), 400, 1)


@pytest.mark.weekly
def test_calls_have_every_prompt_and_several_texts(drawn: list[Drawn]) -> None:
    """Calls have each prompt or none, and one text or several, some of them empty."""
    assert {one.prompt for one in drawn} == {None, "query", "document"}
    assert {len(one.texts) for one in drawn} == {*range(1, BATCH + 1)}
    assert any("" in one.texts for one in drawn)


def test_texts_have_every_class_of_characters_but_surrogates(drawn: list[Drawn]) -> None:
    """Every text can be encoded."""
    texts = "".join(text for one in drawn for text in one.texts)
    texts.encode("utf-8")
    categories = {unicodedata.category(character) for character in texts}
    assert {category[0] for category in categories} == {*"LMNPSZC"}
    assert len(categories) > 20
    assert "Cs" not in categories
    for kind in ("\u200d", "\u202e", "\uffff", "\U0010ffff", "\u3000", "\ufe0f"):
        assert kind in texts


@pytest.mark.weekly
def test_texts_are_about_the_limit_and_spell_tokens(
    drawn: list[Drawn], tokenizer: BakedTokenizer
) -> None:
    """Texts have the limit's tokens or one more or less, and spell special tokens."""
    lengths = {tokenizer.count(text) for one in drawn for text in one.texts}
    limit = tokenizer.max_length
    assert {limit - 1, limit, limit + 1} <= lengths
    texts = "".join(text for one in drawn for text in one.texts)
    own = tokenizer.untruncated.get_added_tokens_decoder().values()
    assert all(token.content in texts for token in own)


#: A fault: a text ends at its first joiner, as if a language's strings ended at one.
ENDS_AT_A_JOINER = ("prefix + t for", 'prefix + t.split("\\u200d")[0] for')
#: A fault: the process ends at a joiner.
DIES_AT_A_JOINER = (
    "prefix = ",
    'if "\\u200d" in "".join(texts):\n            raise SystemExit(7)\n        prefix = ',
)


@pytest.mark.parametrize(
    "model",
    [
        *("every_feed", "bits", "tiny_sparse", "tiny_multi_vector"),
        *("tiny_rerank", "tiny_zero_shot", "tiny_tag", "tiny_answer"),
    ],
)
def test_a_client_of_any_task_agrees_with_the_core(
    model: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Every stage of every call is asked, and the report says how to repeat it."""
    path = request.getfixturevalue(model)
    write_python_client(tmp_path, path)
    report = verify_random(path, tmp_path, number=6, seed=5)
    assert report.exit_code() == 0, [one.message for one in report.failures]
    assert report.executed == report.asked >= 3 * 5
    assert f"{report.cases} random cases of seed 5" in report.notes
    assert {one.case for one in report.verdicts} <= {"session"} | {f"random-{n}" for n in range(7)}


@pytest.mark.weekly
def test_a_fault_is_boiled_down_to_its_character(every_feed: Path, tmp_path: Path) -> None:
    """The smallest call has one short text with one joiner and no prompt, and shows both ids."""
    write_python_client(tmp_path, every_feed, ENDS_AT_A_JOINER)
    report = verify_random(every_feed, tmp_path, number=60, seed=1)
    first, *others = report.failures
    assert (first.status, first.stage) == (Status.FAIL, Stage.TOKENIZE)
    found = re.search(
        r"smallest: texts (\[.*?\]), prompt null: row 0\b.*; "
        r"ids expected (\[\[[\d, ]+\]\]), found (\[\[[\d, ]*\]\])$",
        first.message,
    )
    assert found, first.message
    assert found[1].isascii()
    (text,) = json.loads(found[1])
    assert text.count("\u200d") == 1
    assert len(text) < 8
    assert json.loads(found[2]) != json.loads(found[3])
    assert not any("smallest" in one.message for one in others)


def test_a_run_says_how_to_repeat_it_and_leaves_nothing(every_feed: Path, tmp_path: Path) -> None:
    """A seed is made up where none is given and printed; no folder of hypothesis is left."""
    write_python_client(tmp_path / "clients", every_feed)
    printed = run("verify", every_feed, "--random", "2", cwd=tmp_path)
    (again,) = re.findall(r"^note: repeat with: polybake (.*)$", printed, re.MULTILINE)
    words = shlex.split(again)
    assert words[:-1] == ["verify", str(every_feed), "--random", "2", "--seed"]
    assert f"note: 2 random cases of seed {words[-1]}\n" in printed
    assert [path.name for path in tmp_path.iterdir()] == ["clients"]


@pytest.mark.weekly
def test_a_client_that_dies_is_asked_on(
    every_feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Smaller calls are tried although each costs a process, but not for ever."""
    monkeypatch.setattr("polybake.study.random.smallest_case.PATIENCE", 1.0)
    write_python_client(tmp_path, every_feed, DIES_AT_A_JOINER)
    report = verify_random(every_feed, tmp_path, number=30, seed=1)
    first = report.failures[0]
    assert (first.status, first.stage) == (Status.CRASH, Stage.TOKENIZE)
    (texts,) = re.findall(r"; smallest: texts (\[.*\]), prompt .*: ended with exit", first.message)
    assert any("\u200d" in text for text in json.loads(texts))
    assert first.message.endswith("found none (crash)")


def test_a_client_that_never_starts_has_no_smallest_call(
    subject: SubjectFiles, every_feed: Path, tmp_path: Path
) -> None:
    """A client that never starts is not asked again and again."""
    subject.write_client(tmp_path / "clients", "CrashesAlways")
    report = verify_random(every_feed, tmp_path / "clients", number=3, seed=1)
    assert {one.status for one in report.verdicts} == {Status.CRASH}
    assert not any("smallest" in one.message for one in report.verdicts)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--random", "0"], "random 0: expected 1 to 10000"),
        (["--random", "1", "--seed", "-1"], "seed -1: expected 0 to 4294967295"),
        (["--seed", "4"], "--seed 4 is of random cases; give --random N, too"),
        (["--random", "4", "--fixture", "f"], "--random makes cases of its own; leave --fixture f"),
    ],
)
def test_wrong_options_are_refused(
    every_feed: Path, tmp_path: Path, options: list[str], says: str
) -> None:
    """One line says which number to give, or which option to leave out or to add."""
    assert says in run("verify", every_feed, *options, cwd=tmp_path, code=2)
