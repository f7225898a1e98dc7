"""A bill of materials is what CycloneDX's own schema takes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from polybake.base.modelfile.container import FileHead, read_head
from polybake.base.modelfile.manifest import Deviation, Provenance
from polybake.shipping.card.bill_of_materials import bill_of_materials

DIGEST = "0" * 64


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


@pytest.mark.parametrize("full", [False, True])
def test_cyclonedx_takes_it(head: FileHead, full: bool) -> None:
    """The bill is valid by the strict schema of CycloneDX's own library."""
    reason = "cyclonedx-python-lib[validation] is not installed"
    validation = pytest.importorskip("cyclonedx.validation.json", reason=reason)
    schema = pytest.importorskip("cyclonedx.schema", reason=reason)
    validator = validation.JsonStrictValidator(schema.SchemaVersion.V1_6)
    assert validator.validate_str(bill_of_materials(stated(head) if full else head, DIGEST)) is None


def test_what_the_file_says_is_there(head: FileHead) -> None:
    """Digests of the parts, the steps in their order, and the figures."""
    bill = json.loads(bill_of_materials(stated(head), DIGEST))
    model = bill["metadata"]["component"]
    assert model["name"] == "every-feed"
    assert model["version"] == head.manifest.fingerprint
    assert model["hashes"] == [{"alg": "SHA-256", "content": DIGEST}]
    assert model["licenses"] == [{"license": {"id": "Apache-2.0"}}]
    metrics = model["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
    assert {"type": "max_abs", "value": "0.012", "slice": "golden cases"} in metrics
    assert {"name": "polybake:step", "value": "mean"} in model["properties"]
    assert {"name": "polybake:prompt:query", "value": "query: "} in model["properties"]
    source, tokenizer, graph = bill["components"]
    assert (source["name"], source["version"]) == ("owner/model", "0a1b")
    assert tokenizer["hashes"][0]["content"] == head.digests.tokenizer
    assert graph["hashes"][0]["content"] == head.digests.tail


def test_what_the_file_does_not_say_is_left_out(head: FileHead) -> None:
    """No licence, revision or figure is invented."""
    text = bill_of_materials(head, DIGEST)
    assert "licenses" not in text
    assert "quantitativeAnalysis" not in text
    assert "null" not in text
    assert "None" not in text


def test_a_licence_without_an_spdx_name_keeps_its_own(head: FileHead) -> None:
    """A licence of the hub that SPDX does not know is given by name, not by id."""
    source = Provenance(identifier="a-folder", licence="gemma")
    bill = json.loads(bill_of_materials(changed(head, source=source), DIGEST))
    assert bill["components"][0]["licenses"] == [{"license": {"name": "gemma"}}]
