"""A model card and a bill of materials say what the file says, and nothing else."""

import dataclasses
import json
from pathlib import Path

import pytest

from polybake.base.modelfile.container import FileHead, read_head
from polybake.base.modelfile.manifest import Deviation, Provenance
from polybake.shipping.bill_of_materials import bill_of_materials
from polybake.shipping.model_card import model_card

DIGEST = "0" * 64
SOURCE = Provenance(identifier="hub:owner/some-model@0a1b", licence="apache-2.0")


@pytest.fixture
def head(every_feed: Path) -> FileHead:
    return read_head(every_feed)


def changed(head: FileHead, **values: object) -> FileHead:
    return dataclasses.replace(head, manifest=head.manifest.model_copy(update=values))


def stated(head: FileHead) -> FileHead:
    """A head whose file says all that a file can say."""
    return changed(
        head,
        description="a description",
        precision="int8",
        deviation=Deviation(max_abs=0.012, mean_cosine=0.998, min_cosine=0.994),
        source=Provenance(identifier="owner/model", revision="0a1b", licence="apache-2.0"),
    )


def front_matter(card: str) -> list[str]:
    before, yaml, _ = card.split("---\n", 2)
    assert before == ""
    return yaml.splitlines()


def test_a_card_says_what_the_file_says(head: FileHead) -> None:
    """Steps, prompts, proofs, limits and digests, and what a precision gave up."""
    card = model_card(stated(head), DIGEST, "feature-extraction")
    for fact in (
        "# every-feed",
        "- step 1: `mean`",
        '- `query`: `"query: "`',
        f"{len(head.fixture.cases)} golden cases in the file",
        "at most 1e-05 in each element",
        "at most 16 tokens of a text",
        head.manifest.fingerprint,
        DIGEST,
        str(head.graph_digest),
        "products in int8",
        "at most 0.012 in each element, cosine 0.998 on average and 0.994 at least",
    ):
        assert fact in card
    narrow = model_card(changed(head, precision="int4"), DIGEST, None)
    assert "products in float32, of weights in int4" in narrow


def test_the_hubs_own_words(head: FileHead) -> None:
    """A repository is a base model, whatever its revision; a licence is a name, or left out."""
    card = model_card(changed(head, source=SOURCE), DIGEST, "feature-extraction")
    assert front_matter(card) == [
        'license: "apache-2.0"',
        'base_model: "owner/some-model"',
        'library_name: "onnx"',
        'pipeline_tag: "feature-extraction"',
        'tags: ["polybake"]',
    ]
    odd = SOURCE.model_copy(update={"licence": 'no: "licence"\n---'})
    assert "license" not in model_card(changed(head, source=odd), DIGEST, None)


def test_what_the_file_does_not_say_is_left_out(head: FileHead) -> None:
    """No licence, base model, revision, figure or deviation is invented."""
    card, bill = model_card(head, DIGEST, None), bill_of_materials(head, DIGEST)
    assert front_matter(card) == ['library_name: "onnx"', 'tags: ["polybake"]']
    for word in ("licence", "None", "beside the float32 graph"):
        assert word not in card
    for word in ("licenses", "quantitativeAnalysis", "null", "None"):
        assert word not in bill


def test_a_text_from_outside_stays_a_text(head: FileHead) -> None:
    """Backticks, tags, line breaks and escapes of a terminal are shown, not obeyed."""
    hostile = "``<script>\n# heading\x1b[31m`"
    card = model_card(changed(head, description=hostile), DIGEST, None)
    assert "\x1b" not in card
    assert "\n# heading" not in card
    assert "``` ``<script>\\n# heading\\x1b[31m` ```" in card


@pytest.mark.parametrize("full", [False, True])
def test_cyclonedx_takes_the_bill(head: FileHead, full: bool) -> None:
    """The bill is valid by the strict schema of CycloneDX's own library."""
    reason = "cyclonedx-python-lib[validation] is not installed"
    validation = pytest.importorskip("cyclonedx.validation.json", reason=reason)
    schema = pytest.importorskip("cyclonedx.schema", reason=reason)
    validator = validation.JsonStrictValidator(schema.SchemaVersion.V1_6)
    assert validator.validate_str(bill_of_materials(stated(head) if full else head, DIGEST)) is None


def test_a_bill_says_what_the_file_says(head: FileHead) -> None:
    """Digests of the parts, the steps in their order, and the figures."""
    bill = json.loads(bill_of_materials(stated(head), DIGEST))
    model = bill["metadata"]["component"]
    assert (model["name"], model["version"]) == ("every-feed", head.manifest.fingerprint)
    assert model["hashes"] == [{"alg": "SHA-256", "content": DIGEST}]
    assert model["licenses"] == [{"license": {"id": "Apache-2.0"}}]
    metrics = model["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
    assert {"type": "max_abs", "value": "0.012", "slice": "golden cases"} in metrics
    assert {"name": "polybake:step", "value": "mean"} in model["properties"]
    assert {"name": "polybake:prompt:query", "value": "query: "} in model["properties"]
    source, tokenizer, graph = bill["components"]
    assert (source["name"], source["version"]) == ("owner/model", "0a1b")
    assert tokenizer["hashes"][0]["content"] == head.tokenizer_digest
    assert graph["hashes"][0]["content"] == head.graph_digest
    own = changed(head, source=Provenance(identifier="a-folder", licence="gemma"))
    (source, *_) = json.loads(bill_of_materials(own, DIGEST))["components"]
    assert source["licenses"] == [{"license": {"name": "gemma"}}]  # no SPDX id
