"""A bill of materials from a model file's own facts, for audit tools.

Source: CycloneDX 1.6, https://cyclonedx.org/docs/1.6/json/.
"""

import json
from typing import Any

from polybake.base.modelfile.container import FileHead
from polybake.base.modelfile.manifest import Manifest

#: SPDX's spelling of licences that the Hugging Face hub writes in lower case; others are named.
_SPDX = {
    name.lower(): name
    for name in (
        "Apache-2.0",
        "MIT",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "CC-BY-4.0",
        "CC-BY-SA-4.0",
        "CC-BY-NC-4.0",
        "CC-BY-NC-SA-4.0",
        "MPL-2.0",
    )
}

_MODEL, _SOURCE, _TOKENIZER, _GRAPH = "model", "source", "tokenizer", "graph"
_WEIGHTS = "weights"


def bill_of_materials(head: FileHead, digest: str) -> str:
    """Write the bill as CycloneDX JSON; equal files have equal bills."""
    manifest, parts = head.manifest, [_SOURCE, _TOKENIZER, _GRAPH]
    weights = []
    if manifest.weights is not None:
        weights.append(_part("file", _WEIGHTS, manifest.weights.file, manifest.weights.sha256))
        parts.append(_WEIGHTS)
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _model(head, digest)},
        "components": [
            _source(manifest),
            _part("data", _TOKENIZER, "tokenizer.json", head.tokenizer_digest),
            _part("file", _GRAPH, "graph", head.graph_digest),
            *weights,
        ],
        "dependencies": [
            {"ref": _MODEL, "dependsOn": parts},
            *({"ref": part} for part in parts),
        ],
    }
    return json.dumps(bill, indent=2, ensure_ascii=True) + "\n"


def _model(head: FileHead, digest: str) -> dict[str, Any]:
    manifest = head.manifest
    described = {"description": manifest.description} if manifest.description else {}
    return {
        "type": "machine-learning-model",
        "bom-ref": _MODEL,
        "name": manifest.name,
        "version": manifest.fingerprint,
        **described,
        "hashes": _hashes(digest),
        **_licences(manifest),
        "modelCard": {
            "modelParameters": {
                "task": manifest.contract.task,
                "modelArchitecture": manifest.encoder,
                "inputs": [{"format": "string"}],
                "outputs": [{"format": manifest.contract.output.readable}],
            },
            **_analysis(manifest),
        },
        "properties": _properties(head),
    }


def _analysis(manifest: Manifest) -> dict[str, Any]:
    """Return how far the vectors lie from exact ones; nothing for an exact file."""
    if manifest.deviation is None:
        return {}
    metrics = [
        {"type": name, "value": str(value), "slice": "golden cases"}
        for name, value in manifest.deviation.model_dump().items()
    ]
    return {"quantitativeAnalysis": {"performanceMetrics": metrics}}


def _properties(head: FileHead) -> list[dict[str, str]]:
    manifest, contract, made_by = head.manifest, head.manifest.contract, head.fixture.made_by
    facts = [
        ("fingerprint", manifest.fingerprint),
        ("generator", manifest.generator),
        ("precision", manifest.precision),
        ("storage", manifest.storage),
        ("opset", manifest.opset),
        ("similarity", manifest.similarity),
        ("max_length", contract.max_length),
        *(("step", step) for step in manifest.steps),
        *((f"prompt:{name}", text) for name, text in contract.prompts.items()),
        ("verified", manifest.verified),
        ("golden_cases", len(head.fixture.cases)),
        ("golden_cases:made_by", made_by.kind),
        *((f"golden_cases:{name}", version) for name, version in made_by.packages.items()),
    ]
    return [{"name": f"polybake:{name}", "value": str(value)} for name, value in facts]


def _source(manifest: Manifest) -> dict[str, Any]:
    source = manifest.source
    revision = {"version": source.revision} if source.revision else {}
    return {
        "type": "machine-learning-model",
        "bom-ref": _SOURCE,
        "name": source.identifier,
        **revision,
        **_licences(manifest),
    }


def _part(kind: str, reference: str, name: str, digest: str) -> dict[str, Any]:
    return {"type": kind, "bom-ref": reference, "name": name, "hashes": _hashes(digest)}


def _hashes(digest: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": digest}]


def _licences(manifest: Manifest) -> dict[str, Any]:
    """Return the licence; nothing if the file states none."""
    licence = manifest.source.licence
    if not licence:
        return {}
    known = _SPDX.get(licence.lower())
    return {"licenses": [{"license": {"id": known} if known else {"name": licence}}]}
