"""A model card says what the file says, and nothing that a model's texts can bend."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from polybake.base.modelfile.container import FileHead, read_head
from polybake.base.modelfile.manifest import Deviation, Provenance
from polybake.shipping.card.model_card import model_card

DIGEST = "0" * 64


@pytest.fixture
def head(every_feed: Path) -> FileHead:
    return read_head(every_feed)


def changed(head: FileHead, **values: object) -> FileHead:
    return dataclasses.replace(head, manifest=head.manifest.model_copy(update=values))


def front_matter(card: str) -> list[str]:
    before, yaml, _ = card.split("---\n", 2)
    assert before == ""
    return yaml.splitlines()


def test_what_the_file_says_is_there(head: FileHead) -> None:
    """Source, steps, prompts, proofs, limits and digests."""
    card = model_card(head, DIGEST, "feature-extraction")
    manifest = head.manifest
    for fact in (
        "# every-feed",
        "- model: `every-feed`",
        "- step 1: `mean`",
        '- `query`: `"query: "`',
        f"- {len(head.fixture.cases)} golden cases in the file, by `oracle`, `numpy`",
        "at most 1e-05 in each element",
        "- at most 16 tokens of a text",
        f"- fingerprint: `{manifest.fingerprint}`",
        f"- SHA-256 of the file: `{DIGEST}`",
        f"- SHA-256 of the graph: `{head.digests.tail}`",
    ):
        assert fact in card


def test_what_the_file_does_not_say_is_left_out(head: FileHead) -> None:
    """No licence, no base model and no deviation are invented."""
    card = model_card(head, DIGEST, None)
    assert front_matter(card) == ['library_name: "onnx"', 'tags: ["polybake"]']
    assert "licence" not in card
    assert "None" not in card
    assert "beside the float32 graph" not in card


def test_the_hub_s_own_words(head: FileHead) -> None:
    """A repository is a base model, whatever its revision; a licence is a name, or left out."""
    source = Provenance(identifier="hub:owner/some-model@0a1b", licence="apache-2.0")
    card = model_card(changed(head, source=source), DIGEST, "feature-extraction")
    assert front_matter(card) == [
        'license: "apache-2.0"',
        'base_model: "owner/some-model"',
        'library_name: "onnx"',
        'pipeline_tag: "feature-extraction"',
        'tags: ["polybake"]',
    ]
    odd = source.model_copy(update={"licence": 'no: "licence"\n---'})
    assert "license" not in model_card(changed(head, source=odd), DIGEST, None)


def test_what_a_precision_gave_up_is_there(head: FileHead) -> None:
    """The figures of the manifest, over the golden cases."""
    deviation = Deviation(max_abs=0.012, mean_cosine=0.998, min_cosine=0.994)
    card = model_card(changed(head, precision="int8", deviation=deviation), DIGEST, None)
    assert "- products in int8, weights" in card
    assert "at most 0.012 in each element, cosine 0.998 on average and 0.994 at least" in card


def test_weights_of_four_bits_are_not_what_products_are_in(head: FileHead) -> None:
    card = model_card(changed(head, precision="int4"), DIGEST, None)
    assert "- products in float32, of weights in int4, weights as stored" in card


def test_a_text_from_outside_stays_a_text(head: FileHead) -> None:
    """Backticks, tags, line breaks and escapes of a terminal are shown, not obeyed."""
    hostile = "``<script>\n# heading\x1b[31m`"
    card = model_card(changed(head, description=hostile), DIGEST, None)
    assert "\x1b" not in card
    assert "\n# heading" not in card
    assert "``` ``<script>\\n# heading\\x1b[31m` ```" in card
