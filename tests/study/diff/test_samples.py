"""The texts on which two model files are compared."""

from __future__ import annotations

from pathlib import Path

from models.files.every_feed import TEXTS
from models.files.varied import write_varied
from polybake.runtime.prompt import Prompt
from polybake.study.diff.parts import compare_parts
from polybake.study.diff.samples import (
    LONGEST,
    built_in_texts,
    golden_samples,
    search_samples,
)


def test_golden_texts_are_taken_once(every_feed: Path, every_feed_left: Path) -> None:
    """Golden texts of both files are taken once, each with its prompt."""
    found = [
        (one.prompt.name, one.texts)
        for one in golden_samples(compare_parts(every_feed, every_feed_left))
    ]
    assert [(prompt, texts) for _, prompt, texts in TEXTS] == found[: len(TEXTS)]
    assert found[len(TEXTS) :] == [("query", ("a b",)), ("document", ("a b",))]


def test_a_prompt_of_one_file_has_no_texts(every_feed: Path, tmp_path: Path) -> None:
    """A prompt that only one file has cannot be compared."""
    fewer = write_varied(
        every_feed, tmp_path / "b.onnx", contract=lambda terms: terms["prompts"].pop("query")
    )
    prompts = {one.prompt.name for one in golden_samples(compare_parts(every_feed, fewer))}
    assert prompts == {None, "document"}


def test_integers_bring_the_slack_of_each_text(every_feed_int8: Path) -> None:
    """Slack travels with each text, so that a number at an edge is no difference."""
    for sample in golden_samples(compare_parts(every_feed_int8, every_feed_int8)):
        assert [one.values.shape for one in sample.slacks] == [(1, 7)] * len(sample.texts)


def test_own_texts_are_cut(every_feed: Path) -> None:
    """Windows of any length become samples that fit into memory."""
    texts = [str(number) for number in range(LONGEST + 1)]
    parts = compare_parts(every_feed, every_feed)
    found = [*search_samples(parts, [texts, ["last"]], "query")]
    assert [len(one.texts) for one in found] == [LONGEST, 1, 1]
    assert {(one.prompt, one.roles) for one in found} == {(Prompt("query"), ("document", "query"))}
    assert [text for one in found for text in one.texts] == [*texts, "last"]


def roles(before: Path, after: Path) -> list[tuple[Prompt, list[str]]]:
    """The prompts and roles with which texts are embedded for a search."""
    parts = compare_parts(before, after)
    return [(one.prompt, [*one.roles]) for one in search_samples(parts, [["a"]])]


def test_texts_are_documents_and_queries(every_feed: Path, tmp_path: Path) -> None:
    """Texts are embedded twice only if a file has a prompt for a role."""
    bare = write_varied(
        every_feed, tmp_path / "b.onnx", contract=lambda terms: terms["prompts"].clear()
    )
    each = [(Prompt(role=role), [role]) for role in ("document", "query")]
    assert roles(every_feed, every_feed) == each
    assert roles(bare, every_feed) == each
    assert roles(bare, bare) == [(Prompt(role="document"), ["document", "query"])]


def test_another_default_prompt_is_what_is_compared(every_feed: Path, tmp_path: Path) -> None:
    """If default prompts differ, texts are embedded with them, as ``embed`` does."""
    other = write_varied(
        every_feed,
        tmp_path / "b.onnx",
        contract=lambda terms: terms.update(default_prompt="query"),
    )
    assert roles(every_feed, other) == [(Prompt(), ["document", "query"])]


def test_scores_are_not_searched(tiny_zero_shot: Path, tiny_multi_vector: Path) -> None:
    """Models of scores, and of several vectors a text, have no search."""
    for model in (tiny_zero_shot, tiny_multi_vector):
        assert not any(names for _, names in roles(model, model))


def test_built_in_texts_are_enough_and_told_once(every_feed: Path) -> None:
    """The built-in texts are sentences, and then the golden texts that are not empty."""
    (texts,) = built_in_texts(compare_parts(every_feed, every_feed))
    golden = {text for _, _, texts in TEXTS for text in texts if text}
    assert len(texts) == len(set(texts)) == 200 + len({*golden, "a b"})
    assert {*golden, "a b"} <= {*texts}
