"""A model card from a model file's own facts, in the format of the Hugging Face hub.

Source: Hugging Face Hub documentation, "Model Cards": YAML between two lines of dashes, then
Markdown.
"""

import json
import re

from polybake.base.files.printable import code_span
from polybake.base.files.templates import template_environment, templates_folder
from polybake.base.modelfile.container import FileHead

_REPOSITORY = re.compile(r"(?:hub:)?(?P<name>[\w.-]+/[\w.-]+)(?:@.+)?", re.ASCII)
_LICENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")

#: The meaning of ``verified`` in a manifest. Source: docs/format.md.
_PROVEN = {
    "steps": "the encoder's own output was run through the steps in NumPy, and compared",
    "source": "the source's own graph was run, its output taken through the steps in NumPy, and "
    "compared",
}

#: What products are in, where the precision is not that of their results.
_PRODUCTS = {"int4": "float32, of weights in int4"}


def model_card(head: FileHead, digest: str, hub_tag: str | None) -> str:
    """Write the card as Markdown; equal files have equal cards."""
    # Values from outside stand between backticks.
    environment = template_environment(templates_folder() / "card")
    environment.filters["code"] = lambda value: code_span(str(value))
    manifest = head.manifest
    return environment.get_template("model-card.md.jinja").render(
        front_matter=_front_matter(head, hub_tag),
        manifest=manifest,
        contract=manifest.contract,
        output=manifest.contract.output.readable,
        products=_PRODUCTS.get(manifest.precision, manifest.precision),
        labels=manifest.contract.settings.get("labels"),
        proven=_PROVEN[manifest.verified],
        cases=len(head.fixture.cases),
        made_by=head.fixture.made_by,
        tolerance=head.fixture.tolerances.get("cpu"),
        head=head,
        digest=digest,
    )


def _front_matter(head: FileHead, hub_tag: str | None) -> dict[str, str]:
    """Keys and values of the hub's YAML; JSON strings are YAML, too."""
    source = head.manifest.source
    repository = _REPOSITORY.fullmatch(source.identifier)
    known = {
        "license": source.licence if _LICENCE.fullmatch(source.licence or "") else None,
        "base_model": repository and repository["name"],
        "library_name": "onnx",
        "pipeline_tag": hub_tag,
    }
    return {key: json.dumps(value) for key, value in known.items() if value}
